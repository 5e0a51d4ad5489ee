"""mlx's arrays: numpy's methods and functions, evaluated when a value is asked for."""

from __future__ import annotations

import sys
from typing import Any

from .._errors import not_floating
from ._numpy_like import no_symbols, of_namespace, permute, reshape, shape

__all__ = ["concat", "einsum", "expand", "is_symbol", "permute", "reshape", "shape", "stack"]

mx = sys.modules["mlx.core"]

LEAN = False

is_symbol = no_symbols
expand, stack, concat, einsum = of_namespace(mx)


def owns(kind: type) -> bool:
    """Whether a type is the array."""
    return issubclass(kind, mx.array)


def reduce(tensor: Any, name: str, axes: tuple[int, ...]) -> Any:
    """By the method of that name, all axes at once."""
    if name == "mean" and not mx.issubdtype(tensor.dtype, mx.floating):
        raise not_floating(tensor.dtype)
    return getattr(tensor, name)(axis=axes)


def to_numpy(tensor: Any) -> Any:
    """The values; those of bfloat16, which numpy lacks, as float32."""
    import numpy

    return numpy.array(tensor.astype(mx.float32) if tensor.dtype == mx.bfloat16 else tensor)
