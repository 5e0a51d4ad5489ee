"""Turns a case into a tensor of numpy, torch or jax, and a result into facts to agree on."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any

from einrs.testing import NUMPY_MENU, Case, Menu, build_array


@dataclass(frozen=True)
class Framework:
    """How one framework makes a case's tensor and how its results are compared."""

    name: str
    menu: Menu
    build: Callable[[Case], Any]
    # Whatever two equal results must have in common, the values apart.
    describe: Callable[[Any], dict[str, object]]
    # Whether a result lies in the memory of the tensor it was made from.
    shares: Callable[[Any, Any], bool]
    same_values: Callable[[Any, Any, Case], bool]


def long_strides(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, ...]:
    """The strides that reach an element.

    Nothing is read through the stride of an axis of length 1, nor through any stride of an empty
    array; numpy and torch leave them unspecified, and versions of them differ in what they hold.
    """
    if 0 in shape:
        return ()
    return tuple(stride for n, stride in zip(shape, strides, strict=True) if n > 1)


# --- numpy


def _describe_numpy(result: Any) -> dict[str, object]:
    import numpy

    facts: dict[str, object] = {"type": type(result)}
    if isinstance(result, numpy.generic):
        facts |= {"dtype": result.dtype}
    elif isinstance(result, numpy.ndarray):
        facts |= {
            "shape": result.shape,
            "dtype": result.dtype,
            "strides": long_strides(result.shape, result.strides),
            # There is nothing to write to in an empty array; numpy.tile gives it the source's flag.
            "writeable": result.flags.writeable or result.size == 0,
        }
    return facts


def _shares_numpy(result: Any, tensor: Any) -> bool:
    import numpy

    # The bounds tell: a result is a view of the tensor or lies in memory of its own.
    return isinstance(result, numpy.ndarray) and numpy.may_share_memory(result, tensor)


def _same_numpy(one: Any, other: Any, case: Case) -> bool:
    import numpy

    if not isinstance(one, (numpy.ndarray, numpy.generic)):
        return bool(one == other)
    if isinstance(one, numpy.ma.MaskedArray):
        masks = [numpy.ma.getmaskarray(array).tobytes() for array in (one, other)]
        if masks[0] != masks[1]:
            return False
        one, other = numpy.ma.getdata(one), numpy.ma.getdata(other)
    if one.dtype.hasobject:
        return bool(one.tolist() == other.tolist())
    if one.dtype.char in "gG":
        # A long double has padding bytes.
        return numpy.array_equal(one, other, equal_nan=True)
    return one.tobytes() == other.tobytes()


# --- torch

TORCH_MENU = Menu(
    dtypes=(
        *("float32", "float64", "int64", "float32", "bool", "uint8", "int8", "int32"),
        *("float16", "bfloat16", "complex64", "float8_e4m3fn"),
    ),
    layouts=(
        *("C", "C", "C", "C", "F", "transposed", "sliced", "broadcast"),
        *("C", "C", "list", "parameter", "grad", "conjugate", "subclass"),
    ),
)


def _build_torch(case: Case) -> Any:
    if case.layout == "list" and case.shape:
        return [part.clone() for part in _torch_values(case.shape, case.dtype)]
    return _torch_layout(case)


def _torch_values(shape: tuple[int, ...], dtype: str) -> Any:
    import torch

    numbers = torch.arange(prod(shape)) * 37 % 101 - 50
    kind = getattr(torch, dtype)
    if kind == torch.bool:
        numbers = numbers % 3 == 0
    elif kind.is_complex:
        numbers = numbers * complex(1 / 7, 2)
    elif kind.is_floating_point:
        numbers = numbers / 7
    return numbers.to(kind).reshape(shape)


def _torch_layout(case: Case) -> Any:
    shape, rank = case.shape, len(case.shape)
    if case.layout == "F":
        return _torch_values(shape[::-1], case.dtype).permute(tuple(range(rank))[::-1])
    if case.layout == "transposed" and shape:
        return _torch_values(shape[1:] + shape[:1], case.dtype).movedim(-1, 0)
    if case.layout == "sliced" and shape:
        return _torch_values((*shape[:-1], 2 * shape[-1] + 1), case.dtype)[..., 1::2]
    if case.layout == "broadcast":
        axis = next((axis for axis, n in enumerate(shape) if n > 1), None)
        stored = tuple(1 if place == axis else n for place, n in enumerate(shape))
        return _torch_values(stored, case.dtype).expand(shape)
    return _torch_kind(_torch_values(shape, case.dtype), case.layout)


