"""Checks that torch.compile sees through einrs: whole graphs of plain torch operations."""

import functools
from collections.abc import Callable, Iterator
from typing import Any

import einops
import numpy as np
import pytest

import einrs
import fresh
from einrs import rearrange

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.needs_torch

from test_torch_transforms import FUNCTIONS, bound, each_function, numbers, same  # noqa: E402


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """Dynamo compiles anew for each test."""
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


class Recorder:
    """A backend that keeps the graphs and runs them as they are."""

    def __init__(self) -> None:
        self.graphs: list[Any] = []

    def __call__(self, module: Any, inputs: Any) -> Any:
        self.graphs.append(module.graph)
        return module.forward

    def targets(self) -> list[Any]:
        return [
            node.target
            for graph in self.graphs
            for node in graph.nodes
            if node.op in ("call_function", "call_method", "call_module")
        ]


def compiled(function: Callable[..., Any], **options: Any) -> tuple[Callable[..., Any], Recorder]:
    recorder = Recorder()
    return torch.compile(function, backend=recorder, fullgraph=True, **options), recorder


def is_plain(target: Any) -> bool:
    """A method's name, or a function of torch or of Python's operators."""
    module = getattr(target, "__module__", None) or type(target).__module__
    return isinstance(target, str) or module.split(".")[0] in {"torch", "_operator", "builtins"}


# --- import orders, each in a process of its own whose first call of all is a traced one

ORDERS = {
    "einrs first": "import einrs; import torch",
    "torch first": "import torch; import einrs",
    "dynamo first": "import torch._dynamo; import einrs",
    "dynamo last": "import torch; import einrs; import torch._dynamo",
    "hook called by another": """
import einrs, importlib.util
assert importlib.util.find_spec("json.tool")
import torch
""",
}
FIRST_CALL = """
{order}
graphs = []

def backend(module, inputs):
    graphs.append([str(node.target) for node in module.graph.nodes])
    return module.forward

@torch.compile(fullgraph=True, backend=backend)
def f(x):
    y = einrs.rearrange(x, "(a c) b -> c b a", c=2)
    y = einrs.repeat(y, "c b a -> c (b k) a", k=3)
    return einrs.reduce(y, "c b a -> b", "sum")

x = torch.arange(24.0).reshape(4, 6)
expected = x.sum(0).repeat_interleave(3)
assert torch.equal(f(x), expected)
# The same call, not traced.
assert torch.equal(torch.compiler.disable(f)(x), expected)
assert "einrs" not in str(graphs)
print(len(graphs))
"""


@pytest.mark.parametrize("order", ORDERS)
def test_import_orders(order: str) -> None:
    assert fresh.run(FIRST_CALL.replace("{order}", ORDERS[order])) == "1\n"


def test_unregistered_functions_break_the_graph() -> None:
    """What the orders above would look like if nothing were registered: the test can fail."""
    order = ORDERS["torch first"] + "; from einrs import _dynamo; _dynamo._registered = True"
    with pytest.raises(AssertionError, match="does not know how to trace"):
        fresh.run(FIRST_CALL.replace("{order}", order))


def test_a_failure_to_register_warns() -> None:
    program = """
        import sys, warnings
        import einrs, torch
        torch.compiler.substitute_in_graph = None
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            import torch._dynamo
        print([str(w.message) for w in caught if "einrs" in str(w.message)])
        print(tuple(einrs.rearrange(torch.zeros(2, 3), "a b -> b a").shape))
    """
    lines = fresh.run(program).splitlines()
    assert "cannot be traced" in lines[0]
    assert lines[1] == "(3, 2)"


# --- graphs


@each_function
def test_graphs_are_plain(function: Any) -> None:
    call, recorder = compiled(bound(function, einrs))
    same(call(numbers()), function(einops, numbers()))
    assert len(recorder.graphs) <= 1
    assert all(map(is_plain, recorder.targets())), recorder.targets()


def test_strange_functions_are_not_plain() -> None:
    assert not is_plain(einrs.rearrange)
    assert not is_plain(einops.rearrange)
    assert is_plain(torch.permute)
    assert is_plain("reshape")


@pytest.mark.parametrize(("dynamic", "graphs"), [(True, 1), (None, 2)])
@pytest.mark.parametrize(
    "name", [name for name in FUNCTIONS if name not in ("same", "length from the shape")]
)
def test_batch_sizes(name: str, dynamic: bool | None, graphs: int) -> None:
    """Five sizes cost as many graphs as torch's own operations would."""
    call, recorder = compiled(bound(FUNCTIONS[name], einrs), dynamic=dynamic)
    for height in (4, 6, 8, 10, 12):
        same(call(numbers(height, 18)), FUNCTIONS[name](einops, numbers(height, 18)))
    assert len(recorder.graphs) == graphs


