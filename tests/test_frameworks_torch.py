"""Checks torch's kinds of tensors and dtypes: results, errors and warnings as einops gives them."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import einops
import numpy as np
import pytest

import einrs
from sides import OPERATIONS, differences, operations

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.needs_torch,
    # Of torch itself, when such tensors are made.
    pytest.mark.filterwarnings("ignore:ComplexHalf support"),
    pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor"),
]


@pytest.fixture(autouse=True)
def every_warning() -> Iterator[None]:
    """Both sides shall see a warning that torch gives once only."""
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    yield
    torch.set_warn_always(before)


SHAPE = (4, 6)


class Sub(torch.Tensor):
    """A tensor by inheritance."""


class Logged(torch.Tensor):
    """A tensor that sees every function of torch that it goes through."""

    calls: ClassVar[list[str]] = []

    @classmethod
    def __torch_function__(
        cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        cls.calls.append(getattr(function, "__name__", str(function)))
        return super().__torch_function__(function, types, args, kwargs or {})


def numbers(dtype: Any = torch.float32) -> Any:
    values = torch.arange(24) * 7 % 23 - 9
    if not (dtype.is_signed or dtype.is_complex):
        values = values.abs()
    return values.to(torch.float32).to(dtype).reshape(SHAPE)


KINDS: dict[str, Callable[[], Any]] = {
    "plain": numbers,
    "transposed": lambda: numbers().reshape(6, 4).T,
    "sliced": lambda: torch.tile(numbers(), (2, 2))[::2, 1::2],
    "expanded rows": lambda: numbers()[:1].expand(4, 6),
    "expanded columns": lambda: numbers()[:, :1].expand(4, 6),
    "parameter": lambda: torch.nn.Parameter(numbers()),
    "buffer": lambda: torch.nn.Buffer(numbers()),
    "requires grad": lambda: numbers().requires_grad_(),
    "subclass": lambda: numbers().as_subclass(Sub),
    "with __torch_function__": lambda: numbers().as_subclass(Logged),
    "conjugate": lambda: numbers(torch.complex64).conj(),
    "negative view": lambda: torch.imag((numbers(torch.complex64) * (1 + 2j)).conj()),
    "meta": lambda: numbers().to("meta"),
    "with NaN": lambda: torch.where(numbers() > 5, torch.nan, numbers()),
    "channels last": lambda: (
        numbers().reshape(1, 1, 4, 6).to(memory_format=torch.channels_last)[0, 0]
    ),
    "named by numpy": lambda: torch.from_numpy(np.arange(24.0).reshape(SHAPE)),
}
DTYPES = [
    *("bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64"),
    *("float16", "bfloat16", "float64", "complex64", "complex128", "complex32"),
    *("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"),
]


def facts(result: Any, tensor: Any) -> dict[str, Any]:
    """All that einops' result and ours must have in common."""
    if not isinstance(result, torch.Tensor):
        return {"type": type(result), "value": result}
    return {
        "type": type(result),
        "same object": result is tensor,
        "shape": tuple(result.shape),
        "dtype": result.dtype,
        "device": result.device,
        "strides": long_strides(result),
        "requires grad": result.requires_grad,
        "leaf": result.is_leaf,
        "inference": result.is_inference(),
        "conjugate": result.is_conj(),
        "negative": result.is_neg(),
        "shares memory": shares(result, tensor),
        "value": values(result),
    }


def long_strides(result: Any) -> Any:
    """The strides that lead to another element."""
    if result.numel() == 0:
        return ()
    strides = zip(result.shape, result.stride(), strict=True)
    return tuple(stride for size, stride in strides if size > 1)


def shares(result: Any, tensor: Any) -> bool:
    if result.is_meta:
        return result._is_view()
    storages = result.untyped_storage(), tensor.untyped_storage()
    return len(storages[0]) > 0 and storages[0].data_ptr() == storages[1].data_ptr()


def values(result: Any) -> Any:
    if result.is_meta:
        return None
    plain = result.detach().resolve_conj().resolve_neg().as_subclass(torch.Tensor)
    # As bytes: a NaN is no equal of itself, and small floats cannot be compared.
    return plain.contiguous().reshape(-1).view(torch.uint8).tolist() if plain.numel() else []


