"""Keras 3's symbolic tensors and variables, on any of its backends: the functions of keras.ops."""

from __future__ import annotations

import sys
from typing import Any

from .._errors import EinopsError, not_floating
from .._readable import Shape
from ._dims import Dim, open_shape, with_inferred

keras = sys.modules["keras"]
ops = keras.ops

LEAN = False
"""As in tensorflow's graphs: each split is a reshape of its own, which checks sizes."""

FLOATING = ("float16", "float32", "float64", "bfloat16")
"""Names of the dtypes that have a mean, as on the other frameworks."""


def owns(kind: type) -> bool:
    """Whether a type is a symbolic tensor or a variable; all else is the backend's."""
    return issubclass(kind, (keras.KerasTensor, keras.Variable))


def is_symbol(length: Any) -> bool:
    """Open sizes of a model's input."""
    return isinstance(length, Dim)


def shape(tensor: Any) -> Shape:
    """The sizes; the open ones are computed with, but never have a value."""
    return open_shape(tensor, tensor.shape, lambda _: ())


def visible(size: Any) -> Any:
    """A size as it is handed to the caller: an open one as keras shows it."""
    return None if isinstance(size, Dim) else size


def reshape(tensor: Any, shape: Shape) -> Any:
    """By -1 for an open size; keras has no other way to name one."""
    inferred = with_inferred(shape)
    if inferred is None:
        raise EinopsError(
            f"keras cannot reshape {tuple(tensor.shape)} to {shape}: it infers one open size "
            "(None), which must depend on all open sizes of the input and divide without remainder"
            "\n give the other sizes when the Input is made, or call einrs in a Layer's call"
        )
    return ops.reshape(tensor, inferred)


def permute(tensor: Any, axes: tuple[int, ...]) -> Any:
    """One transpose."""
    return ops.transpose(tensor, axes)


def reduce(tensor: Any, name: str, axes: tuple[int, ...]) -> Any:
    """By the function of `keras.ops`."""
    dtype = keras.backend.standardize_dtype(tensor.dtype)
    if name == "mean" and dtype not in FLOATING:
        raise not_floating(dtype)
    return getattr(ops, name)(tensor, axis=axes)


def expand(tensor: Any, shape: Shape, added: tuple[int, ...]) -> Any:
    """By `tile`, for which open sizes need not be named."""
    for axis in added:
        tensor = ops.expand_dims(tensor, axis)
    return ops.tile(tensor, tuple([shape[i] if i in added else 1 for i in range(len(shape))]))


def stack(tensors: list[Any]) -> Any:
    """Along a new first axis."""
    return ops.stack(_read(tensors))


def concat(tensors: list[Any], axis: int) -> Any:
    """One after the other."""
    return ops.concatenate(_read(tensors), axis)


def split(tensor: Any, axis: int, lengths: list[Any]) -> list[Any]:
    """Refuses: keras' functions that split take numbers, and let slices be too short."""
    raise EinopsError(
        f"keras cannot unpack axis {axis} of {tuple(tensor.shape)} to lengths {lengths}: its size "
        "is open (None)\n give it when the Input is made, or call einrs in a Layer's call"
    )


def einsum(pattern: str, *tensors: Any) -> Any:
    """By `keras.ops.einsum`."""
    return ops.einsum(pattern, *tensors)


def to_numpy(tensor: Any) -> Any:
    """The values of a variable; symbolic tensors have none."""
    if isinstance(tensor, keras.KerasTensor):
        raise EinopsError("a symbolic tensor of keras has no values")
    return ops.convert_to_numpy(tensor)


def _read(tensors: list[Any]) -> list[Any]:
    """Variables as tensors: not every backend joins lists of variables."""
    variable = keras.Variable
    return [t.value if isinstance(t, variable) else t for t in tensors]
