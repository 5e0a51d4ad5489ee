"""Checks einrs under what transforms functions of torch: gradients, vmap, tracers, modes."""

import copy
import warnings
from collections.abc import Callable
from typing import Any, ClassVar

import einops
import pytest

import einrs
from einrs import rearrange

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.needs_torch

Function = Callable[[Any, Any], Any]

# Functions of a module and a tensor of shape (4, 6).
FUNCTIONS: dict[str, Function] = {
    "transpose": lambda m, x: m.rearrange(x, "a b -> b a"),
    "split": lambda m, x: m.rearrange(x, "(a c) b -> c b a", c=2),
    "merge": lambda m, x: m.rearrange(x, "a b -> (b a)"),
    "same": lambda m, x: m.rearrange(x, "a b -> a b"),
    "ellipsis": lambda m, x: m.rearrange(x, "a ... -> ... a"),
    "unit": lambda m, x: m.rearrange(x, "a b -> a 1 b"),
    "sum": lambda m, x: m.reduce(x, "a b -> b", "sum"),
    "mean": lambda m, x: m.reduce(x, "(a 2) b -> b a", "mean"),
    "max": lambda m, x: m.reduce(x, "a (b 3) -> b", "max"),
    "min": lambda m, x: m.reduce(x, "a b ->", "min"),
    "prod": lambda m, x: m.reduce(x, "a (b c) -> b", "prod", c=2),
    "callable": lambda m, x: m.reduce(x, "a b -> b", lambda t, axes: t.logsumexp(axes)),
    "repeat": lambda m, x: m.repeat(x, "a b -> (a 2) b k", k=3),
    "repeat view": lambda m, x: m.repeat(x, "a b -> a k b", k=3),
    "length from the shape": lambda m, x: m.rearrange(x, "(a c) b -> c a b", a=x.shape[0] // 2),
    "list": lambda m, x: m.rearrange([x, 2 * x], "k a b -> a (b k)"),
    "chain": lambda m, x: m.reduce(m.repeat(x, "a b -> a b 2") ** 2, "a b k -> k a", "sum"),
}
each_function = pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)


def bound(function: Function, module: Any) -> Callable[[Any], Any]:
    return lambda x: function(module, x)


def numbers(*shape: int) -> Any:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(shape or (4, 6), generator=generator)


def tried(function: Callable[[Any], Any], x: Any) -> Any:
    """The result, or the error of a transformation that torch does not have."""
    try:
        return function(x)
    except RuntimeError as error:
        return error


def same(ours: Any, theirs: Any) -> None:
    assert type(ours) is type(theirs)
    if isinstance(theirs, tuple):
        for one, other in zip(ours, theirs, strict=True):
            same(one, other)
        return
    assert ours.shape == theirs.shape
    assert ours.dtype == theirs.dtype
    assert torch.equal(ours, theirs)


@each_function
def test_backward(function: Function) -> None:
    gradients = []
    for module in (einops, einrs):
        x = numbers().requires_grad_()
        function(module, x).square().sum().backward()
        gradients.append(x.grad)
    same(gradients[1], gradients[0])


def test_gradients_of_equal_maxima_are_shared() -> None:
    for name in ("max", "min"):
        gradients = []
        for module in (einops, einrs):
            x = torch.ones(4, 6, requires_grad=True)
            module.reduce(x, "a b -> b", name).sum().backward()
            gradients.append(x.grad)
        same(gradients[1], gradients[0])


def test_double_backward_and_gradcheck() -> None:
    x = numbers(2, 4).double().requires_grad_()
    for function in (FUNCTIONS["chain"], FUNCTIONS["repeat"], FUNCTIONS["sum"]):
        assert torch.autograd.gradcheck(lambda x, f=function: f(einrs, x), x)
        assert torch.autograd.gradgradcheck(lambda x, f=function: f(einrs, x), x)


TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "vmap": lambda f: lambda x: torch.vmap(f)(torch.stack([x, x + 1, x - 1])),
    "vmap over the last axis": lambda f: (
        lambda x: torch.vmap(f, in_dims=2, out_dims=0)(torch.stack([x, x + 1], -1))
    ),
    "vmap twice": lambda f: lambda x: torch.vmap(torch.vmap(f))(numbers(2, 3, 4, 6)),
    "grad": lambda f: torch.func.grad(lambda x: f(x).square().sum()),
    "vmap of grad": lambda f: (
        lambda x: torch.vmap(torch.func.grad(lambda x: f(x).square().sum()))(
            torch.stack([x, x + 1])
        )
    ),
    "jacrev": lambda f: torch.func.jacrev(f),
    "jacfwd": lambda f: torch.func.jacfwd(f),
    "jvp": lambda f: lambda x: torch.func.jvp(f, (x,), (x + 1,)),
    "vjp": lambda f: lambda x: torch.func.vjp(f, x)[0],
    "hessian": lambda f: torch.func.hessian(lambda x: f(x).square().sum()),
    "linearize": lambda f: lambda x: torch.func.linearize(f, x)[1](x + 1),
    "functionalize": lambda f: torch.func.functionalize(f),
    "checkpoint": lambda f: lambda x: torch.utils.checkpoint.checkpoint(f, x, use_reentrant=False),
}


@each_function
@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.filterwarnings("ignore")
def test_transforms(function: Function, name: str) -> None:
    results: list[Any] = []
    for module in (einops, einrs):
        transformed = TRANSFORMS[name](bound(function, module))
        results.append(tried(transformed, numbers()))
    if isinstance(results[0], Exception):
        assert type(results[1]) is type(results[0]), results
    else:
        same(results[1], results[0])


# --- tracers


@each_function
def test_trace(function: Function) -> None:
    """A trace keeps the sizes of the input open, as einops' does; it warns where einops warns."""
    traced, texts = [], []
    for module in (einops, einrs):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            traced.append(torch.jit.trace(bound(function, module), numbers()))
        categories = [warning.category for warning in caught]
        texts.append([c for c in categories if issubclass(c, torch.jit.TracerWarning)])
    assert len(texts[1]) <= len(texts[0])
    for x in (numbers(), numbers(8, 6), numbers(2, 12)):
        results = [tried(one, x) for one in traced]
        if isinstance(results[0], RuntimeError):
            assert isinstance(results[1], RuntimeError)
        else:
            same(results[1], results[0])


def test_trace_keeps_the_batch_open() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        traced = torch.jit.trace(
            lambda x: einrs.rearrange(x, "b c (h p) w -> (b h) (p w) c", p=2), numbers(2, 3, 4, 5)
        )
    x = numbers(7, 3, 8, 5)
    same(traced(x), einops.rearrange(x, "b c (h p) w -> (b h) (p w) c", p=2))


@each_function
@pytest.mark.parametrize("mode", ["real", "fake", "symbolic"])
def test_make_fx(function: Function, mode: str) -> None:
    from torch.fx.experimental.proxy_tensor import make_fx

    graphs = []
    for module in (einops, einrs):
        graph = make_fx(bound(function, module), tracing_mode=mode)(numbers())
        graphs.append(graph)
    for node in graphs[1].graph.nodes:
        if node.op == "call_function":
            assert "einrs" not in str(node.target)
            assert "einrs" not in str(getattr(node.target, "__module__", ""))
    same(graphs[1](numbers()), graphs[0](numbers()))
    if mode == "symbolic":
        same(graphs[1](numbers(8, 12)), graphs[0](numbers(8, 12)))


def test_make_fx_records_what_einops_records() -> None:
    from torch.fx.experimental.proxy_tensor import make_fx

    names = ("transpose", "split", "merge", "ellipsis", "sum", "mean", "max", "prod", "callable")
    for name in names:
        targets = []
        for module in (einops, einrs):
            graph = make_fx(bound(FUNCTIONS[name], module))(numbers())
            targets.append([str(node.target) for node in graph.graph.nodes])
        assert targets[1] == einrs_steps(FUNCTIONS[name], targets[0])


def einrs_steps(function: Function, steps: list[str]) -> list[str]:
    """The steps of einops, but for the permutation before a reduction that does not round."""
    if function is not FUNCTIONS["max"]:
        return steps
    assert steps.count("aten.permute.default") == 1
    return [step for step in steps if step != "aten.permute.default"]


torch.fx.wrap("rearrange")


def test_fx_of_a_wrapped_function() -> None:
    graph = torch.fx.symbolic_trace(lambda x: rearrange(x, "a b -> b a") + 1)
    targets = [node.target for node in graph.graph.nodes if node.op == "call_function"]
    assert einrs.rearrange in targets
    same(graph(numbers()), numbers().T + 1)