def compare(make: Callable[[], Any], op: str, calls: dict[str, Any] = OPERATIONS) -> int:
    """Compares all calls of an operation; the number of those that give a result."""
    wrong, fine = [], 0
    for label, call in calls.items():
        if label.startswith(op):
            succeeds, found = differences(call, make, facts)
            fine += succeeds
            wrong += [f"{label}: {difference}" for difference in found]
    assert not wrong, "\n".join(wrong)
    return fine


each_operation = pytest.mark.parametrize("op", ["rearrange", "reduce", "repeat"])


@each_operation
@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_tensors(kind: str, op: str) -> None:
    assert compare(KINDS[kind], op)


@each_operation
@pytest.mark.parametrize("name", DTYPES)
def test_dtypes(name: str, op: str) -> None:
    if not hasattr(torch, name):
        pytest.skip(f"this torch has no {name}")
    assert compare(lambda: numbers(getattr(torch, name)), op)


@each_operation
@pytest.mark.parametrize("mode", ["inference_mode", "no_grad", "enable_grad"])
@pytest.mark.parametrize("kind", ["plain", "requires grad", "parameter"])
def test_modes(mode: str, kind: str, op: str) -> None:
    with getattr(torch, mode)():
        assert compare(KINDS[kind], op)


@each_operation
def test_tensors_made_in_inference_mode(op: str) -> None:
    def make() -> Any:
        with torch.inference_mode():
            return numbers()

    assert compare(make, op)


@pytest.mark.parametrize("shape", [(0, 6), (4, 0), (0, 0), (2, 2), (2, 1), (1, 6)])
@each_operation
def test_empty_and_short_axes(shape: tuple[int, int], op: str) -> None:
    for label, call in operations(*shape).items():
        if not label.startswith(op):
            continue
        _, found = differences(call, lambda: torch.ones(shape), facts)
        if "ZeroDivisionError" in str(found):
            with pytest.raises(einrs.EinopsError, match="length 0"):
                call(einrs, torch.ones(shape))
            continue
        assert not found, f"{label}: {found}"


QUANTIZED = ["rearrange", "repeat"]


@pytest.mark.parametrize("op", QUANTIZED)
def test_quantized(op: str) -> None:
    def make() -> Any:
        return torch.quantize_per_tensor(numbers(), 0.5, 10, torch.qint8)

    def plain(result: Any, tensor: Any) -> dict[str, Any]:
        same = result is tensor
        return {"same": same, "value": result.dequantize().tolist(), "scale": result.q_scale()}

    for label, call in OPERATIONS.items():
        if label.startswith(op):
            _, found = differences(call, make, plain)
            assert not found, f"{label}: {found}"


SPARSE: dict[str, Callable[[Any, Any], Any]] = {
    "permute": lambda module, x: module.rearrange(x, "a b -> b a"),
    "same": lambda module, x: module.rearrange(x, "a b -> a b"),
    "reduce": lambda module, x: module.reduce(x, "a b -> a", "sum"),
    "reduce all": lambda module, x: module.reduce(x, "a b ->", "sum"),
    "max": lambda module, x: module.reduce(x, "a b -> a", "max"),
    "reshape": lambda module, x: module.rearrange(x, "(a c) b -> c a b", c=2),
    "flatten": lambda module, x: module.rearrange(x, "a b -> (b a)"),
    "unsqueeze": lambda module, x: module.rearrange(x, "a b -> a 1 b"),
    "repeat": lambda module, x: module.repeat(x, "a b -> a b 2"),
}


@pytest.mark.parametrize("call", SPARSE.values(), ids=SPARSE)
@pytest.mark.parametrize("layout", ["coo", "csr"])
@pytest.mark.filterwarnings("ignore:Sparse")
def test_sparse(call: Any, layout: str) -> None:
    def make() -> Any:
        return numbers().to_sparse() if layout == "coo" else numbers().to_sparse_csr()

    def dense(result: Any, tensor: Any) -> dict[str, Any]:
        return {"layout": result.layout, "value": result.to_dense().tolist()}

    _, found = differences(call, make, dense)
    assert not found


