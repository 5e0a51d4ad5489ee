"""The builtins as Dynamo traces them: the same calls, by the readable replay.

A tensor under Dynamo is torch's, or a numpy array that Dynamo traces as one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from . import _errors, _readable
from ._frameworks import _torch
from ._ops import OPERATIONS, check_reduction, refused_length_type


def rearrange(tensor: Any, pattern: str, **axes_lengths: Any) -> Any:
    """`einrs.rearrange`, traced."""
    return _traced("rearrange", tensor, pattern, None, axes_lengths)


def reduce(tensor: Any, pattern: str, reduction: _readable.Reduction, **axes_lengths: Any) -> Any:
    """`einrs.reduce`, traced."""
    if isinstance(reduction, str) and reduction in OPERATIONS:
        return _traced(reduction, tensor, pattern, None, axes_lengths)
    check_reduction(tensor, pattern, reduction, axes_lengths)
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
    called = operation if reduction is None else reduction
    if not isinstance(pattern, str):
        raise _errors.pattern_type(called, pattern)
    if isinstance(tensor, list):
        if not tensor:
            raise _errors.empty_list(called, pattern)
        tensor = _framework(tensor[0]).stack(tensor)
    for name, length in lengths.items():
        # Symbols and tensors are left to the operations; what is no number at all is refused.
        if length is None or isinstance(length, (float, str)):
            raise refused_length_type(pattern, name, length)
    framework = _framework(tensor)
    shape = framework.shape(tensor)
    return _readable.replay(framework, operation, tensor, shape, pattern, reduction, lengths)


def _framework(tensor: Any) -> _readable.Framework:
    if isinstance(tensor, torch.Tensor):
        return _torch
    # Imported late: a program that traces no numpy array may have no numpy.
    from ._frameworks import _numpy

    return _numpy


def folded(name: str) -> Callable[..., Any]:
    """The twin of a builtin that Dynamo calls by itself: reached only without constants."""

    def not_constant(*_arguments: Any) -> Any:
        raise TypeError(
            f"einrs: {name} needs constants under torch.compile: is the pattern a variable?"
        )

    return not_constant