@pytest.mark.parametrize(
    ("function", "op"),
    [
        (lambda x: einrs.rearrange(x, "a b -> b a"), "call_method"),
        (lambda x: einrs.rearrange(x, "a ... -> ... a"), "call_function"),
    ],
    ids=["rank in the pattern", "ellipsis"],
)
def test_fx_of_a_bare_function(function: Callable[[Any], Any], op: str) -> None:
    """Plain nodes; a proxy has no rank, so that a call with an ellipsis stays one node."""
    traced = torch.fx.symbolic_trace(function)
    assert [node.op for node in traced.graph.nodes][1:] == [op, "output"]
    x = torch.arange(6).reshape(2, 3)
    assert torch.equal(traced(x), x.T)


# --- fake tensors and modes


@each_function
def test_fake_tensors(function: Function) -> None:
    from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

    real = numbers()
    with FakeTensorMode() as mode:
        fake = mode.from_tensor(real)
        theirs, ours = function(einops, fake), function(einrs, fake)
    assert type(ours) is type(theirs) is FakeTensor
    assert (ours.shape, ours.dtype, ours.device) == (theirs.shape, theirs.dtype, theirs.device)
    assert ours.stride() == theirs.stride()


def test_sizes_that_are_symbols() -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    real = numbers()
    with FakeTensorMode(shape_env=ShapeEnv(), static_shapes=False) as mode:
        fake = mode.from_tensor(real)
        assert isinstance(fake.shape[0], torch.SymInt)
        for name, function in FUNCTIONS.items():
            theirs, ours = function(einops, fake), function(einrs, fake)
            assert [str(size) for size in ours.shape] == [str(size) for size in theirs.shape], name
        height = fake.shape[0]
        ours = einrs.repeat(fake, "a b -> a k b", k=height)
        assert str(ours.shape[1]) == str(height)
        assert einrs.rearrange(fake, "(a c) b -> a c b", a=height).shape[1] == 1
        with pytest.raises(einrs.EinopsError, match="a b c"):
            einrs.rearrange(fake, "a b c -> c b a")


def test_function_mode_sees_torch() -> None:
    from torch.overrides import TorchFunctionMode

    class Mode(TorchFunctionMode):
        seen: ClassVar[list[str]] = []

        def __torch_function__(
            self, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            self.seen.append(function.__name__)
            return function(*args, **(kwargs or {}))

    x = numbers()
    with Mode() as mode:
        results = {name: function(einrs, x) for name, function in FUNCTIONS.items()}
    assert {"reshape", "permute", "sum", "mean", "amax", "stack"} <= set(mode.seen)
    for name, function in FUNCTIONS.items():
        same(results[name], function(einops, x))


def test_function_mode_changes_results() -> None:
    from torch.overrides import TorchFunctionMode

    class Doubling(TorchFunctionMode):
        def __torch_function__(
            self, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            result = function(*args, **(kwargs or {}))
            return 2 * result if function.__name__ in ("permute", "sum") else result

    x = numbers()
    with Doubling():
        same(einrs.rearrange(x, "a b -> b a"), 2 * x.T)
        same(einrs.reduce(x, "a b -> a", "sum"), einops.reduce(x, "a b -> a", "sum"))


@each_function
def test_dispatch_mode_sees_what_einops_does(function: Function) -> None:
    from torch.utils._python_dispatch import TorchDispatchMode

    class Mode(TorchDispatchMode):
        def __init__(self) -> None:
            super().__init__()
            self.seen: list[str] = []

        def __torch_dispatch__(
            self, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            self.seen.append(str(function))
            return function(*args, **(kwargs or {}))

    x, seen = numbers(), []
    for module in (einops, einrs):
        with Mode() as mode:
            function(module, x)
        seen.append(mode.seen)
    # New axes of a repeat are folded into one reshape: never more steps than einops takes.
    assert len(seen[1]) <= len(seen[0])
    if "repeat" not in str(seen) and "expand" not in str(seen[0]):
        assert seen[1] == einrs_steps(function, seen[0])


def test_two_tensors_in_one() -> None:
    from torch.testing._internal.two_tensor import TwoTensor

    for function in FUNCTIONS.values():
        theirs, ours = (function(m, TwoTensor(numbers(), numbers() + 1)) for m in (einops, einrs))
        assert type(ours) is type(theirs) is TwoTensor
        same(ours.a, theirs.a)
        same(ours.b, theirs.b)


def test_modules_that_call_einrs_can_be_copied() -> None:
    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.operation = einrs.rearrange

        def forward(self, x: Any) -> Any:
            return self.operation(x, "a b -> b a")

    same(copy.deepcopy(Model())(numbers()), numbers().T)
