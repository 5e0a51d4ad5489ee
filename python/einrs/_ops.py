"""Any call that the native way leaves alone to the readable replay, or to a clear error.

The builtins call the functions here, with their own arguments, for everything that is not plain:
tensors given by keyword, lists, subclasses, tracers, callable reductions, lengths that are no
exact integers, and every mistake.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, cast

from . import _einrs, _errors, _frameworks, _joins, _readable

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


def layer_rearrange(tensor: Any, pattern: Any, names: Any, lengths: Any) -> Any:
    """`rearrange` for a layer."""
    return run("rearrange", tensor, pattern, None, dict(zip(names, lengths, strict=True)))


def layer_repeat(tensor: Any, pattern: Any, names: Any, lengths: Any) -> Any:
    """`repeat` for a layer."""
    return run("repeat", tensor, pattern, None, dict(zip(names, lengths, strict=True)))


def layer_reduce(tensor: Any, pattern: Any, names: Any, lengths: Any, reduction: Any) -> Any:
    """`reduce` for a layer."""
    return reduce(tensor, pattern, reduction, **dict(zip(names, lengths, strict=True)))


def einsum(*tensors_and_pattern: Any) -> Any:
    """`einrs.einsum` for any arguments."""
    check_einsum(tensors_and_pattern)
    *tensors, pattern = tensors_and_pattern
    check_text(pattern, "einsum", tensors[0])
    framework = _framework_of(tensors[0], "einsum", pattern)
    return _joins.einsum(framework, tuple(tensors), pattern)


def check_einsum(tensors_and_pattern: tuple[Any, ...]) -> None:
    """Refuses arguments that are not tensors and then a pattern."""
    if len(tensors_and_pattern) <= 1:
        raise _errors.too_few_arguments()
    if not isinstance(tensors_and_pattern[-1], str):
        raise _errors.pattern_not_last(tensors_and_pattern[-1])


def pack(tensors: Any, pattern: Any) -> tuple[Any, list[Any]]:
    """`einrs.pack` for any arguments."""
    check_text(pattern, "pack", None)
    try:
        iterator = iter(tensors)
    except TypeError:
        raise _errors.not_iterable(tensors, "pack", pattern) from None
    tensors = list(iterator)
    if not tensors:
        refusal, _ = _einrs.packing(pattern)
        if refusal is not None:
            raise _errors.refused(refusal, "pack", pattern, ())
        raise _errors.nothing_to_pack(pattern)
    framework = _framework_of(tensors[0], "pack", pattern)
    if hasattr(framework, "as_one_node"):
        # The tensors may be of any rank.
        return cast("tuple[Any, list[Any]]", framework.as_one_node("pack", tensors, pattern))
    try:
        return _joins.pack(framework, tensors, pattern)
    except Exception as error:
        told = _explained(error, framework, tensors, "pack", pattern)
        if told is None:
            raise
        raise told from error


def unpack(tensor: Any, packed_shapes: Any, pattern: Any) -> list[Any]:
    """`einrs.unpack` for any arguments."""
    check_text(pattern, "unpack", tensor)
    framework = _framework_of(tensor, "unpack", pattern)
    if hasattr(framework, "as_one_node") and _frameworks.is_symbol(packed_shapes):
        return cast("list[Any]", framework.as_one_node("unpack", tensor, packed_shapes, pattern))
    packed = packed_shapes_of(packed_shapes, pattern)
    given = packed_shapes if isinstance(packed_shapes, (list, tuple)) else None
    try:
        return _joins.unpack(framework, tensor, packed, pattern, given)
    except Exception as error:
        told = _explained(error, framework, [tensor], "unpack", pattern)
        if told is None:
            raise
        if told.kind == "Framework":
            shape, axes = framework.shape(tensor), _einrs.packing(pattern)[1]
            refusal = "CannotSplit", str(error), ()
            shapes = given or list(packed)
            told = _errors.refused(refusal, "unpack", pattern, shape, shapes, shape[axes[0]])
            told = _errors.of_class(error, str(told), refusal, pattern)
        raise told from error


def _explained(
    error: Exception,
    framework: _readable.Framework,
    tensors: list[Any],
    function: str,
    pattern: str,
) -> _errors.EinopsError | None:
    """What to raise in place of a framework's error: one with the pattern; None to leave it."""
    if isinstance(error, _errors.EinopsError):
        return None if error.kind != "PackMismatch" else _of_class(error, framework, tensors)
    shapes = []
    for tensor in tensors:
        try:
            shapes.append(framework.shape(tensor))
        except Exception:
            return _errors.unreadable_shape(tensor, function, pattern)
    return _joins.refused_by_framework(error, function, pattern, shapes)


def _of_class(
    error: _errors.EinopsError, framework: _readable.Framework, tensors: list[Any]
) -> _errors.EinopsError | None:
    """The error for named axes that differ, of the class of the framework's own as well."""
    pattern = str(error.pattern)
    _, axes = _einrs.packing(pattern)
    try:
        _joins.join(framework, tuple(tensors), *axes)
    except Exception as theirs:
        return _errors.of_class(theirs, str(error), (str(error.kind), "", error.spans), pattern)
    return None


def packed_shapes_of(packed_shapes: Any, pattern: str) -> tuple[Any, ...]:
    """Iterables of lengths as tuples, whose integers are exact and whose symbols are left alone."""
    try:
        shapes = [tuple(shape) for shape in packed_shapes]
        return tuple([tuple([_packed_length(size, pattern) for size in shape]) for shape in shapes])
    except TypeError as error:
        raise _errors.packed_shape_type(packed_shapes, pattern) from error


