"""What modules of frameworks share whose tensors have numpy's methods: the steps made of these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._errors import not_floating
from .._readable import Shape

FLOATING = ("float16", "float32", "float64", "float128", "bfloat16")
"""Names of the dtypes that have a mean, as in einops: byte-swapped and complex ones have none."""


def shape(tensor: Any) -> Shape:
    """The sizes."""
    return tuple(tensor.shape)


def reshape(tensor: Any, shape: Shape) -> Any:
    """By the method."""
    return tensor.reshape(shape)


def permute(tensor: Any, axes: tuple[int, ...]) -> Any:
    """By the method `transpose`."""
    return tensor.transpose(axes)


def reduce(tensor: Any, name: str, axes: tuple[int, ...]) -> Any:
    """By the method of that name, all axes at once."""
    if name == "mean" and tensor.dtype not in FLOATING:
        raise not_floating(tensor.dtype)
    return getattr(tensor, name)(axis=axes)


def no_symbols(length: Any) -> bool:  # noqa: ARG001
    """`is_symbol` of a framework whose integers are integers."""
    return False


Functions = tuple[
    Callable[[Any, Shape, tuple[int, ...]], Any],
    Callable[[list[Any]], Any],
    Callable[[list[Any], int], Any],
    Callable[..., Any],
]


def of_namespace(namespace: Any) -> Functions:
    """`expand`, `stack`, `concat` and `einsum` by the functions of a namespace like numpy's."""

    def expand(tensor: Any, shape: Shape, added: tuple[int, ...]) -> Any:
        for axis in added:
            tensor = namespace.expand_dims(tensor, axis)
        return namespace.broadcast_to(tensor, shape)

    def stack(tensors: list[Any]) -> Any:
        return namespace.stack(tensors)

    def concat(tensors: list[Any], axis: int) -> Any:
        return namespace.concatenate(tensors, axis)

    def einsum(pattern: str, *tensors: Any) -> Any:
        return namespace.einsum(pattern, *tensors)

    return expand, stack, concat, einsum
