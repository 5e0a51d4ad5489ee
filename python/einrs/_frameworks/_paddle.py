"""paddle's tensors and the values of its static graphs: its methods, in einops' order."""

from __future__ import annotations

import sys
from typing import Any

from .._errors import not_floating
from .._readable import Shape
from ._numpy_like import permute

__all__ = ["permute"]

paddle = sys.modules["paddle"]

LEAN = False

FLOATING = (paddle.float16, paddle.float32, paddle.float64, paddle.bfloat16)
"""The dtypes that have a mean: einops leaves bfloat16 out, which paddle averages on a GPU."""

GRAPH = (paddle.static.Variable, *([paddle.pir.Value] if hasattr(paddle, "pir") else []))
"""The types of what a static graph computes, with a size of -1 where it is not known."""


def owns(kind: type) -> bool:
    """Whether a type is a tensor, a parameter, or a value of a static graph."""
    return issubclass(kind, (paddle.Tensor, *GRAPH))


def is_symbol(length: Any) -> bool:
    """Values of a static graph: what they hold is known when the graph runs."""
    return isinstance(length, GRAPH)


def shape(tensor: Any) -> Shape:
    """The sizes: integers where they are known, values of the graph elsewhere."""
    sizes = tuple(tensor.shape)
    unknown = [isinstance(size, int) and size < 0 for size in sizes]
    if not any(unknown):
        return sizes
    symbols = paddle.shape(tensor)
    return tuple([symbols[i] if unknown[i] else size for i, size in enumerate(sizes)])


def reshape(tensor: Any, shape: Shape) -> Any:
    """By the method, which takes integers beside values of the graph."""
    return tensor.reshape(list(shape))


def reduce(tensor: Any, name: str, axes: tuple[int, ...]) -> Any:
    """By the method of that name; before 2.5 paddle left an axis where none should be."""
    if name == "mean" and tensor.dtype not in FLOATING:
        raise not_floating(tensor.dtype)
    reduced = getattr(tensor, name)(axis=axes)
    return reduced.squeeze(0) if reduced.ndim > tensor.ndim - len(axes) else reduced


def expand(tensor: Any, shape: Shape, added: tuple[int, ...]) -> Any:
    """By the method `expand`; -1 keeps an axis as it is."""
    for axis in added:
        tensor = tensor.unsqueeze(axis)
    return tensor.expand([shape[i] if i in added else -1 for i in range(len(shape))])


def stack(tensors: list[Any]) -> Any:
    """Along a new first axis."""
    return paddle.stack(tensors)


def concat(tensors: list[Any], axis: int) -> Any:
    """One after the other."""
    return paddle.concat(tensors, axis)


def einsum(pattern: str, *tensors: Any) -> Any:
    """By `paddle.einsum`."""
    return paddle.einsum(pattern, *tensors)


def to_numpy(tensor: Any) -> Any:
    """The values without their gradient; those of bfloat16 as paddle gives them, in uint16."""
    return tensor.detach().numpy()
