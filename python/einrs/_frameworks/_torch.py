"""torch's tensors: programs of torch functions for exact types, methods for all others."""

from __future__ import annotations

import operator
import sys
from typing import Any

from .. import _einrs
from .._errors import not_floating
from .._readable import Shape

torch = sys.modules["torch"]

LEAN = False

FLOATING = (torch.float16, torch.float32, torch.float64, torch.bfloat16)
"""The dtypes that have a mean, as in einops."""

FUNCTIONS = {
    "min": torch.amin,
    "max": torch.amax,
    "sum": torch.sum,
    "mean": torch.mean,
    "prod": torch.prod,
    "any": torch.any,
    "all": torch.all,
}

ONE_AXIS_AT_A_TIME = ("prod", "any", "all")
"""einops reduces these axis by axis, last first; `prod` takes no tuple of axes in any torch."""


def owns(kind: type) -> bool:
    """Whether a type is a tensor, parameters and subclasses included."""
    return issubclass(kind, torch.Tensor)


def is_symbol(length: Any) -> bool:
    """Symbolic integers, and tensors that stand for a size of a traced program."""
    if not isinstance(length, torch.Tensor):
        return isinstance(length, torch.SymInt)
    if type(length) is not torch.Tensor or torch.jit.is_tracing():
        return True
    try:
        operator.index(length)
    except TypeError:
        return False
    except RuntimeError:
        # Under vmap and the like a tensor has no value.
        return True
    return False


def shape(tensor: Any) -> Shape:
    """The sizes, which may be symbols. The type is kept: its name is part of einops' messages."""
    return tensor.shape  # type: ignore[no-any-return]


def reshape(tensor: Any, shape: Shape) -> Any:
    """By the method, which subclasses and modes see."""
    return tensor.reshape(shape)


def permute(tensor: Any, axes: tuple[int, ...]) -> Any:
    """By the method, which subclasses and modes see."""
    return tensor.permute(axes)


def reduce(tensor: Any, name: str, axes: tuple[int, ...]) -> Any:
    """By the methods that einops calls."""
    if name == "mean" and tensor.dtype not in FLOATING:
        raise not_floating(tensor.dtype)
    if name in ONE_AXIS_AT_A_TIME:
        for axis in reversed(axes):
            tensor = getattr(tensor, name)(dim=axis)
        return tensor
    method = {"min": "amin", "max": "amax"}.get(name, name)
    return getattr(tensor, method)(dim=axes)


def expand(tensor: Any, shape: Shape, added: tuple[int, ...]) -> Any:
    """A view that repeats elements in memory; -1 keeps an axis as it is."""
    for axis in added:
        tensor = torch.unsqueeze(tensor, axis)
    return tensor.expand([shape[i] if i in added else -1 for i in range(len(shape))])


def stack(tensors: list[Any]) -> Any:
    """Along a new first axis."""
    return torch.stack(tensors)


def concat(tensors: list[Any], axis: int) -> Any:
    """One after the other."""
    return torch.cat(tensors, axis)


def einsum(pattern: str, *tensors: Any) -> Any:
    """By `torch.einsum`."""
    return torch.einsum(pattern, *tensors)


def to_numpy(tensor: Any) -> Any:
    """The values without their gradient, copied from another device."""
    return tensor.detach().cpu().numpy()


def program(
    operation: str,  # noqa: ARG001
    pattern: str,  # noqa: ARG001
    names: tuple[str, ...],  # noqa: ARG001
    lengths: tuple[int, ...],  # noqa: ARG001
    reduction: str | None,
    recipe: _einrs.Recipe,
) -> tuple[list[tuple[Any, Any]], tuple[Any, ...]]:
    """The calls for a recipe: torch functions with a tuple, the cheapest way into torch.

    Returns:
        Pairs of a callable and its second argument ("split", "expand" and "merge" stand for a
        shape that is bound at each call), and the dtypes that the program is for.

    """
    _, _, split, permute, reduce, expand, merge = recipe
    steps: list[tuple[Any, Any]] = []
    if split is not None:
        steps.append((torch.reshape, "split"))
    if permute is not None:
        steps.append((torch.permute, permute))
    if reduce is not None and reduction is not None:
        function = FUNCTIONS[reduction]
        one_by_one = reduction in ONE_AXIS_AT_A_TIME
        axes = reversed(reduce) if one_by_one else [reduce]
        steps.extend((function, axis) for axis in axes)
    if expand is not None:
        steps.append((torch.broadcast_to, "expand"))
    if merge is not None:
        steps.append((torch.reshape, "merge"))
    return steps, FLOATING if reduction == "mean" else ()


_einrs.register_steps(
    (torch.Tensor, torch.nn.Parameter),
    program,
    reduce_in_place=False,
    fold_new_axes=True,
    keyed_by_lengths=False,
)
_einrs.register_joins(
    torch.Tensor,
    reshape=torch.reshape,
    concat=torch.cat,
    einsum=lambda letters: (torch.einsum, (letters,)),
    to_numpy=to_numpy,
)
