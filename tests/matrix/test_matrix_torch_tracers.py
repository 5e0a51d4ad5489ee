"""Checks every operation in torch's tracers and transforms, beside hand-written code."""

import copy
import warnings
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from compare import Function, Mode, observed  # noqa: E402
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402
from torch_compare import check, same, tensors, total  # noqa: E402
from torch_operations import OPERATIONS, numbers  # noqa: E402

import einrs  # noqa: E402


def plain(graph: Any) -> Any:
    """A graph module, after a check that torch's own functions are all that it calls.

    Only torch.fx leaves the rank of a tensor open, which `pack` takes as it is: it stays a node.
    """
    for node in graph.graph.nodes:
        called = f"{getattr(node.target, '__module__', '')} {node.target}"
        assert node.target is einrs.pack or "einrs" not in called, node
    return graph


def fx(function: Function) -> Any:
    traced = plain(torch.fx.symbolic_trace(function))
    return [traced(numbers(batch)) for batch in (2, 5)]


def fx_of_modules(function: Function) -> Any:
    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.function = function

        def forward(self, x: Any) -> Any:
            return self.function(x * 2)

    traced = copy.deepcopy(plain(torch.fx.symbolic_trace(Model())))
    return [traced(numbers(batch)) for batch in (2, 5)]


def made(mode: str) -> Mode:
    def trace(function: Function) -> Any:
        graph = plain(make_fx(function, tracing_mode=mode)(numbers(3)))
        batches = (3, 5) if mode == "symbolic" else (3,)
        return [graph(numbers(batch)) for batch in batches]

    return trace


def jit_trace(function: Function) -> Any:
    """The batch stays open. What is traced warns where it is turned into a number."""
    traced = torch.jit.trace(function, numbers(3), check_trace=False)
    return [traced(numbers(batch)) for batch in (3, 5)]


def pairs() -> Any:
    return torch.stack([numbers(), numbers() + 1])


def twice(transform: Callable[[Function], Function]) -> Mode:
    return lambda function: transform(function)(numbers())


MODES: dict[str, Mode] = {
    "eager": lambda f: [f(numbers(batch)) for batch in (0, 1, 2, 5)],
    "eager: grad": lambda f: gradients(f),
    "eager: inference mode": torch.inference_mode()(lambda f: f(numbers())),
    "torch.fx.symbolic_trace": fx,
    "torch.fx.symbolic_trace: modules": fx_of_modules,
    "make_fx: real": made("real"),
    "make_fx: fake": made("fake"),
    "make_fx: symbolic": made("symbolic"),
    "torch.jit.trace": jit_trace,
    "vmap": lambda f: torch.vmap(f)(pairs()),
    "vmap: last axis": lambda f: torch.vmap(f, in_dims=3)(pairs().movedim(0, 3)),
    "vmap: nested": lambda f: torch.vmap(torch.vmap(f))(pairs()[None]),
    "grad": twice(lambda f: torch.func.grad(lambda x: total(f(x)))),
    "vmap of grad": lambda f: torch.vmap(torch.func.grad(lambda x: total(f(x))))(pairs()),
    "jacrev": twice(lambda f: torch.func.jacrev(lambda x: tuple(tensors(f(x))))),
    "jacfwd": twice(lambda f: torch.func.jacfwd(lambda x: tuple(tensors(f(x))))),
    "jvp": lambda f: torch.func.jvp(lambda x: tuple(tensors(f(x))), (numbers(),), (numbers(),)),
    "vjp": lambda f: torch.func.vjp(lambda x: total(f(x)), numbers())[1](torch.tensor(1.0)),
    "hessian": lambda f: torch.func.hessian(lambda x: total(f(x)))(numbers(1)),
    "linearize": lambda f: torch.func.linearize(lambda x: total(f(x)), numbers())[1](numbers()),
    "functionalize": twice(lambda f: torch.func.functionalize(f)),
    "checkpoint": lambda f: gradients(
        lambda x: torch.utils.checkpoint.checkpoint(f, x * 2, use_reentrant=False)
    ),
}


def gradients(function: Function) -> Any:
    x = numbers().requires_grad_()
    total(function(x)).backward()
    return x.grad


@pytest.mark.cell("torch")
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("mode", MODES)
def test_modes(mode: str, operation: str, alike: Any) -> None:
    check(MODES[mode], operation, alike)


