"""One side of a pattern to the axes in it, as einops' `ParsedExpression` shows them.

Three things are meant to differ from einops: every white space separates, names are normalised as
Python normalises those of keyword arguments (NFKC), and every identifier is a name, those with
combining marks included.
"""

from __future__ import annotations

import keyword
import re
import unicodedata
import warnings

from .._errors import EinopsError

_ellipsis = "…"
"""What stands for three dots in a composition: one character, so that it is iterated over once."""

_TOKEN = re.compile(r"[()]|[^\s()]+")


class AnonymousAxis:
    """An axis that is written as a number from 2 on; two of them are never equal.

    Args:
        value: the digits.

    Raises:
        EinopsError: the number is below 2.

    """

    def __init__(self, value: str) -> None:
        self.value = int(value)
        if self.value == 1:
            raise EinopsError("an axis of length 1 is no anonymous axis")
        if self.value < 1:
            raise EinopsError(f"Anonymous axis should have positive length, not {self.value}")

    def __repr__(self) -> str:
        return f"{self.value}-axis"


class ParsedExpression:
    """The axes of one side of a pattern, such as "b c (h w)".

    Args:
        expression: the text of one side, without an arrow.
        allow_underscore: whether `_` is a name, which may then stand there many times.
        allow_duplicates: whether every name may stand there many times.

    Attributes:
        composition: an item for each dimension: a list of its names and `AnonymousAxis`, which is
            empty for a length of 1, or the ellipsis.
        identifiers: all names, numbers and the ellipsis.
        has_ellipsis: whether there are three dots.
        has_ellipsis_parenthesized: whether those stand in parentheses; None without them.
        has_non_unitary_anonymous_axes: whether there is a number above 1.

    Raises:
        EinopsError: the text is no side of a pattern.

    Examples:
        >>> from einrs.parsing import ParsedExpression
        >>> ParsedExpression("b (h w) 1 3").composition
        [['b'], ['h', 'w'], [], [3-axis]]

    """

    composition: list[list[str | AnonymousAxis] | str]

    def __init__(
        self, expression: str, *, allow_underscore: bool = False, allow_duplicates: bool = False
    ) -> None:
        self.has_ellipsis = "." in expression
        self.has_ellipsis_parenthesized: bool | None = None
        self.has_non_unitary_anonymous_axes = False
        self.identifiers: set[str | AnonymousAxis] = set()
        self.composition = []
        self._allow_underscore = allow_underscore
        self._allow_duplicates = allow_duplicates
        group: list[str | AnonymousAxis] | None = None
        for token in _TOKEN.findall(_with_one_sign(expression)):
            if token == "(":
                if group is not None:
                    raise EinopsError(
                        "Axis composition is one-level (brackets inside brackets not allowed)"
                    )
                group = []
            elif token == ")":
                if group is None:
                    raise EinopsError("Brackets are not balanced")
                self.composition.append(group)
                group = None
            else:
                self._add(token, group)
        if group is not None:
            raise EinopsError(f'Imbalanced parentheses in expression: "{expression}"')

    def _add(self, token: str, group: list[str | AnonymousAxis] | None) -> None:
        axis = self._axis(token)
        if axis == _ellipsis:
            self.has_ellipsis_parenthesized = group is not None
        if axis is not None:
            self.identifiers.add(axis)
        if group is not None:
            group.extend([] if axis is None else [axis])
        elif axis == _ellipsis:
            self.composition.append(_ellipsis)
        else:
            self.composition.append([] if axis is None else [axis])

    def _axis(self, token: str) -> str | AnonymousAxis | None:
        """A name, a number or the ellipsis; None for a length of 1."""
        if token.isdecimal():
            if int(token) == 1:
                return None
            self.has_non_unitary_anonymous_axes = True
            return AnonymousAxis(token)
        if token != _ellipsis:
            valid, reason = self.check_axis_name_return_reason(
                token, allow_underscore=self._allow_underscore
            )
            if not valid:
                raise EinopsError(f"Invalid axis identifier: {token}\n{reason}")
        name = unicodedata.normalize("NFKC", token) if token != _ellipsis else token
        repeatable = self._allow_duplicates or (self._allow_underscore and name == "_")
        if name in self.identifiers and not repeatable:
            raise EinopsError(f'Indexing expression contains duplicate dimension "{name}"')
        return name

    def flat_axes_order(self) -> list[str | AnonymousAxis]:
        """All names and numbers in the order in which they stand there.

        Raises:
            AssertionError: there is an ellipsis.

        """
        if _ellipsis in self.composition:
            raise AssertionError("does not work with ellipsis")
        return [axis for axes in self.composition for axis in axes]

    def has_composed_axes(self) -> bool:
        """Whether a dimension is made of two axes or more; those of length 1 do not count."""
        return any(isinstance(axes, list) and len(axes) > 1 for axes in self.composition)

    @staticmethod
    def check_axis_name_return_reason(
        name: str, allow_underscore: bool = False
    ) -> tuple[bool, str]:
        """Whether a text is the name of an axis, and why it is not ("" if it is).

        Warns of names that einops discourages: keywords of Python, and `axis`.
        """
        if not name.isidentifier():
            return False, "not a valid python identifier"
        if name == "_" and allow_underscore:
            return True, ""
        if name[0] == "_" or name[-1] == "_":
            return False, "axis name should should not start or end with underscore"
        if keyword.iskeyword(name):
            message = f"It is discouraged to use axes names that are keywords: {name}"
            warnings.warn(message, RuntimeWarning, stacklevel=2)
        if name == "axis":
            message = (
                "It is discouraged to use 'axis' as an axis name and will raise an error in future"
            )
            warnings.warn(message, FutureWarning, stacklevel=2)
        return True, ""

    @staticmethod
    def check_axis_name(name: str) -> bool:
        """Whether a text is the name of an axis."""
        return ParsedExpression.check_axis_name_return_reason(name)[0]


def _with_one_sign(expression: str) -> str:
    """The text with one character for its three dots, of which there may be none elsewhere."""
    if "." not in expression:
        return expression
    if expression.count("...") != 1 or expression.count(".") != 3:
        raise EinopsError(
            "Expression may contain dots only inside ellipsis (...); only one ellipsis for tensor"
        )
    return expression.replace("...", _ellipsis)
