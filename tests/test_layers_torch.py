"""Turns a table of layers into modules of torch that do what those of einops do."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import numpy as np
import pytest

import einrs
import fresh
from layer_cases import (
    MISTAKES,
    MIXES,
    OPERATIONS,
    WIDE,
    Case,
    check_spread,
    check_weights,
    mix,
)

torch = pytest.importorskip("torch")
theirs = pytest.importorskip("einops.layers.torch")

from einrs.layers import torch as layers  # noqa: E402

IN_EINOPS = [case for case in OPERATIONS if case.kind != "Repeat"]


class Renaming(pickle.Unpickler):
    """Loads a pickle as if the name einops meant einrs."""

    def find_class(self, module: str, name: str) -> Any:
        parts = module.split(".")
        return super().find_class(".".join(["einrs" if p == "einops" else p for p in parts]), name)


def renamed(layer: Any) -> Any:
    """A layer of einops, pickled and loaded as one of einrs."""
    return Renaming(io.BytesIO(pickle.dumps(layer))).load()


def same(a: Any, b: Any) -> None:
    assert (a.dtype, a.shape, a.stride()) == (b.dtype, b.shape, b.stride())
    assert torch.equal(a, b)


def output_and_gradients(layer: Any, case: Case) -> list[Any]:
    """The output, and the gradients of input and weights of a weighted sum of it."""
    x = torch.tensor(case.input(), requires_grad=True)
    output = layer(x)
    (output * torch.arange(output.numel()).reshape(output.shape)).sum().backward()
    return [output, x.grad, *(weight.grad for weight in layer.parameters())]


@pytest.mark.parametrize("case", IN_EINOPS, ids=repr)
def test_an_operation_does_what_einops_does(case: Case) -> None:
    results = [output_and_gradients(case.build(module), case) for module in (layers, theirs)]
    for ours, expected in zip(*results, strict=True):
        same(ours, expected)


@pytest.mark.parametrize("case", OPERATIONS, ids=repr)
def test_an_operation_does_what_the_function_does(case: Case) -> None:
    layer = case.build(layers)
    x = torch.tensor(case.input())
    expected = getattr(einrs, case.kind.lower())(x, *case.texts, **case.lengths)
    same(layer(x), expected)
    np.testing.assert_allclose(layer(x), case.expected(case.input()), rtol=1e-5)
    if case.shape:
        same(layer(list(x)), expected)


def test_repeat() -> None:
    layer = layers.Repeat("a b -> a b c", c=4)
    assert repr(layer) == "Repeat('a b -> a b c', c=4)"
    assert layer(torch.zeros(2, 3)).shape == (2, 3, 4)


def variance(x: Any, axes: tuple[int, ...]) -> Any:
    return x.var(axes, unbiased=False)


@pytest.mark.parametrize(
    ("reduction", "expected"),
    [
        ("any", [True, False, True]),
        ("all", [False, False, True]),
        (torch.logsumexp, [1.3133, 0.6931, 3.3133]),
        (variance, [0.25, 0.0, 0.25]),
    ],
    ids=["any", "all", "logsumexp", "variance"],
)
def test_reductions_that_layers_of_einops_refuse(reduction: Any, expected: Any) -> None:
    x = torch.tensor([[0.0, 1.0], [0.0, 0.0], [2.0, 3.0]])
    layer = layers.Reduce("a b -> a", reduction)
    for other in (layer, copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        result = other(x)
        torch.testing.assert_close(result, torch.tensor(expected), rtol=1e-4, atol=1e-4)
        same(result, einrs.reduce(x, "a b -> a", reduction))


@pytest.mark.parametrize("case", MIXES, ids=repr)
def test_einmix_does_what_einops_does(case: Case) -> None:
    results = []
    for module in (layers, theirs):
        # The same numbers are drawn in the same order.
        torch.manual_seed(0)
        layer = case.build(module)
        assert repr(layer) == repr(case.build(theirs))
        results.append([*layer.parameters(), *output_and_gradients(layer, case)])
    for ours, expected in zip(*results, strict=True):
        same(ours, expected)


@pytest.mark.parametrize("case", MIXES, ids=repr)
def test_einmix_is_numpys_einsum(case: Case) -> None:
    layer = case.build(layers)
    x = torch.tensor(case.input())
    weight, bias = layer.weight.detach().numpy(), layer.bias
    check_weights(case, weight, None if bias is None else bias.detach().numpy())
    expected = mix(case)(case.input(), weight, None if bias is None else bias.detach().numpy())
    np.testing.assert_allclose(layer(x).detach(), expected, rtol=1e-4, atol=1e-5)
    same(layer(list(x)), layer(x))


def test_the_weights_fill_their_ranges() -> None:
    layer = WIDE.build(layers)
    check_spread(layer.weight.detach().numpy(), layer.bias.detach().numpy())


@pytest.mark.parametrize("case", MIXES, ids=repr)
def test_weights_go_from_einops_to_einrs_and_back(case: Case) -> None:
    ours, other = case.build(layers), case.build(theirs)
    x = torch.tensor(case.input())
    assert ours.state_dict().keys() == other.state_dict().keys()
    ours.load_state_dict(other.state_dict())
    same(ours(x), other(x))
    ours = case.build(layers)
    other.load_state_dict(ours.state_dict())
    same(ours(x), other(x))


@pytest.mark.parametrize("case", [*IN_EINOPS, *MIXES], ids=repr)
def test_a_pickle_of_einops_is_loaded(case: Case) -> None:
    other = case.build(theirs)
    layer = renamed(other)
    assert type(layer).__module__ == "einrs.layers.torch"
    assert repr(layer) == repr(other)
    x = torch.tensor(case.input())
    same(layer(x), other(x))
    assert layer.training
    same(copy.deepcopy(layer)(x), other(x))


def test_a_model_of_einops_is_loaded_from_a_pickle() -> None:
    model = torch.nn.Sequential(
        theirs.Rearrange("b (h c) -> b h c", h=2),
        theirs.EinMix("b h c -> b (h d)", "h c d", "d", h=2, c=3, d=4),
    ).eval()
    loaded = renamed(model)
    assert [type(layer) for layer in loaded] == [layers.Rearrange, layers.EinMix]
    # einops does not pickle the flag of a Rearrange.
    assert not loaded[1].training
    x = torch.ones(5, 6)
    same(loaded(x), model(x))


def test_the_state_of_an_old_einops_is_taken() -> None:
    """Before it had a `__getstate__`, a layer was pickled with all of its attributes."""
    state = dict(vars(theirs.Rearrange("a (b c) -> (a b) c", b=2)))
    del state["_multirecipe"], state["_axes_lengths"]
    state |= {"_recipe": "of a class that is gone", "training": False}
    layer = layers.Rearrange.__new__(layers.Rearrange)
    layer.__setstate__(state)
    assert layer(torch.zeros(3, 4)).shape == (6, 2)
    assert not layer.training


COPIES = {
    "pickle": lambda layer: pickle.loads(pickle.dumps(layer)),
    "deepcopy": copy.deepcopy,
    "save": lambda layer: saved(layer),
}


def saved(layer: Any) -> Any:
    file = io.BytesIO()
    torch.save(layer, file)
    file.seek(0)
    return torch.load(file, weights_only=False)


def double(module: Any, args: Any, output: Any) -> Any:
    return output * 2


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("case", [OPERATIONS[1], OPERATIONS[8], OPERATIONS[12], MIXES[5]], ids=repr)
def test_a_copy_keeps_what_the_module_holds(case: Case, way: str) -> None:
    layer = case.build(layers).eval()
    layer.register_buffer("mask", torch.ones(2))
    layer.register_forward_hook(double)
    layer.note = "kept"
    other = COPIES[way](layer)
    assert repr(other) == repr(layer)
    assert not other.training
    assert other.note == "kept"
    assert other.state_dict().keys() == layer.state_dict().keys()
    x = torch.tensor(case.input())
    same(other(x), layer(x))
    same(other(x), other.forward(x) * 2)


@pytest.mark.parametrize(("kind", "texts", "lengths", "message"), MISTAKES)
def test_a_layer_that_serves_no_input_is_not_built(
    kind: str, texts: Any, lengths: Any, message: str
) -> None:
    with pytest.raises(einrs.EinopsError, match=f"^ Error while preparing {kind}") as caught:
        getattr(layers, kind)(*texts, **lengths)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("layer", "shape", "message"),
    [
        (layers.Rearrange("b c -> c b"), (2, 3, 4), "expected 2 dims. Received 3-dim"),
        (layers.Rearrange("a ... b -> (a b) ..."), (2,), "expected >=2 dims. Received 1-dim"),
        (layers.Rearrange("(a b) -> a b", b=2), (5,), "can't divide axis of length 5"),
        (layers.Repeat("a 1 -> a b", b=2), (5, 3), "3 != 1"),
        (layers.Reduce("a (b 2) -> a b", "max"), (5, 3), "can't divide axis of length 3"),
        (layers.EinMix("a b -> a c", "b c", b=2, c=3), (5, 3), "axis 'b'"),
        (layers.EinMix("a b -> a c", "b c", b=2, c=3), (2,), "has 1 dimensions"),
        (layers.EinMix("(a b) -> a c", "b c", b=2, c=3), (2, 2), "expected 1 dims"),
    ],
    ids=repr,
)
def test_an_input_that_does_not_fit_is_an_einops_error(
    layer: Any, shape: tuple[int, ...], message: str
) -> None:
    with pytest.raises(einrs.EinopsError) as caught:
        layer(torch.zeros(shape))
    assert message in str(caught.value)
    assert caught.value.pattern


def test_an_ellipsis_of_any_rank() -> None:
    layer = layers.Rearrange("a ... b -> b ... a")
    assert layer(torch.zeros([2, *([1] * 20), 3])).shape == (3, *([1] * 20), 2)


def test_einmix_takes_more_than_26_axes() -> None:
    names = [f"x{i}" for i in range(30)]
    layer = layers.EinMix(
        f"{' '.join(names[:-1])} -> {' '.join(names[:-2])} {names[-1]}",
        f"{names[-2]} {names[-1]}",
        **{names[-2]: 2, names[-1]: 3},
    )
    assert layer(torch.ones((1,) * 28 + (2,))).shape == (1,) * 28 + (3,)


def test_where_and_in_what_einmix_keeps_its_weights() -> None:
    layer = layers.EinMix("a b -> a c", "b c", "c", b=2, c=3, device="meta", dtype=torch.float64)
    for weight in (layer.weight, layer.bias):
        assert weight.device.type == "meta"
        assert weight.dtype == torch.float64
        assert isinstance(weight, torch.nn.Parameter)
    assert layer(torch.zeros(5, 2, device="meta", dtype=torch.float64)).shape == (5, 3)
    assert repr(layer) == "EinMix('a b -> a c', 'b c', 'c', b=2, c=3)"


def test_einmix_in_half_precision() -> None:
    layer = layers.EinMix("a b -> a c", "b c", "c", b=2, c=3)
    assert layer(torch.zeros(5, 2)).dtype == torch.float32
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert layer(torch.zeros(5, 2)).dtype == torch.bfloat16
    assert layer.half()(torch.zeros(5, 2, dtype=torch.float16)).dtype == torch.float16


def test_einmix_names_the_attributes_as_einops_does() -> None:
    arguments = ("a (b c) -> (a d)", "b c d", "d")
    lengths = {"b": 2, "c": 3, "d": 4}
    ours, other = layers.EinMix(*arguments, **lengths), theirs.EinMix(*arguments, **lengths)
    for name in ("pattern", "weight_shape", "bias_shape", "axes_lengths", "einsum_pattern"):
        assert getattr(ours, name) == getattr(other, name)
    assert repr(ours.pre_rearrange) == repr(other.pre_rearrange)
    assert repr(ours.post_rearrange) == repr(other.post_rearrange)
    plain = layers.EinMix("a b -> a c", "b c", b=2, c=3)
    assert (plain.pre_rearrange, plain.post_rearrange, plain.bias) == (None, None, None)


def test_einmix_warns_where_it_is_built() -> None:
    with pytest.warns(UserWarning, match="weight has no dimensions") as caught:
        layers.EinMix("a b -> b a", "")
    assert caught[0].filename == __file__


@pytest.mark.parametrize("case", [OPERATIONS[1], OPERATIONS[8], OPERATIONS[12], *MIXES], ids=repr)
def test_fx_keeps_a_call_in_the_graph(case: Case) -> None:
    layer = case.build(layers)
    x = torch.tensor(case.input())
    traced = torch.fx.symbolic_trace(torch.nn.Sequential(layer))
    same(traced(x), layer(x))
    again = torch.fx.symbolic_trace(pickle.loads(pickle.dumps(traced)))
    same(again(x), layer(x))


def test_vmap_over_the_weights_of_an_ensemble() -> None:
    from torch.func import functional_call, stack_module_state, vmap

    case = MIXES[4]
    members = [case.build(layers) for _ in range(3)]
    x = torch.tensor(case.input())
    weights, _ = stack_module_state(members)
    together = vmap(lambda w: functional_call(members[0], w, (x,)))(weights)
    for member, output in zip(members, together, strict=True):
        torch.testing.assert_close(output, member(x))


def model() -> Any:
    """One layer of each kind."""
    return torch.nn.Sequential(
        layers.Rearrange("b n (h d) -> b h n d", h=2),
        layers.EinMix("b h n d -> b n (h e)", "h d e", "h e", h=2, d=3, e=4),
        layers.Repeat("b n d -> b n d r", r=2),
        layers.Reduce("b n d r -> b n", "mean"),
    )


def test_compile_makes_one_graph_of_torch_operations() -> None:
    graphs: list[Any] = []

    def keep(graph: Any, _inputs: Any) -> Any:
        graphs.append(graph)
        return graph.forward

    layer = model()
    compiled = torch.compile(layer, fullgraph=True, dynamic=True, backend=keep)
    for batch in (2, 3, 5):
        x = torch.randn(batch, 4, 6)
        same(compiled(x), layer(x))
    assert len(graphs) == 1
    modules = {getattr(node.target, "__module__", None) or "" for node in graphs[0].graph.nodes}
    assert not [name for name in modules if name.startswith("einrs")]


@pytest.mark.parametrize("strict", [True, False])
def test_export_keeps_the_batch_dynamic(strict: bool) -> None:
    layer = model()
    shapes = ({0: torch.export.Dim("batch")},)
    exported = torch.export.export(
        layer, (torch.zeros(3, 4, 6),), dynamic_shapes=shapes, strict=strict
    )
    x = torch.randn(5, 4, 6)
    torch.testing.assert_close(exported.module()(x), layer(x))


ONEFLOW = """
import sys, torch
sys.modules["oneflow"] = torch
from einrs.layers import oneflow as layers
model = torch.nn.Sequential(
    layers.Rearrange("b (h c) -> b h c", h=2),
    layers.EinMix("b h c -> b (h d)", "h c d", "d", h=2, c=3, d=4),
    layers.Repeat("b c -> b c r", r=2),
    layers.Reduce("b c r -> b", "mean"),
)
print(model(torch.ones(5, 6)).shape, *[tuple(weight.shape) for weight in model.parameters()])
"""


def test_the_layers_of_oneflow_where_torch_stands_in_for_it() -> None:
    assert fresh.run(ONEFLOW) == "torch.Size([5]) (2, 3, 4) (1, 1, 4)\n"


def test_the_oracle_can_tell() -> None:
    case = MIXES[1]
    torch.manual_seed(0)
    ours = case.build(layers)
    other = case.build(theirs)
    with pytest.raises(AssertionError):
        same(ours(torch.tensor(case.input())), other(torch.tensor(case.input())))