@pytest.mark.cell("torch", mode="torch.jit.script: layers")
@pytest.mark.parametrize("operation", [name for name in OPERATIONS if OPERATIONS[name].layer])
def test_scripted_layers(operation: str, alike: Any, tmp_path: Any) -> None:
    layer = OPERATIONS[operation].layer
    found = observed(lambda f: torch.jit.script(copy.deepcopy(layer)), lambda x: x)
    if operation == "Reduce by a callable":
        assert isinstance(found.error, TypeError)
        assert "must be the name" in str(found.error)
        return alike("TorchScript calls no Python function")
    if found.error is not None:
        raise found.error
    assert all("torch.jit" in line for line in found.warned), found.warned
    with warnings.catch_warnings():
        # TorchScript itself is deprecated in newer torch.
        warnings.simplefilter("ignore")
        torch.jit.save(found.result, tmp_path / "layer")
        variants = [found.result, torch.jit.load(tmp_path / "layer")]
        variants.append(torch.jit.freeze(found.result.eval()))
    for scripted in variants:
        for batch in (2, 5):
            same(scripted(numbers(batch)), layer(numbers(batch)))
    return None


# --- a graph that was traced on one shape never regroups the data of another

BAD: dict[str, tuple[Callable[[Any], Any], tuple[int, ...], list[tuple[int, ...]]]] = {
    "split": (lambda x: einrs.rearrange(x, "(a c) b -> c a b", c=4), (8, 6), [(6, 6), (2, 6)]),
    "split, both lengths": (
        lambda x: einrs.rearrange(x, "(a c) b -> c a b", a=2, c=4),
        (8, 6),
        [(12, 6), (4, 6), (16, 6)],
    ),
    "unit axis": (lambda x: einrs.rearrange(x, "a 1 b -> b a"), (4, 1, 6), [(4, 2, 6)]),
    "reduced unit": (lambda x: einrs.reduce(x, "a 1 -> a", "sum"), (4, 1), [(4, 2)]),
    "pool": (lambda x: einrs.reduce(x, "(a 2) b -> a b", "max"), (8, 6), [(7, 6)]),
    "repeat": (lambda x: einrs.repeat(x, "(a c) b -> a b c k", c=2, k=2), (8, 6), [(7, 6)]),
    "unpack": (lambda x: einrs.unpack(x, [(2,), (6,)], "* b"), (8, 6), [(9, 6), (7, 6), (16, 6)]),
    "unpack, open": (
        lambda x: einrs.unpack(x, [(2,), (-1, 3)], "* b"),
        (8, 6),
        [(9, 6), (1, 6)],
    ),
    "pack": (lambda x: einrs.pack([x, x[:2]], "a *")[0], (2, 6), [(3, 6)]),
}


def by_export(function: Function, x: Any) -> Any:
    class Model(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return function(x)

    shapes = {"x": dict.fromkeys(range(x.ndim), torch.export.Dim.AUTO)}
    return torch.export.export(Model(), (x,), dynamic_shapes=shapes).module()


TRACERS: dict[str, Callable[[Function, Any], Any]] = {
    "torch.fx.symbolic_trace": lambda f, x: torch.fx.symbolic_trace(f),
    "make_fx: symbolic": lambda f, x: make_fx(f, tracing_mode="symbolic")(x),
    "torch.jit.trace": lambda f, x: torch.jit.trace(f, x, check_trace=False),
    "export": by_export,
    "compile": lambda f, x: torch.compile(f, backend="eager", dynamic=True),
}


@pytest.mark.cell("torch", operation="every function")
@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("mode", [f"bad shapes: {tracer}" for tracer in TRACERS])
@pytest.mark.filterwarnings(
    "ignore::torch.jit.TracerWarning", "ignore::DeprecationWarning", "ignore::FutureWarning"
)
def test_bad_shapes(mode: str, case: str, alike: Any) -> None:
    """What eager code refuses, the traced graph refuses as well."""
    function, good, bad = BAD[case]
    tracer = TRACERS[mode.removeprefix("bad shapes: ")]
    torch._dynamo.reset()
    x = torch.randn(good)
    try:
        traced = tracer(function, x)
    except KeyError:
        # A bug of torch 2.5: it loses the name of a size that must be a multiple.
        with pytest.raises(KeyError):
            tracer(lambda x: x.reshape(x.shape[0] // 4, 4, -1), x)
        return alike("this version of torch exports no size that must be a multiple")
    same(traced(x), function(x))
    for shape in bad:
        x = torch.randn(shape)
        with pytest.raises(einrs.EinopsError):
            function(x)
        with pytest.raises(Exception):  # noqa: B017 - of whatever class the tracer's graph raises
            traced(x)
    return None
