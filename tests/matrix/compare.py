"""One way to run functions, for einrs and for hand-written code, to what the two differ in."""

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

Function = Callable[..., Any]
Mode = Callable[[Function], Any]
"""Transforms, traces or compiles a function, runs the result, and gives back what it was."""


class Observed(NamedTuple):
    """What a mode gave, and the warnings that the user would see."""

    result: Any
    error: BaseException | None
    warned: set[str]


def observed(mode: Mode, function: Function) -> Observed:
    """Runs a mode; an error is part of what there is to see."""
    result, error = None, None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = mode(function)
        except Exception as raised:
            error = raised.with_traceback(None)
    return Observed(result, error, {f"{one.category.__name__}: {one.message}" for one in caught})


def check(
    mode: Mode,
    ours: Function,
    hand: Function,
    same: Callable[[Any, Any], None],
    alike: Callable[[str], None],
    explain: Callable[[BaseException], str] | None = None,
) -> None:
    """Asserts that einrs does in a mode what hand-written code does.

    Where hand-written code fails in the mode, einrs may fail as well; the cell says so, by the
    first line of the error if nothing else explains it.
    """
    # Hand-written code first: what a framework warns of once must not be laid at our door.
    expected, found = _expected(mode, hand), observed(mode, ours)
    if found.error is not None and expected.error is not None:
        alike((explain or first_line)(expected.error))
        return
    if found.error is not None:
        raise found.error
    if expected.error is None:
        same(found.result, expected.result)
        unexpected = found.warned - expected.warned
        assert not unexpected, unexpected


def never(reason: str) -> None:
    """In place of `alike` where hand-written code must work."""
    raise AssertionError(f"hand-written code fails: {reason}")


@cache
def _expected(mode: Mode, hand: Function) -> Observed:
    """Hand-written code is the same for a function and for the layers around it."""
    return observed(mode, hand)


def first_line(error: BaseException) -> str:
    """The class and the first words of an error."""
    lines = str(error).strip().splitlines() or [""]
    if lines[0] == "in user code:":
        # AutoGraph's message: a traceback, and then the class and the words.
        return lines[-1].strip()[:120]
    # One reason for arrays of all shapes.
    words = lines[0].partition(" with shape ")[0]
    return f"{type(error).__name__}: {words[:120]}"
