"""Arrays of the array API standard: its functions, with tuples, and nothing else."""

from __future__ import annotations

from typing import Any

from .._readable import Shape
from . import _matmul_einsum

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


def concat(tensors: list[Any], axis: int) -> Any:
    """By `concat`."""
    return tensors[0].__array_namespace__().concat(tensors, axis=axis)


def einsum(pattern: str, *tensors: Any) -> Any:
    """By `einsum` where the namespace has one, which is not in the standard, or by matmul."""
    namespace = tensors[0].__array_namespace__()
    if hasattr(namespace, "einsum"):
        return namespace.einsum(pattern, *tensors)
    return _matmul_einsum.einsum(namespace, pattern, *tensors)


def to_numpy(tensor: Any) -> Any:
    """The values: by numpy's own protocol where the array speaks it, or by that of the standard."""
    import numpy

    return numpy.asarray(tensor) if hasattr(tensor, "__array__") else numpy.from_dlpack(tensor)
