"""Checks every operation in whole graphs of torch.compile, beside hand-written code.

The number of graphs for five batch sizes, the warnings and the log lines are compared as well.
"""

import shutil
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import einops
import numpy as np
import pytest

torch = pytest.importorskip("torch")

from compare import Function, Mode  # noqa: E402
from torch_compare import check, same, tensors, total  # noqa: E402
from torch_operations import HANDS, OPERATIONS, OURS, chosen, numbers  # noqa: E402

import einrs  # noqa: E402

BATCHES = (2, 3, 5, 7, 9)
GRAPHS = {True: 1, None: 2, False: 5}
WORDS = {True: "dynamic", None: "dynamic if needed", False: "static"}


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """Dynamo compiles anew for each test."""
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


class Graphs:
    """A backend that counts the graphs and hands them to another one."""

    def __init__(self, name: str) -> None:
        self.count = 0
        self.targets: list[str] = []
        self.inner = torch._dynamo.lookup_backend(name)

    def __call__(self, module: Any, inputs: Any) -> Any:
        self.count += 1
        nodes = [node for node in module.graph.nodes if node.op.startswith("call")]
        self.targets += [
            f"{getattr(node.target, '__module__', '')} {node.target}" for node in nodes
        ]
        return self.inner(module, inputs)


def whole(function: Callable[..., Any], name: str = "eager", **options: Any) -> Any:
    """A function compiled as one graph, and the backend that saw it."""
    graphs = Graphs(name)
    return torch.compile(function, backend=graphs, fullgraph=True, **options), graphs


@cache
def for_batches(backend: str, dynamic: bool | None) -> Mode:
    """Five batch sizes, with gradients where the backend makes them."""

    def mode(function: Function) -> Any:
        compiled, graphs = whole(function, backend, dynamic=dynamic)
        results = []
        for batch in BATCHES:
            x = numbers(batch).requires_grad_(backend != "eager")
            results.append(compiled(x))
            if any(tensor.requires_grad for tensor in tensors(results[-1])):
                total(results[-1]).backward()
                results.append(x.grad)
        assert not any("einrs" in target for target in graphs.targets), graphs.targets
        assert graphs.count == GRAPHS[dynamic]
        return results

    return mode


def by_dynamic(backend: str) -> Any:
    """A backend with each of the three ways to take sizes."""
    return [(f"compile: {backend}, {WORDS[dynamic]}", backend, dynamic) for dynamic in WORDS]


@pytest.mark.cell("torch")
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(
    ("mode", "backend", "dynamic"), [*by_dynamic("eager"), *by_dynamic("aot_eager")]
)
def test_batch_sizes(
    mode: str, backend: str, dynamic: bool | None, operation: str, alike: Any
) -> None:
    check(for_batches(backend, dynamic), operation, alike)


@pytest.mark.slow_trace
@pytest.mark.cell("torch")
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(("mode", "backend", "dynamic"), by_dynamic("inductor"))
def test_inductor(
    mode: str, backend: str, dynamic: bool | None, operation: str, alike: Any
) -> None:
    if not any(map(shutil.which, ("g++", "clang++", "cl"))):
        pytest.skip("no C++ compiler")
    test_batch_sizes(mode, backend, dynamic, operation, alike)


# --- what a compiled function may get and hold


def symbolic_length(function: Callable[..., Any]) -> Any:
    """A length that is an argument: one graph for all of its values."""
    compiled, graphs = whole(function, dynamic=True)
    x = torch.randn(2, 12, 4, generator=torch.Generator().manual_seed(0))
    return [*(compiled(x[:, :6], n) for n in (2, 3)), graphs.count]


def length_as_constant(function: Callable[..., Any]) -> Any:
    compiled, graphs = whole(function, dynamic=None)
    return [compiled(numbers(), 2), compiled(numbers(), 3), graphs.count]


def unbacked_length(function: Callable[..., Any]) -> Any:
    def inner(x: Any, length: Any) -> Any:
        n = length.item()
        torch._check(n > 0)
        torch._check(n <= 6)
        return function(x, n)

    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        compiled, graphs = whole(inner)
        return [compiled(numbers(), torch.tensor(2)), graphs.count]


def unbacked_batch(function: Function) -> Any:
    """A batch whose size only the data say."""
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        compiled, graphs = whole(lambda x: function(x[x[:, 0, 0] > -9]))
        return [compiled(numbers(3)), compiled(numbers(3) - 9), graphs.count]


