"""The builtins as Dynamo traces them: the same calls, by the readable replay.

A tensor under Dynamo is torch's, or a numpy array that Dynamo traces as one.
"""

from __future__ import annotations

from typing import Any

import torch

from . import _einrs, _errors, _joins, _readable
from ._frameworks import _torch
from ._ops import OPERATIONS, check_einsum, check_reduction, named_shape, refused_length_type


def rearrange(tensor: Any, pattern: str, **axes_lengths: Any) -> Any:
    """`einrs.rearrange`, traced."""
    return _traced("rearrange", tensor, pattern, None, axes_lengths)


def reduce(tensor: Any, pattern: str, reduction: _readable.Reduction, **axes_lengths: Any) -> Any:
    """`einrs.reduce`, traced."""
    # Asked first, since older versions of torch know no type of a function that is made in a trace.
    if not callable(reduction):
        if isinstance(reduction, str) and reduction in OPERATIONS:
            return _traced(reduction, tensor, pattern, None, axes_lengths)
        check_reduction(tensor, pattern, reduction, axes_lengths)
    return _traced("reduce", tensor, pattern, reduction, axes_lengths)


def repeat(tensor: Any, pattern: str, **axes_lengths: Any) -> Any:
    """`einrs.repeat`, traced."""
    return _traced("repeat", tensor, pattern, None, axes_lengths)


def layer_rearrange(tensor: Any, pattern: str, names: Any, lengths: Any) -> Any:
    """`rearrange` for a layer, traced."""
    return _traced("rearrange", tensor, pattern, None, dict(zip(names, lengths, strict=True)))


def layer_repeat(tensor: Any, pattern: str, names: Any, lengths: Any) -> Any:
    """`repeat` for a layer, traced."""
    return _traced("repeat", tensor, pattern, None, dict(zip(names, lengths, strict=True)))


def layer_reduce(tensor: Any, pattern: str, names: Any, lengths: Any, reduction: Any) -> Any:
    """`reduce` for a layer, traced."""
    return reduce(tensor, pattern, reduction, **dict(zip(names, lengths, strict=True)))


def einsum(*tensors_and_pattern: Any) -> Any:
    """`einrs.einsum`, traced: what the framework refuses stays its own error."""
    check_einsum(tensors_and_pattern)
    tensors, pattern = tensors_and_pattern[:-1], tensors_and_pattern[-1]
    letters = _joins.einsum_letters(pattern, tensors)
    return _framework(tensors[0]).einsum(letters, *tensors)


def pack(tensors: Any, pattern: str) -> tuple[Any, list[Any]]:
    """`einrs.pack`, traced."""
    if not isinstance(pattern, str):
        raise _errors.pattern_type("pack", pattern)
    tensors = list(tensors)
    if not tensors:
        raise _errors.nothing_to_pack(pattern)
    return _joins.pack(_framework(tensors[0]), tensors, pattern)


def unpack(tensor: Any, packed_shapes: Any, pattern: str) -> list[Any]:
    """`einrs.unpack`, traced."""
    if not isinstance(pattern, str):
        raise _errors.pattern_type("unpack", pattern)
    packed = tuple([tuple(shape) for shape in packed_shapes])
    return _joins.unpack(_framework(tensor), tensor, packed, pattern)


def parse_shape(x: Any, pattern: str) -> dict[str, Any]:
    """`einrs.parse_shape`, traced."""
    if not isinstance(pattern, str):
        raise _errors.pattern_type("parse_shape", pattern)
    return named_shape(_framework(x).shape(x), pattern)


def asnumpy(tensor: Any) -> Any:
    """`einrs.asnumpy`, traced."""
    return _framework(tensor).to_numpy(tensor)


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
    # One call for Dynamo where all sizes are constants, and `_readable.steps` where one is not.
    return _readable.replay(
        framework, operation, tensor, shape, pattern, reduction, lengths, _einrs.steps
    )


steps = _readable.steps


def _framework(tensor: Any) -> _readable.Framework:
    if isinstance(tensor, torch.Tensor):
        return _torch
    # Imported late: a program that traces no numpy array may have no numpy.
    from ._frameworks import _numpy

    return _numpy
