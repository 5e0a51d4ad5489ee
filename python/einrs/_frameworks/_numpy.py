"""numpy's arrays: what the native way leaves to numpy's own methods, in einops' order."""

from __future__ import annotations

import sys
from typing import Any

from .. import _einrs
from .._readable import Shape
from ._numpy_like import no_symbols
from ._numpy_like import permute as permute
from ._numpy_like import reduce as reduce
from ._numpy_like import reshape as reshape
from ._numpy_like import shape as shape

np = sys.modules["numpy"]

LEAN = False

# Methods, which subclasses override.
is_symbol = no_symbols


def owns(kind: type) -> bool:
    """Whether a type is an array, or a subclass such as a matrix or a masked array."""
    return issubclass(kind, np.ndarray)


def expand(tensor: Any, shape: Shape, added: tuple[int, ...]) -> Any:
    """By `tile`, which always copies."""
    for axis in added:
        tensor = np.expand_dims(tensor, axis)
    return np.tile(tensor, tuple([shape[i] if i in added else 1 for i in range(len(shape))]))


def stack(tensors: list[Any]) -> Any:
    """Along a new first axis."""
    return np.stack(tensors)


def concat(tensors: list[Any], axis: int) -> Any:
    """One after the other."""
    return np.concatenate(tensors, axis)


def einsum(pattern: str, *tensors: Any) -> Any:
    """By `np.einsum`, in its default order of contraction."""
    return np.einsum(pattern, *tensors)


def to_numpy(tensor: Any) -> Any:
    """The array itself."""
    return tensor


def _register() -> None:
    """Hands numpy's C functions to the extension, which then makes views by itself."""
    core = "numpy._core" if hasattr(np, "_core") else "numpy.core"
    table = sys.modules[f"{core}._multiarray_umath"]._ARRAY_API
    reductions = {
        "min": np.minimum.reduce,
        "max": np.maximum.reduce,
        "sum": np.add.reduce,
        "prod": np.multiply.reduce,
        "any": np.logical_or.reduce,
        "all": np.logical_and.reduce,
    }
    _einrs.register_numpy(np.ndarray, table, reductions, np.true_divide)
    _einrs.register_joins(
        np.ndarray,
        reshape=np.ndarray.reshape,
        concat=np.concatenate,
        einsum=lambda letters: (np.einsum, (letters,)),
        to_numpy=to_numpy,
    )


_register()
