"""Turns a table of layers into TorchScript that does the same for every shape, saved or not."""

from __future__ import annotations

import io
from typing import Any

import pytest

import einrs
from layer_cases import MIXES, OPERATIONS, Case

torch = pytest.importorskip("torch")

from einrs.layers import torch as layers  # noqa: E402

pytestmark = pytest.mark.filterwarnings(
    "ignore:`torch.jit:FutureWarning", "ignore:`torch.jit:DeprecationWarning"
)


def same(a: Any, b: Any) -> None:
    assert (a.dtype, a.shape, a.stride()) == (b.dtype, b.shape, b.stride())
    assert torch.equal(a, b)


def saved(script: Any) -> Any:
    file = io.BytesIO()
    torch.jit.save(script, file)
    file.seek(0)
    return torch.jit.load(file)


@pytest.mark.parametrize("case", [*OPERATIONS, *MIXES], ids=repr)
def test_a_script_does_what_the_layer_does(case: Case) -> None:
    layer = case.build(layers)
    script = torch.jit.script(layer)
    x = torch.tensor(case.input())
    for version in (script, saved(script), torch.jit.freeze(script.eval())):
        same(version(x), layer(x))


RANKS = [
    layers.Rearrange("... a -> a ..."),
    layers.Rearrange("a ... -> (...) a"),
    layers.Rearrange("... a -> (a ...)"),
    layers.Rearrange("(a 1) ... b -> a () b ..."),
    layers.Repeat("a ... -> r (... s) a", r=2, s=3),
    layers.Repeat("... -> ... r", r=2),
    layers.Reduce("a ... -> a", "sum"),
    layers.Reduce("... a -> ...", "max"),
    layers.Reduce("a ... b -> b", "mean"),
    layers.Reduce("a ... -> ... 1", "prod"),
    layers.Reduce("... a -> 1 ...", "min"),
    layers.Reduce("a ... -> a", "any"),
    layers.Reduce("a ... -> a", "all"),
    layers.Reduce("a ... -> (r a) ...", "repeat", r=2),
    layers.Reduce("...->", "sum"),
]


@pytest.mark.parametrize("layer", RANKS, ids=repr)
def test_one_script_serves_all_ranks(layer: Any) -> None:
    script = saved(torch.jit.script(layer))
    for rank in range(12):
        x = torch.randn((2, 3, 4, 2, *([1] * 8))[:rank])
        try:
            expected = layer(x)
        except einrs.EinopsError:
            assert rank < 2
            with pytest.raises(torch.jit.Error, match="Wrong shape: expected >="):
                script(x)
        else:
            same(script(x), expected)


def test_the_batch_stays_dynamic() -> None:
    layer = layers.EinMix("b (h c) -> b (h d)", "h c d", "d", h=2, c=3, d=4)
    script = torch.jit.freeze(torch.jit.script(layer).eval())
    for batch in (1, 2, 7):
        x = torch.randn(batch, 6)
        same(script(x), layer(x))


def test_a_model_is_scripted_and_stays_itself() -> None:
    model = torch.nn.Sequential(
        layers.Rearrange("b (h c) -> b h c", h=2),
        torch.jit.script(layers.Repeat("b h c -> b h c r", r=2)),
        layers.Reduce("b h c r -> b h c", "max"),
        layers.EinMix("b h c -> b (h d)", "h c d", "d", h=2, c=3, d=4),
    )
    x = torch.randn(5, 6)
    expected = model(x)
    script = torch.jit.script(model)
    same(script(x), expected)
    same(model(x), expected)
    same(torch.jit.trace(model, x)(torch.cat([x, x])), model(torch.cat([x, x])))
    assert type(model[0]) is layers.Rearrange


@pytest.mark.parametrize(
    ("layer", "shape", "message"),
    [
        (layers.Rearrange("a b -> b a"), (2, 3, 4), "expected 2 dims. Received 3-dim"),
        (layers.Rearrange("(a b) -> b a", a=2), (5,), "can't divide axis of length 5"),
        (layers.Rearrange("(a b) -> b a", a=0), (5,), "can't divide axis of length 5"),
        (layers.Rearrange("(a b) -> b a", a=0), (0,), "can't divide axis of length 0"),
        (layers.Rearrange("a 1 -> a"), (5, 2), "2 != 1"),
        (layers.Rearrange("(a b) -> b a", a=2, b=3), (5,), "5 != 6"),
    ],
    ids=repr,
)
def test_a_script_says_what_does_not_fit(layer: Any, shape: Any, message: str) -> None:
    script = torch.jit.script(layer)
    with pytest.raises(torch.jit.Error) as caught:
        script(torch.zeros(shape))
    assert message in str(caught.value)
    assert layer.pattern in str(caught.value)


@pytest.mark.parametrize("reduction", [torch.logsumexp, lambda x, axes: x.sum(axes)])
def test_a_callable_reduction_is_not_scripted(reduction: Any) -> None:
    with pytest.raises(TypeError, match="cannot be scripted: TorchScript calls no Python function"):
        torch.jit.script(layers.Reduce("a b -> a", reduction))


def test_gradients_of_a_script() -> None:
    layer = layers.Reduce("a (b c) -> b", "mean", c=2)
    gradients = []
    for version in (layer, torch.jit.script(layer)):
        x = torch.ones(3, 4, requires_grad=True)
        (version(x) * torch.tensor([1.0, 2.0])).sum().backward()
        gradients.append(x.grad)
    same(*gradients)