def test_lengths_that_are_symbols() -> None:
    def split(module: Any, x: Any, n: int) -> Any:
        return module.rearrange(x, "(a c) b -> c a b", c=n)

    def tile(module: Any, x: Any, n: int) -> Any:
        return module.repeat(x, "a b -> (k a) b", k=n)

    for function in (split, tile):
        call, recorder = compiled(lambda x, n, f=function: f(einrs, x, n), dynamic=True)
        for n in (2, 3, 4, 6):
            same(call(numbers(12, 6), n), function(einops, numbers(12, 6), n))
        assert len(recorder.graphs) == 1


def test_lengths_from_the_shape() -> None:
    def f(module: Any, x: Any) -> Any:
        height, width = x.shape
        y = module.rearrange(x, "(a c) b -> a c b", a=height // 2)
        return module.repeat(y, "a c b -> (a c) (b k)", k=width)

    call, recorder = compiled(lambda x: f(einrs, x), dynamic=True)
    for shape in ((4, 6), (8, 6), (6, 10)):
        same(call(numbers(*shape)), f(einops, numbers(*shape)))
    assert len(recorder.graphs) <= 2


LENGTHS = {"c": 2}
FORMS: dict[str, Callable[[Any], Any]] = {
    "keywords": lambda x: einrs.rearrange(tensor=x, pattern="a b -> b a"),
    "reduction by keyword": lambda x: einrs.reduce(x, "a b -> b", reduction="sum"),
    "lengths of a dict": lambda x: einrs.rearrange(x, "(a c) b -> c b a", **LENGTHS),
    "partial": functools.partial(einrs.rearrange, pattern="a b -> b a"),
    "reduce by rearrange": lambda x: einrs.reduce(x, "a b -> b a", "rearrange"),
    "reduce by repeat": lambda x: einrs.reduce(x, "a b -> b a k", "repeat", k=2),
    "list": lambda x: einrs.reduce([x, x + 1, x], "k a b -> a b", "max"),
    "imported name": lambda x: rearrange(x, "a b -> b a"),
    "pattern of an f-string": lambda x: einrs.rearrange(x, f"{'a'} b -> b a"),
    "axis called reduction": lambda x: einrs.rearrange(
        x, "(reduction b) c -> b c reduction", reduction=2
    ),
    "True": lambda x: einrs.repeat(x, "a b -> a b k", k=True),
    "ellipsis": lambda x: einrs.rearrange(x, "... b -> b ..."),
    "nothing to do": lambda x: einrs.rearrange(x, "a b -> a b") + 1,
    "callable of einrs": lambda x: einrs.reduce(
        x, "a b -> a", lambda t, axes: einrs.reduce(t, "a b -> a", "sum")
    ),
    "numpy within": lambda x: torch.from_numpy(einrs.rearrange(x.numpy(), "a b -> b a")),
    "vmap": lambda x: torch.vmap(lambda row: einrs.rearrange(row, "(a b) -> b a", a=2))(x),
    "grad": lambda x: torch.func.grad(lambda x: einrs.reduce(x**2, "a b ->", "sum"))(x),
    "jacrev": lambda x: torch.func.jacrev(lambda x: einrs.reduce(x, "a b -> b", "mean"))(x),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_calls(form: str) -> None:
    x = numbers()
    call, recorder = compiled(FORMS[form])
    same(call(x), FORMS[form](x))
    assert len(recorder.graphs) == 1
    assert all(map(is_plain, recorder.targets()))


def test_numpy_in_and_out() -> None:
    x = np.arange(24.0).reshape(4, 6)
    for function in (
        lambda module, x: module.rearrange(x, "(a c) b -> c b a", c=2),
        lambda module, x: module.reduce(x, "a b -> b", "sum"),
        lambda module, x: module.reduce(x, "a b ->", "max"),
        lambda module, x: module.repeat(x, "a b -> (a 2) b"),
    ):
        call, recorder = compiled(bound(function, einrs))
        np.testing.assert_array_equal(call(x), function(einops, x))
        assert len(recorder.graphs) == 1


def test_the_function_itself() -> None:
    for _ in range(2):
        same(torch.compile(einrs.rearrange, backend="eager")(numbers(), "a b -> b a"), numbers().T)
    summed = torch.compile(einrs.reduce, backend="eager", fullgraph=True)
    same(summed(numbers(), "a b -> a", "sum"), numbers().sum(1))


@each_function
def test_gradients_of_compiled_functions(function: Any) -> None:
    gradients = []
    for module, options in ((einops, None), (einrs, "aot_eager")):
        x = numbers().requires_grad_()
        f = bound(function, module)
        f = torch.compile(f, backend=options, fullgraph=True) if options else f
        f(x).square().sum().backward()
        gradients.append(x.grad)
    torch.testing.assert_close(gradients[1], gradients[0])


def test_subclass_in_a_graph() -> None:
    from torch.testing._internal.two_tensor import TwoTensor

    call, recorder = compiled(bound(FUNCTIONS["split"], einrs))
    result = call(TwoTensor(numbers(), numbers() + 1))
    assert type(result) is TwoTensor
    same(result.b, FUNCTIONS["split"](einops, numbers() + 1))
    assert len(recorder.graphs) == 1
