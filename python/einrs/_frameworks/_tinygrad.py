"""tinygrad's tensors: lazy operations, with sizes that may be bound variables."""

from __future__ import annotations

import sys
from typing import Any

from .._errors import not_floating
from .._readable import Shape
from ._numpy_like import reshape, shape

__all__ = ["reshape", "shape"]

tinygrad = sys.modules["tinygrad"]

LEAN = False


def owns(kind: type) -> bool:
    """Whether a type is the tensor or a subclass of it."""
    return issubclass(kind, tinygrad.Tensor)


def is_symbol(length: Any) -> bool:
    """Variables and expressions of them."""
    return isinstance(length, tinygrad.UOp)


def permute(tensor: Any, axes: tuple[int, ...]) -> Any:
    """By the method."""
    return tensor.permute(axes)


def reduce(tensor: Any, name: str, axes: tuple[int, ...]) -> Any:
    """By the method of that name, axis by axis, last first, as einops does."""
    if name == "mean" and not tinygrad.dtypes.is_float(tensor.dtype):
        raise not_floating(tensor.dtype)
    for axis in sorted(axes, reverse=True):
        tensor = getattr(tensor, name)(axis=axis)
    return tensor


def expand(tensor: Any, shape: Shape, added: tuple[int, ...]) -> Any:
    """Without copying."""
    for axis in added:
        tensor = tensor.unsqueeze(axis)
    return tensor.expand(shape)


def stack(tensors: list[Any]) -> Any:
    """Along a new first axis; tinygrad asserts that the shapes are equal."""
    try:
        return tensors[0].stack(*tensors[1:])
    except AssertionError as error:
        raise ValueError(str(error)) from error


def concat(tensors: list[Any], axis: int) -> Any:
    """One after the other."""
    return tensors[0].cat(*tensors[1:], dim=axis)


def einsum(pattern: str, *tensors: Any) -> Any:
    """By `Tensor.einsum`."""
    return tinygrad.Tensor.einsum(pattern, *tensors)


def to_numpy(tensor: Any) -> Any:
    """The values, computed and copied from the device."""
    return tensor.numpy()