def _packed_length(size: Any, pattern: str) -> Any:
    if _frameworks.is_symbol(size):
        return size
    size = int(operator.index(size))
    if size.bit_length() > 63:
        raise _errors.EinopsError(
            f"a length of the shapes to unpack does not fit 64 bits: {_errors.digits(size)}"
            f"\n while processing unpack with pattern {_errors.shown(pattern)}",
            "ShapeOverflow",
            pattern,
        )
    return size


def parse_shape(x: Any, pattern: Any) -> dict[str, Any]:
    """`einrs.parse_shape` for any arguments."""
    check_text(pattern, "parse_shape", x)
    framework = _framework_of(x, "parse_shape", pattern)
    rank = None if "..." in pattern else len(pattern.split())
    shape = _shape_of(framework, x, "parse_shape", pattern, lambda: rank)
    named = named_shape(shape, pattern)
    sizes = _joins.shown_sizes(framework, tuple(named.values()))
    return dict(zip(named, sizes, strict=True))


def named_shape(shape: Any, pattern: str) -> dict[str, Any]:
    """The named sizes of a shape; a symbol is not known to be another length than a number."""
    refusal, parsed = _einrs.shape_names(pattern, len(shape))
    if refusal is not None:
        raise _errors.refused(refusal, "parse_shape", pattern, shape)
    names, lengths = parsed
    for dim, length in lengths:
        if isinstance(shape[dim], int) and shape[dim] != length:
            numbers = [length for length in shape if isinstance(length, int)]
            refusal = None
            if len(numbers) == len(shape):
                refusal = _einrs.shape_misfit(pattern, tuple([int(size) for size in shape]))
            message = f"dimension {dim} has length {shape[dim]}, the pattern says {length}"
            refusal = refusal or ("NumberMismatch", message, ())
            raise _errors.refused(refusal, "parse_shape", pattern, shape)
    return {name: shape[dim] for dim, name in names}


def asnumpy(tensor: Any) -> Any:
    """`einrs.asnumpy` for any arguments."""
    framework = _frameworks.of(tensor)
    if framework is None:
        raise _errors.unknown_tensor(tensor, "asnumpy", "")
    return framework.to_numpy(tensor)


def check_text(pattern: Any, function: str, tensor: Any) -> None:
    if not isinstance(pattern, str):
        raise _errors.pattern_type(function, pattern)
    if not _is_unicode(pattern):
        shape = getattr(tensor, "shape", None)
        raise _errors.lone_surrogate(pattern, function, pattern, shape, {})


def _framework_of(tensor: Any, function: str, pattern: str) -> _readable.Framework:
    framework = _frameworks.of(tensor)
    if framework is None:
        raise _errors.unknown_tensor(tensor, function, pattern)
    return framework


def _shape_of(
    framework: _readable.Framework,
    tensor: Any,
    called: object,
    pattern: str,
    rank: Callable[[], int | None],
) -> Any:
    try:
        return _readable.shape_of(framework, tensor, rank)
    except _errors.EinopsError:
        raise
    except Exception as error:
        raise _errors.unreadable_shape(tensor, called, pattern) from error


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
    framework: _readable.Framework | None = None,
) -> Any:
    """Checks the types of all arguments and replays, on the framework that owns the tensor."""
    called = operation if reduction is None else reduction
    if not isinstance(pattern, str):
        raise _errors.pattern_type(called, pattern)
    if isinstance(tensor, list):
        tensor = _stacked(tensor, called, pattern, framework)
    framework = framework or _frameworks.of(tensor)
    if framework is None:
        raise _errors.unknown_tensor(tensor, called, pattern)
    if hasattr(framework, "as_one_node") and _leaves_rank_open(called, pattern, lengths):
        arguments = (tensor, pattern) if reduction is None else (tensor, pattern, reduction)
        return framework.as_one_node(operation, *arguments, **lengths)
    shape = _shape_of(framework, tensor, called, pattern, lambda: _rank(pattern))
    for text in (pattern, *lengths):
        if not _is_unicode(text):
            raise _errors.lone_surrogate(text, called, pattern, shape, lengths)
    lengths = {name: _length(pattern, name, length) for name, length in lengths.items()}
    if operation == "repeat":
        _check_new_sizes(pattern, shape, lengths)
    return _readable.replay(framework, operation, tensor, shape, pattern, reduction, lengths)


def _rank(pattern: str) -> int | None:
    """How many dimensions a pattern describes, unless an ellipsis leaves that open."""
    _, described = _einrs.rank(pattern)
    return None if described is None or described[1] else described[0]


def _leaves_rank_open(called: object, pattern: str, lengths: dict[str, Any]) -> bool:
    refusal, described = _einrs.rank(pattern)
    if refusal is not None:
        raise _readable.refused(refusal, called, pattern, None, lengths)
    return described is not None and described[1]


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


def _stacked(
    tensors: list[Any], called: object, pattern: str, framework: _readable.Framework | None
) -> Any:
    if not tensors:
        raise _errors.empty_list(called, pattern)
    framework = framework or _frameworks.of(tensors[0])
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
        refusal = _einrs.bad_length(pattern, name, _errors.digits(length), True)
        raise _refused_length(_errors.EinopsError, refusal, pattern)
    return length


def refused_length_type(pattern: str, name: str, length: Any) -> _errors.EinopsError:
    """The error for a length that is no integer."""
    refusal = _einrs.bad_length(pattern, name, type(length).__name__, False)
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