def autocast(function: Function) -> Any:
    def inner(x: Any) -> Any:
        with torch.autocast("cpu", torch.bfloat16):
            return function(x @ x.mT @ x)

    compiled, graphs = whole(inner, "aot_eager")
    return [compiled(numbers()), graphs.count]


def checkpointed(function: Function) -> Any:
    def inner(x: Any) -> Any:
        return torch.utils.checkpoint.checkpoint(function, x * 2, use_reentrant=False)

    compiled, graphs = whole(inner, "aot_eager")
    x = numbers().requires_grad_()
    total(compiled(x)).backward()
    return [x.grad, graphs.count]


def conditional(function: Function) -> Any:
    """Both branches call the operation: their results must be of the same shape."""

    def branch(factor: int) -> Function:
        return lambda x: [tensor * factor for tensor in tensors(function(x + 1))]

    def inner(x: Any) -> Any:
        return torch.cond(x.sum() > 0, branch(1), branch(2), (x,))

    compiled, graphs = whole(inner)
    return [compiled(numbers().abs()), compiled(-numbers().abs()), graphs.count]


def vmapped(function: Function) -> Any:
    compiled, graphs = whole(torch.vmap(function))
    return [compiled(torch.stack([numbers(), numbers() + 1])), graphs.count]


def gradient(function: Function) -> Any:
    compiled, graphs = whole(torch.func.grad(lambda x: total(function(x))))
    return [compiled(numbers()), graphs.count]


