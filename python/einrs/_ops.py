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
    if isinstance(reduction, str) and reduction in OPERATIONS:
        return run(reduction, tensor, pattern, None, lengths)
    check_reduction(tensor, pattern, reduction, lengths)
    return run("reduce", tensor, pattern, reduction, lengths)


def check_reduction(tensor: Any, pattern: Any, reduction: Any, lengths: dict[str, Any]) -> None:
    """Refuses what is neither a callable nor the name of a reduction."""
    if isinstance(tensor, list) and not tensor:
        raise _errors.empty_list(reduction, pattern)
    if not isinstance(reduction, str):
        if not callable(reduction):
            raise _errors.reduction_type(reduction, pattern)
        return
    if reduction in REDUCTIONS or not isinstance(pattern, str):
        return
    shape = getattr(tensor, "shape", None)
    for text in (pattern, reduction):
        if not _is_unicode(text):
            raise _errors.lone_surrogate(text, reduction, pattern, shape, lengths)
    refusal = _einrs.unknown_reduction(pattern, reduction)
    raise _readable.refused(refusal, reduction, pattern, shape, lengths)


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
    try:
        shape = framework.shape(tensor)
    except Exception as error:
        raise _errors.unreadable_shape(tensor, called, pattern) from error
    for text in (pattern, *lengths):
        if not _is_unicode(text):
            raise _errors.lone_surrogate(text, called, pattern, shape, lengths)
    lengths = {name: _length(pattern, name, length) for name, length in lengths.items()}
    if operation == "repeat":
        _check_new_sizes(pattern, shape, lengths)
    return _readable.replay(framework, operation, tensor, shape, pattern, reduction, lengths)


def _is_unicode(text: str) -> bool:
    """Whether text is more than a Python string: one without halves of surrogate pairs."""
    return text.isascii() or not any("\ud800" <= c <= "\udfff" for c in text)


def _check_new_sizes(pattern: str, shape: Any, lengths: dict[str, Any]) -> None:
    """New axes can make a dimension too long for 64 bits, which Python's integers do not notice."""
    given = tuple(lengths.values())
    if not all(type(number) is int for number in (*shape, *given)):
        return
    refusal = _einrs.misfit("repeat", pattern, tuple(lengths), tuple(shape), given)
    if refusal is not None:
        raise _readable.refused(refusal, "repeat", pattern, shape, lengths)


def _stacked(tensors: list[Any], called: object, pattern: str) -> Any:
    if not tensors:
        raise _errors.empty_list(called, pattern)
    framework = _frameworks.of(type(tensors[0]))
    if framework is None:
        raise _errors.unknown_tensor(tensors[0], called, pattern)
    try:
        return framework.stack(tensors)
    except (TypeError, ValueError, RuntimeError) as error:
        raise _errors.not_stacked(error, called, pattern) from error


def _length(pattern: str, name: str, length: Any) -> Any:
    """A length as the replay takes it: an exact int, or a symbol that multiplies.

    What only looks like an integer is normalised here, so that `numpy.int64(3)` and `True` divide,
    compare and print like integers. A symbol is left alone: `operator.index` would make it a
    constant of the graph that is being traced.
    """
    if _frameworks.is_symbol(length):
        return length
    try:
        length = operator.index(length)
    except TypeError:
        raise refused_length_type(pattern, name, length) from None
    except Exception as error:
        raise _errors.length_raised(name, error, pattern) from error
    if length.bit_length() > 63:
        refusal = _einrs.huge_length(pattern, name, _errors.digits(length))
        raise _refused_length(_errors.EinopsError, refusal, pattern)
    return length


def refused_length_type(pattern: str, name: str, length: Any) -> _errors.EinopsError:
    """The error for a length that is no integer."""
    refusal = _einrs.length_type(pattern, name, type(length).__name__)
    return _refused_length(_errors.EinopsTypeError, refusal, pattern)


def _refused_length(
    kind: type[_errors.EinopsError], refusal: _errors.Refusal, pattern: str
) -> _errors.EinopsError:
    name, message, spans = refusal
    head = f" Error while processing pattern {_errors.shown(pattern)}."
    return kind(f"{head}\n {message}", name, pattern, spans)


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
