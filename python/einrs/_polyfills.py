"""The builtins as Dynamo traces them: the same calls, by the readable replay.

A tensor under Dynamo is torch's, or a numpy array that Dynamo traces as one.
"""

from __future__ import annotations

from typing import Any

import torch

from . import _errors, _readable
from ._frameworks import _torch
from ._ops import OPERATIONS


def rearrange(tensor: Any, pattern: str, **axes_lengths: Any) -> Any:
    """`einrs.rearrange`, traced."""
    return _traced("rearrange", tensor, pattern, None, axes_lengths)


def reduce(
    tensor: Any, pattern: str, reduction: _readable.Reduction, **axes_lengths: Any
) -> Any:
    """`einrs.reduce`, traced."""
    if isinstance(reduction, str) and reduction in OPERATIONS:
        return _traced(reduction, tensor, pattern, None, axes_lengths)
    return _traced("reduce", tensor, pattern, reduction, axes_lengths)


def repeat(tensor: Any, pattern: str, **axes_lengths: Any) -> Any:
    """`einrs.repeat`, traced."""
    return _traced("repeat", tensor, pattern, None, axes_lengths)


def _traced(
    operation: str,
    tensor: Any,
    pattern: str,
    reduction: _readable.Reduction | None,
    lengths: dict[str, Any],
) -> Any:
    if isinstance(tensor, list):
        if not tensor:
            raise _errors.empty_list(operation, pattern)
        tensor = _framework(tensor[0]).stack(tensor)
    framework = _framework(tensor)
    shape = framework.shape(tensor)
    return _readable.replay(framework, operation, tensor, shape, pattern, reduction, lengths)


def _framework(tensor: Any) -> _readable.Framework:
    if isinstance(tensor, torch.Tensor):
        return _torch
    # Imported late: a program that traces no numpy array may have no numpy.
    from ._frameworks import _numpy

    return _numpy


def recipe(*arguments: Any) -> Any:
    """Never traced: Dynamo calls the planner itself, whose arguments are always constants."""
    raise _not_constant(arguments)


def misfit(*arguments: Any) -> Any:
    """Never traced, as `recipe`."""
    raise _not_constant(arguments)


def _not_constant(arguments: tuple[Any, ...]) -> TypeError:
    return TypeError(f"a pattern must be a constant under torch.compile, got {len(arguments)}")
