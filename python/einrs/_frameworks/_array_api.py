"""Arrays of the array API standard: its functions, with tuples, and nothing else."""

from __future__ import annotations

from typing import Any

from .._readable import Shape

LEAN = True


def shape(tensor: Any) -> Shape:
    """The sizes."""
    return tuple(tensor.shape)


def reshape(tensor: Any, shape: Shape) -> Any:
    """By `reshape`, which copies only where it must."""
    return tensor.__array_namespace__().reshape(tensor, shape)


def permute(tensor: Any, axes: tuple[int, ...]) -> Any:
    """By `permute_dims`."""
    return tensor.__array_namespace__().permute_dims(tensor, axes)


def reduce(tensor: Any, name: str, axes: tuple[int, ...]) -> Any:
    """By the function of that name; the standard says which dtypes it is defined for."""
    return getattr(tensor.__array_namespace__(), name)(tensor, axis=axes)


def expand(tensor: Any, shape: Shape, added: tuple[int, ...]) -> Any:
    """By `broadcast_to`, which may give a view."""
    namespace = tensor.__array_namespace__()
    for axis in added:
        tensor = namespace.expand_dims(tensor, axis=axis)
    return namespace.broadcast_to(tensor, shape)


def stack(tensors: list[Any]) -> Any:
    """Along a new first axis."""
    return tensors[0].__array_namespace__().stack(tensors, axis=0)
