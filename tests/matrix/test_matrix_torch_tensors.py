"""Checks every operation on tensors that are not plain: fakes, subclasses, modes, dtypes."""

import copy
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

torch = pytest.importorskip("torch")

from compare import Function, Mode  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
from torch.fx.experimental.symbolic_shapes import ShapeEnv  # noqa: E402
from torch.overrides import TorchFunctionMode  # noqa: E402
from torch.testing._internal.two_tensor import TwoTensor  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402
from torch_compare import check, tensors  # noqa: E402
from torch_operations import OPERATIONS, OURS, numbers  # noqa: E402

import einrs  # noqa: E402


class Named(torch.Tensor):
    """A subclass that sees every function of torch."""

    seen: ClassVar[list[str]] = []

    @classmethod
    def __torch_function__(
        cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        cls.seen.append(function.__name__)
        return super().__torch_function__(function, types, args, kwargs)


class Functions(TorchFunctionMode):
    """A mode that notes what it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_function__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        self.seen.append(function.__name__)
        return function(*args, **(kwargs or {}))


class Dispatches(TorchDispatchMode):
    """A mode that notes what it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        self.seen.append(str(function))
        return function(*args, **(kwargs or {}))


def facts(result: Any) -> Any:
    """What a tensor without values has."""
    return [
        (type(one).__name__, tuple(map(str, one.shape)), one.dtype, one.device)
        for one in tensors(result)
    ]


def meta(function: Function) -> Any:
    """The layers' weights are no meta tensors, which torch itself refuses to mix."""
    if isinstance(function, torch.nn.Module):
        function = copy.deepcopy(function).to("meta")
    return facts(function(numbers().to("meta")))


def fake(function: Function, symbolic: bool = False) -> Any:
    options = {"shape_env": ShapeEnv(), "static_shapes": False} if symbolic else {}
    with FakeTensorMode(allow_non_fake_inputs=True, **options) as mode:
        return facts(function(mode.from_tensor(numbers())))


def fake_with_symbols(function: Function) -> Any:
    return len(fake(function, symbolic=True))


def subclass(function: Function) -> Any:
    Named.seen.clear()
    result = tensors(function(numbers().as_subclass(Named)))
    assert Named.seen
    return [(type(one), one.as_subclass(torch.Tensor)) for one in result]


def wrapper_subclass(function: Function) -> Any:
    result = tensors(function(TwoTensor(numbers(), numbers() + 1)))
    return [(type(one), one.a, one.b) for one in result]


def watched_by(mode: Callable[[], Any]) -> Mode:
    def watched(function: Function) -> Any:
        with mode() as watcher:
            result = function(numbers())
        assert watcher.seen
        return result

    return watched


def parameter(function: Function) -> Any:
    return function(torch.nn.Parameter(numbers()))


def of_dtype(dtype: Any) -> Mode:
    def mode(function: Function) -> Any:
        return function(torch.ones(2, 6, 4, dtype=dtype))

    return mode


MODES: dict[str, Mode] = {
    "tensors: meta": meta,
    "tensors: fake": fake,
    "tensors: fake, symbolic sizes": fake_with_symbols,
    "tensors: __torch_function__ subclass": subclass,
    "tensors: __torch_dispatch__ subclass": wrapper_subclass,
    "tensors: parameter": parameter,
    "tensors: complex": of_dtype(torch.complex64),
    "tensors: bfloat16": of_dtype(torch.bfloat16),
    "tensors: int64": of_dtype(torch.int64),
    "tensors: not contiguous": lambda f: f(numbers().mT.contiguous().mT),
    "modes: TorchFunctionMode": watched_by(Functions),
    "modes: TorchDispatchMode": watched_by(Dispatches),
}


@pytest.mark.cell("torch")
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("mode", MODES)
def test_tensors(mode: str, operation: str, alike: Any) -> None:
    if mode == "tensors: complex" and operation in ("reduce", "Reduce"):
        # As in einops; torch itself has a mean of complex numbers.
        with pytest.raises(einrs.EinopsDtypeError, match="non-floating"):
            MODES[mode](OURS[operation])
        return alike("einops takes the mean of floating dtypes only")
    return check(MODES[mode], operation, alike)