def submodule(function: Function) -> Any:
    class Model(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return function(x)

    compiled, graphs = whole(torch.nn.Sequential(torch.nn.Identity(), Model()), "aot_eager")
    return [compiled(numbers()), graphs.count]


def without_fullgraph(function: Function) -> Any:
    torch._dynamo.utils.counters.clear()
    result = torch.compile(function, backend="eager")(numbers())
    return [result, dict(torch._dynamo.utils.counters["graph_break"])]


WITHIN: dict[str, Mode] = {
    "compile: unbacked batch": unbacked_batch,
    "compile: autocast": autocast,
    "compile: checkpoint": checkpointed,
    "compile: torch.cond": conditional,
    "compile: vmap": vmapped,
    "compile: grad": gradient,
    "compile: within modules": submodule,
    "compile: without fullgraph": without_fullgraph,
}


@pytest.mark.cell("torch")
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("mode", WITHIN)
def test_within(mode: str, operation: str, alike: Any) -> None:
    check(WITHIN[mode], operation, alike)


LENGTHS: dict[str, Mode] = {
    "compile: symbolic length": symbolic_length,
    "compile: length as constant": length_as_constant,
    "compile: unbacked length": unbacked_length,
}


@pytest.mark.cell("torch")
@pytest.mark.parametrize("operation", chosen(takes_length=True))
@pytest.mark.parametrize("mode", LENGTHS)
def test_lengths(mode: str, operation: str, alike: Any) -> None:
    check(LENGTHS[mode], operation, alike, takes_length=True)


@pytest.mark.cell("torch", mode="compile: list of tensors")
@pytest.mark.parametrize("operation", chosen(takes_list=True))
def test_lists(operation: str) -> None:
    compiled, graphs = whole(lambda x: OURS[operation](list(x.unbind())))
    same(compiled(numbers(3)), HANDS[operation](numbers(3)))
    assert graphs.count == 1


@pytest.mark.cell("torch", mode="compile: pattern and length as arguments")
@pytest.mark.parametrize("operation", [name for name in OPERATIONS if OPERATIONS[name].pattern])
def test_arguments(operation: str) -> None:
    row = OPERATIONS[operation]
    compiled, graphs = whole(row.call)
    for pattern in (row.pattern, f" {row.pattern} "):
        same(compiled(numbers(), pattern, 2), row.hand(numbers(), 2))
    assert graphs.count == 2


ARRAYS: dict[str, Callable[[Any, Any], Any]] = {
    "rearrange": lambda m, x: m.rearrange(x, "b (h c) d -> (b h) d c", h=2),
    "reduce": lambda m, x: m.reduce(x, "b (h c) d -> b h d", "sum", h=2),
    "reduce by a callable": lambda m, x: m.reduce(x, "b c d -> b", lambda t, axes: t.sum(axes)),
    "repeat": lambda m, x: m.repeat(x, "b c d -> b (c k) d", k=2),
    "einsum": lambda m, x: m.einsum(x, x, "b c d, b e d -> b c e"),
    "pack": lambda m, x: m.pack([x, x[:, 0]], "b * d")[0],
    "unpack": lambda m, x: m.unpack(x, [(2, 2), (2,)], "b * d"),
    "parse_shape": lambda m, x: x.reshape(*m.parse_shape(x, "b c _").values(), 2, 2),
    "asnumpy": lambda m, x: m.asnumpy(x) + 1,
}


@pytest.mark.cell("torch", mode="compile: numpy arrays")
@pytest.mark.parametrize("operation", ARRAYS)
def test_arrays(operation: str) -> None:
    compiled, graphs = whole(lambda x: ARRAYS[operation](einrs, x))
    for batch in BATCHES:
        x = numbers(batch).numpy()
        ours, theirs = compiled(x), ARRAYS[operation](einops, x)
        for one, other in zip(tensors(ours), tensors(theirs), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5)
    assert graphs.count == 2


# --- errors


@pytest.fixture
def mistaken(operation: str) -> Iterator[Function]:
    """A call of the operation with a pattern that does not fit."""
    row = OPERATIONS[operation]
    if row.layer is None:
        yield lambda x: row.call(x, row.wrong, 2)
    elif not row.wrong:
        yield lambda x: row.layer(x[..., :3])
    else:
        own, row.layer.pattern = row.layer.pattern, row.wrong
        yield row.layer
        row.layer.pattern = own


WITH_ERRORS = [name for name in OPERATIONS if name != "asnumpy"]


def eager_error(function: Function) -> Any:
    torch._dynamo.reset()
    with pytest.raises(einrs.EinopsError) as caught:
        function(numbers())
    return caught.value


class OwnError(Exception):
    """An exception of a program, which keeps more than its text."""

    def __init__(self, text: str, kind: str) -> None:
        super().__init__(text)
        self.kind = kind


@cache
def own_exceptions_are_traced() -> bool:
    def guarded(x: Any) -> Any:
        try:
            raise OwnError("on purpose", "a test")
        except OwnError:
            return x + 1

    try:
        whole(guarded)[0](numbers())
    except torch._dynamo.exc.Unsupported:
        return False
    return True


NO_EXCEPTIONS = "this version of torch traces no exception with an __init__ of its own"


@pytest.mark.cell("torch", mode="compile: error caught within")
@pytest.mark.parametrize("operation", WITH_ERRORS)
def test_caught_within(operation: str, mistaken: Function, alike: Any) -> None:
    """A traced function may catch the error and read what it says."""
    if not own_exceptions_are_traced():
        return alike(NO_EXCEPTIONS)

    def guarded(x: Any) -> Any:
        try:
            return mistaken(x), ""
        except einrs.EinopsError as error:
            return x + 1, str(error)

    compiled, graphs = whole(guarded)
    result, text = compiled(numbers())
    assert torch.equal(result, numbers() + 1)
    assert text == str(eager_error(mistaken))
    assert graphs.count == 1
    return None


@pytest.mark.cell("torch", mode="compile: error as in eager")
@pytest.mark.parametrize("fullgraph", [True, False], ids=str)
@pytest.mark.parametrize("operation", WITH_ERRORS)
def test_errors(operation: str, fullgraph: bool, mistaken: Function, alike: Any) -> None:
    """The same text; without `fullgraph` the same error."""
    if fullgraph and not own_exceptions_are_traced():
        return alike(NO_EXCEPTIONS)
    expected = eager_error(mistaken)
    compiled = torch.compile(lambda x: mistaken(x), backend="eager", fullgraph=fullgraph)
    allowed = (
        [torch._dynamo.exc.Unsupported] if fullgraph else [torch._dynamo.exc.TorchRuntimeError]
    )
    with pytest.raises((einrs.EinopsError, *allowed)) as caught:
        compiled(numbers())
    if isinstance(caught.value, torch._dynamo.exc.TorchRuntimeError):
        assert operation == "EinMix"
        return alike("this version of torch wraps what a framework's function raises")
    # Dynamo shows the arguments of an exception, not its text.
    said = str(caught.value)
    assert said == str(expected) or (fullgraph and repr(str(expected)) in said)
    return None
