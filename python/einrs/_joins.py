"""Several tensors to one and back, for any framework: pack, unpack and einsum, readable.

Like `_readable`, this is also what Dynamo traces: plain loops over tuples, f-strings, and calls of
builtins whose arguments are constants.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _einrs, _errors
from ._readable import Framework, Shape, product, shape_of

Pieces = list[tuple[Any, Any, Any]]
"""Where each piece of an axis begins and ends, and what -1 stands for in its shape."""


def einsum(framework: Framework, tensors: tuple[Any, ...], pattern: str) -> Any:
    """The framework's einsum, with names replaced by letters.

    Raises:
        EinopsError: the pattern is refused, or the framework refuses and the sizes say why; then
            the error is of the framework's class as well.

    """
    letters = einsum_letters(pattern, tensors)
    try:
        return framework.einsum(letters, *tensors)
    except Exception as error:
        shapes = [_shape_of(framework, tensor) for tensor in tensors]
        known = [shape for shape in shapes if shape is not None]
        refusal = _einrs.einsum_misfit(pattern, tuple(known)) if known == shapes else None
        told = refused_by_framework(error, "einsum", pattern, shapes, refusal)
        if told is None:
            raise
        raise told from error


def refused_by_framework(
    error: Exception,
    function: str,
    pattern: str,
    shapes: Any,
    refusal: _errors.Refusal | None = None,
) -> _errors.EinopsError | None:
    """A framework's error with the pattern, and with what the core says of the sizes.

    Returns:
        An error that is of the framework's class as well, or None for what is no plain refusal,
        such as running out of memory.

    """
    if refusal is None and type(error) not in (TypeError, ValueError, RuntimeError):
        return None
    kind, message, spans = refusal or ("Framework", "", ())
    text = f"{message}\n {error}" if message else str(error)
    context = (
        f"\n while processing {function} with pattern {_errors.shown(pattern)}, shape {shapes}"
    )
    return _errors.of_class(error, text + context, (kind, message, spans), pattern)


def _shape_of(framework: Framework, tensor: Any) -> tuple[int, ...] | None:
    """The shape of what may be no tensor of the framework, if it has one of numbers."""
    try:
        return _numbers(framework.shape(tensor))
    except Exception:
        return None


def einsum_letters(pattern: str, tensors: tuple[Any, ...]) -> str:
    """The pattern in single letters."""
    refusal, letters = _einrs.einsum_letters(pattern)
    if refusal is not None:
        shapes = tuple([getattr(tensor, "shape", None) for tensor in tensors])
        raise _errors.refused(refusal, "einsum", pattern, shapes)
    return letters


def pack(framework: Framework, tensors: list[Any], pattern: str) -> tuple[Any, list[Shape]]:
    """The tensors joined along one axis, and the shapes of their packed axes.

    Raises:
        EinopsError: the pattern or a shape is refused.

    """
    shapes = tuple([framework.shape(tensor) for tensor in tensors])
    refusal, axes = _einrs.packing(pattern)
    if refusal is not None:
        raise _errors.refused(refusal, "pack", pattern, shapes)
    before, after = axes
    if any(len(shape) < before + after for shape in shapes):
        raise _not_packed(pattern, shapes)
    _check_named_axes(pattern, shapes, before, after)
    packed = [shown_sizes(framework, shape[before : len(shape) - after]) for shape in shapes]
    return fused_by(framework)(join, tuple(tensors), before, after), packed


def shown_sizes(framework: Framework, sizes: Shape) -> Shape:
    """Sizes as the caller sees them, where a framework computes with symbols of its own."""
    visible = getattr(framework, "visible", None)
    return sizes if visible is None else tuple([visible(size) for size in sizes])


def join(framework: Framework, tensors: tuple[Any, ...], before: int, after: int) -> Any:
    """The tensors along one axis, the packed axes of each made one first."""
    flat = []
    for tensor in tensors:
        shape = framework.shape(tensor)
        end = len(shape) - after
        if end - before != 1:
            length = product(list(shape[before:end]))
            tensor = framework.reshape(tensor, (*shape[:before], length, *shape[end:]))
        flat.append(tensor)
    return framework.concat(flat, before)


def fused_by(framework: Framework) -> Callable[..., Any]:
    """How a framework runs a function of this module: compiled as a whole, if it says how."""

    def directly(function: Callable[..., Any], tensors: tuple[Any, ...], *static: Any) -> Any:
        return function(framework, tensors, *static)

    return getattr(framework, "fused", directly)


def _check_named_axes(pattern: str, shapes: tuple[Shape, ...], before: int, after: int) -> None:
    """Frameworks refuse as well, but do not say which axis it is. Symbols are left to them."""
    for shape in shapes[1:]:
        for axis in range(-after, before):
            first, other = shapes[0][axis], shape[axis]
            if isinstance(first, int) and isinstance(other, int) and first != other:
                raise _not_packed(pattern, shapes)


def _not_packed(pattern: str, shapes: tuple[Shape, ...]) -> _errors.EinopsError:
    # A symbol without a value is no obstacle to another tensor's fault: 0 stands for it.
    numbers = tuple([_numbers(shape) or (0,) * len(shape) for shape in shapes])
    refusal = _einrs.pack_misfit(pattern, numbers)
    if refusal is None:
        refusal = "PackMismatch", "the named axes of the tensors differ in length", ()
    if refusal[0] != "TooFewAxes":
        return _errors.refused(refusal, "pack", pattern, shapes)
    # einops' first line says which tensor, which is no part of a refusal.
    kind, message, spans = refusal
    named = len(pattern.split()) - 1
    first = min([index for index, shape in enumerate(shapes) if len(shape) < named])
    return _errors.EinopsError(
        f"packed tensor #{first} (enumeration starts with 0) has shape {shapes[first]}, "
        f"while pattern {pattern} assumes at least {named} axes\n {message}"
        f"\n while processing pack with pattern {_errors.shown(pattern)}, shape {shapes}",
        kind,
        pattern,
        spans,
    )


def unpack(
    framework: Framework, tensor: Any, packed: tuple[Shape, ...], pattern: str, given: Any = None
) -> list[Any]:
    """The pieces of a tensor along one axis, in their own shapes.

    Args:
        framework: the module that knows the tensor's type.
        tensor: the tensor.
        packed: the shapes of the pieces, of ints and symbols; one length of one of them may be -1.
        pattern: the pattern.
        given: the shapes as the caller gave them, which messages repeat.

    Raises:
        EinopsError: the pattern, the rank or the shapes are refused.

    """
    refusal, axes = _einrs.packing(pattern)
    if refusal is not None:
        shape = framework.shape(tensor)
        raise _errors.refused(refusal, "unpack", pattern, shape, given or list(packed))
    before, after = axes
    shape = shape_of(framework, tensor, lambda: before + 1 + after)
    fits = len(shape) == before + 1 + after
    pieces = pieces_of(shape[before], packed) if fits else None
    if pieces is None:
        size = shape[before] if fits else None
        raise _not_unpacked(pattern, shape, packed, size, given or list(packed))
    sizes = [
        tuple([unknown if _is_unknown(size) else size for size in shape])
        for (_, _, unknown), shape in zip(pieces, packed, strict=True)
    ]
    bounds = tuple([(first, stop) for first, stop, _ in pieces])
    if hasattr(framework, "split") and not all(map(_are_integers, (*bounds, *sizes))):
        return _divided(framework, tensor, shape, before, packed, sizes)
    return list(fused_by(framework)(cut, (tensor,), before, after, bounds, tuple(sizes)))


def _divided(
    framework: Any,
    tensor: Any,
    whole: Shape,
    axis: int,
    packed: tuple[Shape, ...],
    sizes: list[Shape],
) -> list[Any]:
    """The pieces by the framework's own function, which checks that they fill the axis.

    Their lengths are known only when a graph runs, where a reshape to the length that a piece
    should have is no check: tensorflow leaves it out.
    """
    lengths = [-1 if any(map(_is_unknown, size)) else product(list(size)) for size in packed]
    results = []
    for piece, given, size in zip(
        framework.split(tensor, axis, lengths), packed, sizes, strict=True
    ):
        if len(size) != 1:
            others = (*whole[:axis], *given, *whole[axis + 1 :])
            # A reshape that infers -1 saves the nodes that would compute it.
            infers = _are_integers(others) and 0 not in others
            piece = shaped(framework, piece, whole, axis, given if infers else size)
        results.append(piece)
    return results


def cut(
    framework: Framework,
    tensors: tuple[Any, ...],
    axis: int,
    after: int,
    bounds: tuple[tuple[Any, Any], ...],
    shapes: tuple[Shape, ...],
) -> list[Any]:
    """The pieces of an axis of a tensor between these bounds, the axis then split as shapes say."""
    (tensor,) = tensors
    whole = shape_of(framework, tensor, lambda: axis + 1 + after)
    # Written out on both sides, as the array API standard wants it.
    kept, behind = (slice(None),) * axis, (slice(None),) * after
    results = []
    for (start, stop), shape in zip(bounds, shapes, strict=True):
        place = (*kept, slice(start, stop), *behind)
        piece = tensor[place]
        # Where symbols say what is cut or wanted the two may differ, which a reshape refuses; also
        # a slice ends where the axis does.
        if len(shape) != 1 or not _are_integers((whole[axis], start, stop, *shape)):
            piece = shaped(framework, piece, whole, axis, shape)
        results.append(piece)
    return results


def shaped(framework: Framework, piece: Any, whole: Shape, axis: int, shape: Shape) -> Any:
    """A piece of a tensor with an axis split as its shape says."""
    return framework.reshape(piece, (*whole[:axis], *shape, *whole[axis + 1 :]))


def _are_integers(sizes: Shape) -> bool:
    return all(isinstance(size, int) for size in sizes)


def pieces_of(length: Any, packed: tuple[Shape, ...]) -> Pieces | None:
    """Splits an axis: the one place where the readable replay infers an unknown length.

    Returns:
        The pieces, or None if the shapes do not fit. A symbol is not known to be wrong.

    """
    known: list[Any] = []
    unknown = None
    for i, shape in enumerate(packed):
        open_sizes = [size for size in shape if _is_unknown(size)]
        if any(isinstance(size, int) and size < -1 for size in shape):
            return None
        if len(open_sizes) + (unknown is not None) > 1 and open_sizes:
            return None
        if open_sizes:
            unknown = i
        known.append(product([size for size in shape if not _is_unknown(size)]))
    if unknown is None:
        return _all_known(length, known)
    before, after = known[:unknown], known[unknown + 1 :]
    first, last = _total(before), length - _total(after) if after else length
    rest = last - first
    if isinstance(rest, int) and rest < 0:
        return None
    each = known[unknown]
    if isinstance(each, int) and (each == 0 or (isinstance(rest, int) and rest % each != 0)):
        return None
    inferred = rest if isinstance(each, int) and each == 1 else rest // each
    return [*_consecutive(0, before), (first, last, inferred), *_consecutive(last, after)]


def _all_known(length: Any, known: list[Any]) -> Pieces | None:
    total = _total(known)
    if isinstance(total, int) and isinstance(length, int) and total != length:
        return None
    pieces = _consecutive(0, known)
    if pieces and not (isinstance(total, int) and isinstance(length, int)):
        # A wrong symbol then fails in the last reshape, and drops no data.
        pieces[-1] = (pieces[-1][0], length, -1)
    return pieces


def _consecutive(start: Any, lengths: list[Any]) -> Pieces:
    pieces: Pieces = []
    for length in lengths:
        pieces.append((start, start + length, -1))
        start = start + length
    return pieces


def _total(lengths: list[Any]) -> Any:
    total = 0
    for length in lengths:
        total = total + length
    return total


def _is_unknown(size: Any) -> bool:
    return isinstance(size, int) and size == -1


def _not_unpacked(
    pattern: str, shape: Shape, packed: tuple[Shape, ...], size: Any, given: Any
) -> _errors.EinopsError:
    sizes = _numbers(shape)
    if size is None and sizes is None:
        # The rank is wrong, whatever the symbols stand for.
        sizes = (0,) * len(shape)
    shapes = [_numbers(sizes) for sizes in packed]
    refusal = None
    if sizes is not None and None not in shapes:
        refusal, _ = _einrs.unpacked(
            pattern, sizes, tuple([list(s) for s in shapes if s is not None])
        )
    if refusal is None:
        refusal = "CannotSplit", "the shapes do not fit the tensor", ()
    return _errors.refused(refusal, "unpack", pattern, shape, given, size)


def _numbers(shape: Shape) -> tuple[int, ...] | None:
    """A shape as integers; symbols that have been compared are as good as their values."""
    try:
        return tuple([int(size) for size in shape])
    except Exception:
        return None