def _torch_kind(tensor: Any, layout: str) -> Any:
    import torch

    differentiable = tensor.is_floating_point() or tensor.is_complex()
    if layout == "parameter":
        return torch.nn.Parameter(tensor, requires_grad=differentiable)
    if layout == "grad" and differentiable:
        return tensor.requires_grad_()
    if layout == "conjugate" and tensor.is_complex():
        return tensor.conj()
    if layout == "subclass":
        return tensor.as_subclass(_torch_subclass())
    return tensor


@cache
def _torch_subclass() -> type[Any]:
    import torch

    class Subclass(torch.Tensor):
        """A tensor by inheritance only."""

    return Subclass


def _describe_torch(result: Any) -> dict[str, object]:
    import torch

    if not isinstance(result, torch.Tensor):
        return _describe_numpy(result)
    shape = tuple(result.shape)
    return {
        "type": type(result),
        "shape": shape,
        "dtype": result.dtype,
        "strides": long_strides(shape, result.stride()),
        "requires_grad": result.requires_grad,
        "conjugate": result.is_conj(),
    }


def _shares_torch(result: Any, tensor: Any) -> bool:
    import numpy

    if isinstance(result, numpy.ndarray):
        return result.size > 0 and result.__array_interface__["data"][0] == tensor.data_ptr()
    storages = result.untyped_storage(), tensor.untyped_storage()
    return len(storages[0]) > 0 and storages[0].data_ptr() == storages[1].data_ptr()


def _same_torch(one: Any, other: Any, case: Case) -> bool:
    import torch

    if not isinstance(one, torch.Tensor):
        return _same_numpy(one, other, case)
    if one.dtype != torch.float8_e4m3fn and torch.equal(one, other):
        return True
    # Bytes, since a NaN is not equal to itself and the 8-bit floats cannot be compared.
    # A clone, since a single element is contiguous with any stride.
    dense = {"memory_format": torch.contiguous_format}
    pair = [tensor.detach().resolve_conj().reshape(-1).clone(**dense) for tensor in (one, other)]
    return torch.equal(*[tensor.view(torch.uint8) for tensor in pair])


# --- jax

# Every new shape is compiled, for 50 ms and more: few shapes, and small ones.
JAX_MENU = Menu(
    dtypes=("float32", "float32", "int32", "bool", "uint8", "float16", "bfloat16", "complex64"),
    layouts=("C", "C", "C", "C", "C", "list"),
    sizes=(2, 1, 2, 3, 2, 1, 2, 0),
    elements=24,
)


def _build_jax(case: Case) -> Any:
    import jax.numpy

    if case.layout == "list" and case.shape:
        return [jax.numpy.asarray(part) for part in _jax_values(case)]
    return jax.numpy.asarray(_jax_values(case))


def _jax_values(case: Case) -> Any:
    import jax.numpy
    import numpy

    numbers = numpy.arange(prod(case.shape)) * 37 % 101 - 50
    dtype = jax.numpy.dtype(case.dtype)
    divided = numbers / 7 if jax.numpy.issubdtype(dtype, jax.numpy.inexact) else numbers
    return divided.astype(dtype).reshape(case.shape)


def _describe_jax(result: Any) -> dict[str, object]:
    import jax

    if not isinstance(result, jax.Array):
        return _describe_numpy(result)
    return {
        "type": type(result),
        "shape": result.shape,
        "dtype": result.dtype,
        "weak_type": result.weak_type,
    }


def _shares_jax(result: Any, tensor: Any) -> bool:
    """Nobody can write to a jax array, so nobody can tell."""
    return False


def _same_jax(one: Any, other: Any, case: Case) -> bool:
    import jax.numpy
    import numpy

    pair = [numpy.asarray(array) for array in (one, other)]
    adds = case.reduction in ("sum", "mean", "prod") or case.op == "einsum"
    rounded = adds and jax.numpy.issubdtype(pair[0].dtype, jax.numpy.inexact)
    if not rounded:
        return pair[0].tobytes() == pair[1].tobytes()
    # XLA sums in another order when the steps are compiled together.
    tolerance = 32 * float(jax.numpy.finfo(pair[0].dtype).eps)
    wide = [array.astype(numpy.complex128) for array in pair]
    return numpy.allclose(wide[0], wide[1], rtol=tolerance, atol=tolerance, equal_nan=True)


FRAMEWORKS = {
    framework.name: framework
    for framework in (
        Framework("numpy", NUMPY_MENU, build_array, _describe_numpy, _shares_numpy, _same_numpy),
        Framework("torch", TORCH_MENU, _build_torch, _describe_torch, _shares_torch, _same_torch),
        Framework("jax", JAX_MENU, _build_jax, _describe_jax, _shares_jax, _same_jax),
    )
}
