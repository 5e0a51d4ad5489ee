"""Any call that the native way leaves alone to the readable replay, or to a clear error.

The builtins call the functions here, with their own arguments, for everything that is not plain:
tensors given by keyword, lists, subclasses, tracers, callable reductions, lengths that are no
exact integers, and every mistake.
"""

from __future__ import annotations

import operator
from typing import Any

from . import _einrs, _errors, _frameworks, _readable

OPERATIONS = ("rearrange", "repeat")
"""What `reduce` accepts as a reduction besides the names of reductions, as einops does."""

REDUCTIONS = ("min", "max", "sum", "mean", "prod", "any", "all")


def rearrange(*args: Any, **keywords: Any) -> Any:
    """`einrs.rearrange` for any arguments."""
    tensor, pattern, lengths = _arguments("rearrange", ("tensor", "pattern"), args, keywords)
    return run("rearrange", tensor, pattern, None, lengths)


def repeat(*args: Any, **keywords: Any) -> Any:
    """`einrs.repeat` for any arguments."""
    tensor, pattern, lengths = _arguments("repeat", ("tensor", "pattern"), args, keywords)
    return run("repeat", tensor, pattern, None, lengths)


def reduce(*args: Any, **keywords: Any) -> Any:
    """`einrs.reduce` for any arguments."""
    parameters = ("tensor", "pattern", "reduction")
    tensor, pattern, reduction, lengths = _arguments("reduce", parameters, args, keywords)
    if isinstance(reduction, str):
        if reduction in OPERATIONS:
            return run(reduction, tensor, pattern, None, lengths)
        if reduction not in REDUCTIONS and isinstance(pattern, str):
            kind, message, spans = _einrs.unknown_reduction(pattern, reduction)
            shape = getattr(tensor, "shape", None)
            head = _errors.head(reduction, pattern, shape, lengths)
            raise _errors.EinopsError(f"{head}\n {message}", kind, pattern, spans)
    elif not callable(reduction):
        raise _errors.reduction_type(reduction, pattern)
    return run("reduce", tensor, pattern, reduction, lengths)


def run(
    operation: str,
    tensor: Any,
    pattern: Any,
    reduction: _readable.Reduction | None,
    lengths: dict[str, Any],
) -> Any:
    """Checks the types of all arguments and replays."""
    called = operation if reduction is None else reduction
    if not isinstance(pattern, str):
        raise _errors.pattern_type(called, pattern)
    if isinstance(tensor, list):
        tensor = _stacked(tensor, called, pattern)
    framework = _frameworks.of(type(tensor))
    if framework is None:
        raise _errors.unknown_tensor(tensor, called, pattern)
    lengths = {name: _length(pattern, name, length) for name, length in lengths.items()}
    return _readable.replay(framework, operation, tensor, pattern, reduction, lengths)


def _stacked(tensors: list[Any], called: object, pattern: str) -> Any:
    if not tensors:
        raise _errors.empty_list(called, pattern)
    framework = _frameworks.of(type(tensors[0]))
    if framework is None:
        raise _errors.unknown_tensor(tensors[0], called, pattern)
    return framework.stack(tensors)


def _length(pattern: str, name: str, length: Any) -> Any:
    """A length as the replay takes it: an exact int, or a symbol that multiplies.

    What only looks like an integer is normalised here, so that `numpy.int64(3)` and `True` divide,
    compare and print like integers. A symbol is left alone: `operator.index` would make it a
    constant of the graph that is being traced.
    """
    if type(length) is int:
        return length
    if _frameworks.is_symbol(length):
        return length
    try:
        return operator.index(length)
    except TypeError:
        kind, message, spans = _einrs.length_type(pattern, name, type(length).__name__)
        raise _errors.EinopsTypeError(
            f" Error while processing pattern {_errors.shown(pattern)}.\n {message}",
            kind,
            pattern,
            spans,
        ) from None


def _arguments(
    function: str, parameters: tuple[str, ...], args: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[Any, ...]:
    """The parameters in order, then the lengths: Python's own rules, with words of our own."""
    if len(args) > len(parameters):
        raise TypeError(
            f"{function}() takes {len(parameters)} positional arguments "
            f"but {len(args)} were given; lengths are given by keyword"
        )
    values = list(args)
    pattern = args[1] if len(args) > 1 else keywords.get("pattern")
    for name in parameters[: len(args)]:
        if name in keywords:
            raise _errors.reserved_axis(name, pattern)
    for name in parameters[len(args) :]:
        if name not in keywords:
            raise TypeError(f"{function}() missing required argument: '{name}'")
        values.append(keywords.pop(name))
    return (*values, keywords)
