"""torch.fx's proxies, which stand for tensors of any shape: torch's methods, recorded as nodes."""

from __future__ import annotations

import sys
from typing import Any

from .. import _einrs
from .._errors import EinopsError
from .._readable import Shape
from ._dims import Dim, open_shape, value
from ._torch import concat, einsum, expand, permute, stack

__all__ = ["concat", "einsum", "expand", "permute", "stack"]

torch = sys.modules["torch"]
Proxy = torch.fx.Proxy

LEAN = False

NO_RANK = (
    "a torch.fx.Proxy has no rank while it is traced"
    "\n write all axes instead of '...', or read the shape outside of the traced function"
)


def owns(kind: type) -> bool:
    """Whether a type is a proxy."""
    return issubclass(kind, Proxy)


def is_symbol(length: Any) -> bool:
    """A size that was read from a proxy."""
    return isinstance(length, Proxy)


class ProxyDim(Dim):
    """A size of a proxy, which becomes a node where it is an argument of one."""

    def __fx_create_arg__(self, tracer: Any) -> Any:
        return tracer.create_arg(self.value())


class _Sizes:
    """The sizes of a proxy, each read by a node of its own and only if it is asked for."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor

    def __getitem__(self, axis: int) -> Any:
        return self.tensor.size(axis)


def shape_of_rank(tensor: Any, rank: int | None) -> Shape:
    """Sizes that become nodes when they are used; the pattern says how many there are."""
    if rank is None:
        raise EinopsError(NO_RANK)
    return open_shape(tensor, [None] * rank, _Sizes, ProxyDim)  # type: ignore[arg-type]


def shape(tensor: Any) -> Shape:  # noqa: ARG001
    """Not known without a pattern."""
    raise EinopsError(NO_RANK)


def as_one_node(function: str, tensors: Any, *arguments: Any, **lengths: Any) -> Any:
    """The call itself as a node, for a pattern that takes tensors of any rank."""
    tensor = tensors[0] if isinstance(tensors, list) else tensors
    called = getattr(_einrs, function)
    return tensor.tracer.create_proxy("call_function", called, (tensors, *arguments), lengths)


def visible(size: Any) -> Any:
    """A size as the caller sees it: a proxy."""
    return value(size)


def reshape(tensor: Any, shape: Shape) -> Any:
    """By the method, with all sizes spelt out, so that wrong ones fail when the graph runs."""
    return tensor.reshape(shape)


def reduce(tensor: Any, name: str, axes: tuple[int, ...]) -> Any:
    """By the methods that einops calls; a dtype without a mean fails when the graph runs."""
    if name in ("prod", "any", "all"):
        for axis in reversed(axes):
            tensor = getattr(tensor, name)(dim=axis)
        return tensor
    return getattr(tensor, {"min": "amin", "max": "amax"}.get(name, name))(dim=axes)


def to_numpy(tensor: Any) -> Any:  # noqa: ARG001
    """A proxy has no values."""
    raise EinopsError("a torch.fx.Proxy has no values while it is traced")
