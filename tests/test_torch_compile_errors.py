"""Checks what wrong calls say under torch.compile, and that a traced function may catch them."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import einrs

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.needs_torch


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """Dynamo compiles anew for each test."""
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


X = torch.arange(24.0).reshape(4, 6)

WRONG: dict[str, tuple[Callable[[Any], Any], str]] = {
    "syntax": (lambda x: einrs.rearrange(x, "(a b -> a b"), "never closed"),
    "arrows": (lambda x: einrs.rearrange(x, "a b"), "no '->'"),
    "rule": (lambda x: einrs.rearrange(x, "a b -> a"), "only on one side"),
    "rank": (lambda x: einrs.rearrange(x, "a b c -> c b a"), "expected 3 dims"),
    "divisor": (lambda x: einrs.rearrange(x, "(a c) b -> a c b", c=3), "can't divide"),
    "mismatch": (lambda x: einrs.rearrange(x, "a b -> b a", a=5), "4 != 5"),
    "negative": (lambda x: einrs.repeat(x, "a b -> a b k", k=-1), "never negative"),
    "float": (lambda x: einrs.rearrange(x, "(a c) b -> a c b", c=2.0), "not float"),
    "None": (lambda x: einrs.repeat(x, "a b -> a b k", k=None), "not NoneType"),
    "unused": (lambda x: einrs.rearrange(x, "a b -> b a", c=2), "not used"),
    "reduction": (lambda x: einrs.reduce(x, "a b -> a", "maxx"), "did you mean 'max'"),
    "no reduction": (lambda x: einrs.reduce(x, "a b -> a", None), "Unknown reduction None"),
    "no pattern": (lambda x: einrs.rearrange(x, None), "must be a str"),
    "empty list": (lambda x: einrs.rearrange([], "a b -> b a"), "empty list"),
    "tuple": (lambda x: einrs.rearrange((x, x), "k a b -> a b k"), "pass a list"),
    "mean": (lambda x: einrs.reduce(x.long(), "a b -> a", "mean"), "non-floating"),
    "reserved": (lambda x: einrs.rearrange(x, "(tensor b) c -> b c", tensor=2), "multiple values"),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_of_whole_graphs(name: str) -> None:
    """Dynamo's own error holds the text of ours."""
    function, words = WRONG[name]
    compiled = torch.compile(function, backend="eager", fullgraph=True)
    with pytest.raises((torch._dynamo.exc.Unsupported, einrs.EinopsError, TypeError)) as caught:
        compiled(X)
    assert words in str(caught.value)


@pytest.mark.parametrize("name", WRONG)
def test_errors_of_broken_graphs(name: str) -> None:
    """Without `fullgraph` the caller sees the very error that the eager call gives."""
    function, words = WRONG[name]
    compiled = torch.compile(function, backend="eager")
    with pytest.raises(einrs.EinopsError) as caught:
        compiled(X)
    assert words in str(caught.value)
    with pytest.raises(type(caught.value)) as eager:
        function(X)
    assert str(caught.value) == str(eager.value)


def caught_within(x: Any) -> Any:
    try:
        return einrs.rearrange(x, "(a c) b -> c a b", c=5)
    except einrs.EinopsError:
        return x + 1


def caught_as_a_runtime_error(x: Any) -> Any:
    try:
        return einrs.rearrange(x, "a -> a 1")
    except RuntimeError:
        return x + 1


@pytest.mark.parametrize("function", [caught_within, caught_as_a_runtime_error])
def test_errors_caught_within_a_graph(function: Callable[[Any], Any]) -> None:
    compiled = torch.compile(function, backend="eager", fullgraph=True)
    assert torch.equal(compiled(X), X + 1)
    assert torch.equal(function(X), X + 1)


@pytest.mark.parametrize("length", [True, np.int64(2), np.array(2), torch.tensor(2)], ids=repr)
def test_lengths_of_other_types(length: Any) -> None:
    """Constants of a traced function need not be plain integers."""

    def function(x: Any) -> Any:
        return einrs.rearrange(x, "(a c) b -> c a b", c=length)

    assert torch.equal(torch.compile(function, backend="eager")(X), function(X))


def split_by(x: Any, n: int) -> Any:
    return einrs.rearrange(x, "(a c) b -> c a b", c=n)


def test_errors_do_not_spoil_what_follows() -> None:
    function = torch.compile(split_by, backend="eager", dynamic=True)
    assert function(X, 2).shape == (2, 2, 6)
    with pytest.raises(einrs.EinopsError, match="can't divide"):
        function(X, 3)
    assert function(X, 4).shape == (4, 1, 6)
    assert function(X, 2).shape == (2, 2, 6)


def test_symbols_that_do_not_fit_in_a_whole_graph() -> None:
    """The first lines are those of eager code, whether or not Dynamo knows the sizes."""
    function = torch.compile(split_by, backend="eager", dynamic=True, fullgraph=True)
    assert function(X, 2).shape == (2, 2, 6)
    with pytest.raises(einrs.EinopsError) as eager:
        split_by(X, 3)
    first_line, *_ = str(eager.value).splitlines()
    with pytest.raises((einrs.EinopsError, torch._dynamo.exc.Unsupported)) as traced:
        function(X, 3)
    assert first_line.strip() in str(traced.value)


# --- export


class Model(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        y = einrs.rearrange(x, "b c (h p) (w q) -> (b h w) (p q c)", p=2, q=2)
        y = einrs.reduce(y, "n (p c) -> n c", "mean", p=4)
        return einrs.repeat(y, "n c -> n k c", k=3)


def dimensions() -> dict[str, Any]:
    dimension = torch.export.Dim
    return {
        "one": {0: dimension("batch")},
        "automatic": {0: dimension.AUTO, 2: dimension.AUTO},
        "derived": {0: dimension("batch"), 2: 2 * dimension("height")},
    }


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("name", dimensions())
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_export(strict: bool, name: str) -> None:
    x = torch.arange(2 * 3 * 4 * 6.0).reshape(2, 3, 4, 6)
    shapes = {"x": dimensions()[name]}
    program = torch.export.export(Model(), (x,), dynamic_shapes=shapes, strict=strict)
    assert "einrs" not in str(program.graph)
    others = [(2, 3, 4, 6), (5, 3, 4, 6)]
    others += [] if name == "one" else [(3, 3, 8, 6)]
    for shape in others:
        y = torch.randn(shape)
        assert torch.equal(program.module()(y), Model()(y))
