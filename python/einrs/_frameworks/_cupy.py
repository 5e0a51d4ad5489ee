"""cupy's arrays: numpy's methods and functions on a GPU, in einops' order."""

from __future__ import annotations

import sys
from typing import Any

from .._readable import Shape
from ._numpy_like import no_symbols, of_namespace, permute, reduce, reshape, shape

__all__ = ["concat", "einsum", "is_symbol", "permute", "reduce", "reshape", "shape", "stack"]

cupy = sys.modules["cupy"]

LEAN = False

is_symbol = no_symbols
_view, stack, concat, einsum = of_namespace(cupy)


def owns(kind: type) -> bool:
    """Whether a type is an array or a subclass of it."""
    return issubclass(kind, cupy.ndarray)


def expand(tensor: Any, shape: Shape, added: tuple[int, ...]) -> Any:
    """A copy: a view could be written to, and would then change in several places."""
    return _view(tensor, shape, added).copy()


def to_numpy(tensor: Any) -> Any:
    """The values, copied from the device."""
    return cupy.asnumpy(tensor)
