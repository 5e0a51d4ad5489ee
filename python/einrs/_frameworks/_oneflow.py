"""oneflow's tensors: its methods, one reduced axis at a time, in einops' order."""

from __future__ import annotations

import sys
from typing import Any

from .._errors import not_floating
from .._readable import Shape
from ._numpy_like import no_symbols, reshape, shape

__all__ = ["is_symbol", "reshape", "shape"]

flow = sys.modules["oneflow"]

LEAN = False

FLOATING = (flow.float16, flow.float32, flow.float64)
"""The dtypes that have a mean, as in einops."""

is_symbol = no_symbols


def owns(kind: type) -> bool:
    """Whether a type is a tensor, parameters and subclasses included."""
    return issubclass(kind, flow.Tensor)


def permute(tensor: Any, axes: tuple[int, ...]) -> Any:
    """By the method."""
    return tensor.permute(axes)


def reduce(tensor: Any, name: str, axes: tuple[int, ...]) -> Any:
    """By the methods, axis by axis, last first; `min` and `max` give the places as well."""
    if name == "mean" and tensor.dtype not in FLOATING:
        raise not_floating(tensor.dtype)
    for axis in sorted(axes, reverse=True):
        reduced = getattr(tensor, name)(dim=axis)
        tensor = reduced[0] if name in ("min", "max") else reduced
    return tensor


def expand(tensor: Any, shape: Shape, added: tuple[int, ...]) -> Any:
    """A view that repeats elements in memory; -1 keeps an axis as it is."""
    for axis in added:
        tensor = flow.unsqueeze(tensor, axis)
    return tensor.expand(*[shape[i] if i in added else -1 for i in range(len(shape))])


def stack(tensors: list[Any]) -> Any:
    """Along a new first axis."""
    return flow.stack(tensors)


def concat(tensors: list[Any], axis: int) -> Any:
    """One after the other."""
    return flow.concat(tensors, dim=axis)


def einsum(pattern: str, *tensors: Any) -> Any:
    """By `oneflow.einsum`."""
    return flow.einsum(pattern, *tensors)


def to_numpy(tensor: Any) -> Any:
    """The values without their gradient, copied from another device."""
    return tensor.detach().cpu().numpy()
