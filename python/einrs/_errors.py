"""What the core, or a wrong argument, says of a call to the exception that the user sees."""

from __future__ import annotations

# As `typing.TYPE_CHECKING`: `import einrs` is fast, since it imports next to nothing.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Refusal = tuple[str, str, "tuple[tuple[int, int], ...]"]
"""Kind, message and places, as the core gives them."""

LONGEST_PATTERN_SHOWN = 1000
"""Characters of a pattern that the first line of a message repeats."""


class EinopsError(RuntimeError):
    """A call that einrs refuses.

    Attributes:
        kind: name of the kind of error, such as "NotDivisible"; None if it is not about a pattern.
        pattern: the pattern's text.
        spans: places in it as (start, end), counted in characters.

    Examples:
        >>> import einrs, numpy as np
        >>> try:
        ...     einrs.rearrange(np.zeros(7), "(a b) -> a b", a=2)
        ... except einrs.EinopsError as error:
        ...     print(error.kind, error.spans)
        NotDivisible ((0, 5),)

    """

    def __init__(
        self,
        message: str,
        kind: str | None = None,
        pattern: str | None = None,
        spans: tuple[tuple[int, int], ...] = (),
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.pattern = pattern
        self.spans = spans


class EinopsTypeError(EinopsError, TypeError):
    """An argument of a wrong type: einops raises a TypeError for most of them."""


class EinopsValueError(EinopsError, ValueError):
    """Tensors of a list that do not go together: a ValueError in numpy and jax."""


class EinopsUnsupportedError(EinopsError, NotImplementedError):
    """Something that einops leaves out on purpose: its NotImplementedError."""


class EinopsDtypeError(EinopsUnsupportedError):
    """A reduction that is not defined for the tensor's dtype."""


def shown(pattern: object) -> str:
    """The pattern as the first line of a message repeats it."""
    if not isinstance(pattern, str):
        return repr(pattern)
    if len(pattern) <= LONGEST_PATTERN_SHOWN:
        return f'"{pattern}"'
    return f'"{pattern[:LONGEST_PATTERN_SHOWN]}..." ({len(pattern)} characters)'


CLASSES = {
    "NoArrowInEinsum": EinopsValueError,
    "UnitInEinsum": EinopsUnsupportedError,
    "GroupInEinsum": EinopsUnsupportedError,
    "NumberInEinsum": EinopsUnsupportedError,
}
"""The class of a kind, where einops raises another one than its own."""

HEADS = {
    "UnknownOutput": "Unknown axis {place} on right side of einsum {pattern}.",
    "DuplicateInPack": 'Duplicates in axes names in {function}(..., "{pattern}")',
    "NoStar": 'No *-axis in {function}(..., "{pattern}")',
    "BadNameInPack": 'Invalid axis name {place} in {function}(..., "{pattern}")',
    "TooFewAxes": "packed tensors have shapes {shape}, while pattern {pattern} assumes more axes",
    "WrongPackedRank": "unpack(..., {pattern}) received input of wrong dim with shape {shape}",
    "TwoUnknownLengths": "unpack(..., {pattern}) received more than one -1 in {packed} "
    "and can't infer dimensions",
    "ComposedShape": "Can't parse shape with composite axes: {pattern} {shape}",
    "WrongShapeRank": "Can't parse shape with different number of dimensions: {pattern} {shape}",
    "NotOne": "Length of axis is not 1: {pattern} {shape}",
    "NumberMismatch": "Length of anonymous axis does not match: {pattern} {shape}",
    **dict.fromkeys(
        ("NegativeInShape", "ShapeOverflow", "CannotSplit", "UnknownNotDivisible"),
        'Error during unpack(..., "{pattern}"): could not split axis of size {size} '
        "into requested {packed}",
    ),
}
"""The first line of a message, word for word einops' where it has one and its facts are known."""


def digits(number: int) -> str:
    """An integer as text; a very long one, which Python refuses to print, by its size."""
    return str(number) if number.bit_length() <= 256 else f"{number.bit_length()} bits"


def head(operation: object, pattern: object, shape: object, lengths: dict[str, Any]) -> str:
    """The first lines of every message, word for word those of einops."""
    return (
        f" Error while processing {operation}-reduction pattern {shown(pattern)}."
        f"\n Input tensor shape: {shape}. Additional info: {lengths}."
    )


def refused(
    refusal: Refusal,
    function: str,
    pattern: str,
    shape: object,
    packed: object = None,
    size: object = None,
) -> EinopsError:
    """The exception for a refusal of the core in `function`, for tensors of these shapes."""
    kind, message, spans = refusal
    text = pattern if len(pattern) <= LONGEST_PATTERN_SHOWN else pattern[:LONGEST_PATTERN_SHOWN]
    place = pattern[spans[0][0] : spans[0][1]] if spans else ""
    first = HEADS.get(kind, "")
    if first:
        facts = {"function": function, "pattern": text, "place": place}
        first = first.format(**facts, shape=shape, packed=packed, size=size) + "\n "
    context = f"\n while processing {function} with pattern {shown(pattern)}, shape {shape}"
    return CLASSES.get(kind, EinopsError)(f"{first}{message}{context}", kind, pattern, spans)


def of_class(cause: BaseException, message: str, refusal: Refusal, pattern: str) -> EinopsError:
    """An error in place of a framework's, which is of the framework's class as well."""
    kind, _, spans = refusal
    for known in (EinopsTypeError, EinopsValueError):
        if isinstance(cause, known.__bases__[1]):
            return known(message, kind, pattern, spans)
    return EinopsError(message, kind, pattern, spans)


def not_iterable(tensors: object, function: str, pattern: object) -> EinopsTypeError:
    """The error for one thing where several are needed."""
    return EinopsTypeError(
        f"{function} takes a list of tensors, not {type(tensors).__name__}"
        f"\n while processing {function} with pattern {shown(pattern)}"
    )


def nothing_to_pack(pattern: object) -> EinopsError:
    """The error for packing no tensor: its dtype and named axes would be unknown."""
    return EinopsError(
        "pack can't be applied to an empty list"
        f"\n while processing pack with pattern {shown(pattern)}"
    )


def packed_shape_type(shapes: object, pattern: object) -> EinopsTypeError:
    """The error for packed shapes that are no shapes."""
    return EinopsTypeError(
        f"unpack takes a list of shapes, each a tuple of lengths such as (3,) or (), not {shapes!r}"
        f"\n while processing unpack with pattern {shown(pattern)}"
    )


def too_few_arguments() -> EinopsValueError:
    """The error for an einsum without a tensor or without a pattern."""
    return EinopsValueError(
        "`einops.einsum` takes at minimum two arguments: the tensors (at least one), "
        "followed by the pattern."
    )


def pattern_not_last(last: object) -> EinopsValueError:
    """The error for an einsum whose last argument is not its pattern."""
    return EinopsValueError(
        "The last argument passed to `einops.einsum` must be a string, "
        f"representing the einsum pattern.\n it is of type {type(last).__name__}"
    )


def unknown_tensor(tensor: object, operation: object, pattern: object) -> EinopsError:
    """The error for something that no framework owns."""
    hint = ""
    if isinstance(tensor, tuple):
        hint = "\n to stack several tensors pass a list: list(tensors)"
    elif tensor is None:
        hint = "\n the tensor is None: does a function before forget to return?"
    return EinopsError(
        f"Tensor type unknown to einops {type(tensor)}"
        f"\n while processing {operation} with pattern {shown(pattern)}{hint}"
    )


def unreadable_shape(tensor: object, operation: object, pattern: object) -> EinopsError:
    """The error for a tensor whose shape raises."""
    return EinopsError(
        f"the shape of {type(tensor)} cannot be read"
        f"\n while processing {operation} with pattern {shown(pattern)}"
    )


def not_stacked(cause: Exception, operation: object, pattern: object) -> EinopsError:
    """The error for a list whose tensors the framework does not stack, of the framework's class."""
    message = (
        f"{cause}\n the tensors of a list are stacked on a new first axis: they must have one type "
        f"and one shape\n while processing {operation} with pattern {shown(pattern)}"
    )
    for kind in (EinopsTypeError, EinopsValueError):
        if isinstance(cause, kind.__bases__[1]):
            return kind(message)
    return EinopsError(message)


def lone_surrogate(
    text: str, operation: object, pattern: str, shape: object, lengths: dict[str, Any]
) -> EinopsError:
    """The error for text that is no Unicode text."""
    places = ((i, i + 1) for i, c in enumerate(text) if "\ud800" <= c <= "\udfff")
    return EinopsError(
        f"{head(operation, pattern, shape, lengths)}"
        f"\n Unknown character in {text!a}: half of a surrogate pair",
        "UnknownCharacter",
        pattern,
        tuple(places) if text == pattern else (),
    )


def length_raised(name: str, cause: Exception, pattern: str) -> EinopsError:
    """The error for a length whose `__index__` raises."""
    return EinopsError(
        f"the length of axis '{name}' cannot be read: {type(cause).__name__}: {cause}"
        f"\n while processing pattern {shown(pattern)}"
    )


def empty_list(operation: object, pattern: object) -> EinopsTypeError:
    """The error for a list without tensors."""
    return EinopsTypeError(
        "Rearrange/Reduce/Repeat can't be applied to an empty list"
        f"\n while processing {operation} with pattern {shown(pattern)}"
    )


def pattern_type(operation: object, pattern: object) -> EinopsTypeError:
    """The error for a pattern that is not text."""
    return EinopsTypeError(
        f"pattern must be a str, not {type(pattern).__name__}: {shown(pattern)}"
        f"\n while processing {operation}"
    )


def reduction_type(reduction: object, pattern: object) -> EinopsTypeError:
    """The error for a reduction that is neither a name nor callable."""
    return EinopsTypeError(
        f"Unknown reduction {reduction!r}: a reduction is a name or a callable f(tensor, axes)"
        f"\n while processing reduce with pattern {shown(pattern)}"
    )


def reserved_axis(name: str, pattern: object) -> EinopsTypeError:
    """The error for the length of an axis that is called like a parameter."""
    return EinopsTypeError(
        f"got multiple values for argument '{name}'"
        f"\n an axis called '{name}' cannot be given a length, since '{name}' is a parameter: "
        f"rename the axis in pattern {shown(pattern)}"
    )


def not_floating(dtype: object) -> EinopsDtypeError:
    """The error for the mean of integers, booleans or complex numbers."""
    return EinopsDtypeError(
        "reduce_mean is not available for non-floating tensors"
        f"\n the tensor has dtype {dtype}: convert it to a floating dtype first"
    )