NESTED: dict[str, Callable[[Any, Any], Any]] = {
    "same": lambda module, x: module.rearrange(x, "b n d -> b n d"),
    "split": lambda module, x: module.rearrange(x, "b n (h d) -> b n h d", h=2),
    "merge": lambda module, x: module.rearrange(x, "b n (h d) -> b n (h d)", h=2),
    "heads": lambda module, x: module.rearrange(x, "b n (h d) -> b h n d", h=2),
    "ellipsis": lambda module, x: module.rearrange(x, "... (h d) -> ... h d", h=2),
    "sum": lambda module, x: module.reduce(x, "b n d -> b n", "sum"),
    "mean": lambda module, x: module.reduce(x, "b n d -> b n", "mean"),
    "callable": lambda module, x: module.reduce(x, "b n d -> b n", lambda t, axes: t.sum(axes)),
    "repeat": lambda module, x: module.repeat(x, "b n d -> b n d 2"),
    "wrong": lambda module, x: module.rearrange(x, "b n (h d) -> b n h d", h=5),
    "rank": lambda module, x: module.rearrange(x, "b n -> n b"),
}


@pytest.mark.parametrize("call", NESTED.values(), ids=NESTED)
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_nested(call: Any) -> None:
    def make() -> Any:
        parts = [torch.arange(n * 6.0).reshape(n, 6) for n in (2, 3, 1)]
        return torch.nested.nested_tensor(parts, layout=torch.jagged)

    def parts(result: Any, tensor: Any) -> dict[str, Any]:
        return {"parts": [part.tolist() for part in result.unbind()]}

    _, found = differences(call, make, parts)
    assert not found


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("kind", ["plain", "transposed", "requires grad", "subclass", "conjugate"])
def test_lists(kind: str, count: int) -> None:
    for call in (
        lambda module, x: module.rearrange(x, "k a b -> a b k"),
        lambda module, x: module.reduce(x, "k a b -> a b", "sum"),
        lambda module, x: module.reduce(x, "k a b -> b", lambda t, axes: t.sum(axes)),
        lambda module, x: module.repeat(x, "k a b -> k a 2 b"),
    ):
        _, found = differences(
            call, lambda: [KINDS[kind]() for _ in range(count)], lambda r, t: facts(r, t[0])
        )
        assert not found


def test_views_write_through() -> None:
    owner = numbers()
    einrs.rearrange(owner, "(a c) b -> c b a", c=2)[1, 2, 0] = 99
    assert owner[1, 2] == 99
    einrs.repeat(owner, "a b -> a 1 b").mul_(0)
    assert owner.abs().sum() == 0


def test_functions_that_a_subclass_sees() -> None:
    """A subclass may know only the methods: those that einops calls, in the same order.

    einrs makes one reshape of two that follow each other.
    """
    fine = 0
    for label, call in OPERATIONS.items():
        seen: list[list[str]] = []
        for module in (einops, einrs):
            tensor = KINDS["with __torch_function__"]()
            Logged.calls.clear()
            try:
                call(module, tensor)
            except (RuntimeError, NotImplementedError):
                continue
            names = (name for name in Logged.calls if name not in ("__get__", "dim", "size"))
            seen.append([name for name, _ in itertools.groupby(names)])
        assert not seen or seen[0] == seen[1], label
        fine += len(seen) == 2
    assert fine


def test_a_subclass_with_a_method_of_its_own() -> None:
    class Stubborn(torch.Tensor):
        def reshape(self, *shape: Any) -> Any:
            return super().reshape(*shape) + 100

    tensor = numbers().as_subclass(Stubborn)
    theirs = einops.rearrange(tensor, "(a c) b -> c b a", c=2)
    ours = einrs.rearrange(tensor, "(a c) b -> c b a", c=2)
    assert torch.equal(ours.as_subclass(torch.Tensor), theirs.as_subclass(torch.Tensor))
