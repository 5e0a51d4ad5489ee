"""Patterns of einsum and pack to what einops' helpers say of them, by the core."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from .. import _einrs, _errors, _joins
from .._errors import EinopsUnsupportedError
from .expressions import AnonymousAxis, _ellipsis

Shape = tuple[int, ...] | list[int]


@lru_cache(256)
def analyze_pattern(pattern: str, opname: str) -> tuple[int, int, int]:
    """How many axes of a pattern of pack stand before the star, after it, and both together.

    Args:
        pattern: names and one `*`, such as "i j * k".
        opname: "pack" or "unpack", for the message.

    Raises:
        EinopsError: a name is no name or stands there twice, or there is no star.

    Examples:
        >>> from einrs.packing import analyze_pattern
        >>> analyze_pattern("i j * k", "pack")
        (2, 1, 3)

    """
    refusal, axes = _einrs.packing(pattern)
    if refusal is not None:
        raise _errors.refused(refusal, opname, pattern, None)
    before, after = axes
    return before, after, before + after


def prod(x: Iterable[int]) -> int:
    """The product of the lengths of a shape, 1 for an empty one; the lengths may be symbols."""
    result = 1
    for length in x:
        result = result * length
    return result


@lru_cache(256)
def _compactify_pattern_for_einsum(pattern: str) -> str:
    """A pattern with names to one with single letters, which are given in order from "a" to "Z".

    Raises:
        EinopsError: the pattern is refused; also a ValueError without an arrow, and a
            NotImplementedError for parentheses and numbers.

    Examples:
        >>> from einrs.einops import _compactify_pattern_for_einsum
        >>> _compactify_pattern_for_einsum("batch i, i j -> batch j")
        'ab,bc->ac'

    """
    return _joins.einsum_letters(pattern, ())


def _validate_einsum_axis_name(axis_name: list[str | AnonymousAxis] | str) -> None:
    """Refuses a dimension that is no single name."""
    if len(axis_name) == 0:
        raise EinopsUnsupportedError("Singleton () axes are not yet supported in einsum.")
    if len(axis_name) > 1:
        raise EinopsUnsupportedError("Shape rearrangement is not yet supported in einsum.")
    if isinstance(axis_name[0], AnonymousAxis):
        raise EinopsUnsupportedError("Anonymous axes are not yet supported in einsum.")


def is_ellipsis_not_in_parenthesis(composition: list[list[str | AnonymousAxis] | str]) -> bool:
    """Whether a composition has an ellipsis that stands for dimensions of their own."""
    return _ellipsis in composition
