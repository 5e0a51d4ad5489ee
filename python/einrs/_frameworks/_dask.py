"""dask's arrays: its methods, which leave lazy arrays and chunks, in einops' order."""

from __future__ import annotations

import sys
from typing import Any

from .._errors import EinopsError
from .._readable import Shape
from . import _numpy_like
from ._numpy_like import no_symbols, of_namespace, permute, reduce, shape

__all__ = ["concat", "einsum", "is_symbol", "permute", "reduce", "shape", "stack"]

da = sys.modules["dask.array"]

LEAN = False
"""As einops: dask refuses a reshape that both splits and joins axes, such as a lean one."""

is_symbol = no_symbols
_view, stack, concat, einsum = of_namespace(da)


def owns(kind: type) -> bool:
    """Whether a type is the array or a subclass of it."""
    return issubclass(kind, da.Array)


def reshape(tensor: Any, shape: Shape) -> Any:
    """By the method, which rechunks only axes that are joined, and fails where there is nothing."""
    _check_known(tensor)
    if 0 in shape:
        return da.empty_like(tensor, shape=shape)
    return _numpy_like.reshape(tensor, shape)


def expand(tensor: Any, shape: Shape, added: tuple[int, ...]) -> Any:
    """Each chunk by itself; a new axis is in one chunk."""
    _check_known(tensor)
    return _view(tensor, shape, added)


def to_numpy(tensor: Any) -> Any:
    """The values, computed."""
    return sys.modules["numpy"].asarray(tensor)


def _check_known(tensor: Any) -> None:
    if any(size != size for size in tensor.shape):
        raise EinopsError(
            f"the dask array has a size that is not known: {tensor.shape}"
            "\n call its method compute_chunk_sizes() before"
        )
