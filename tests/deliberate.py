"""Lists where einrs differs from einops 0.8.2 on purpose, each with what einrs must do instead."""

import itertools
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace

from einrs.testing import Case


@dataclass(frozen=True)
class Fix:
    """One difference: einrs answers a case as einops answers the repaired one, or it raises."""

    name: str
    reason: str
    applies: Callable[[Case], bool]
    example: Case
    repair: Callable[[Case], Case] | None = None
    # The framework that shows the difference in the example.
    shown_on: str = "numpy"
    # Whether einrs answers as a twin of einops that lacks the fault.
    twin: bool = False
    # Facets that may differ.
    leaves_open: tuple[str, ...] = ()
    # Names of classes of einrs or built-in ones, to all of which the error must belong.
    raises: tuple[str, ...] = ()
    # The class einops raises where only that one is replaced.
    instead_of: type[Exception] | None = None


def _spaced(case: Case) -> Case:
    return replace(case, pattern="".join(" " if c.isspace() else c for c in case.pattern))


def _is_word(character: str) -> bool:
    return character.isalnum() or f"a{character}".isidentifier()


def _words(case: Case) -> list[str]:
    runs = itertools.groupby(case.pattern, _is_word)
    return ["".join(characters) for is_word, characters in runs if is_word]


def _with_names(case: Case, change: Callable[[str], str]) -> Case:
    """The case with every name changed in the pattern and among the lengths."""
    runs = ("".join(characters) for _, characters in itertools.groupby(case.pattern, _is_word))
    return replace(
        case,
        pattern="".join(change(run) if run.isidentifier() else run for run in runs),
        lengths=tuple((change(name), length) for name, length in case.lengths),
    )


def _normalised(case: Case) -> Case:
    return _with_names(case, lambda name: unicodedata.normalize("NFKC", name))


def _unmarked(case: Case) -> Case:
    """Names with marks (of vowels, say) spelt with the numbers of their characters."""

    def spelt(name: str) -> str:
        marked = not all(c.isalnum() or c == "_" for c in name) and name.isidentifier()
        return "m" + "_".join(str(ord(c)) for c in name) if marked else name

    return _with_names(case, spelt)


def _counted(case: Case) -> Case:
    """Every length that stands for an integer as that integer."""
    lengths = []
    for name, length in case.lengths:
        number = length[1] if isinstance(length, tuple) else length
        lengths.append((name, int(number) if isinstance(number, bool) else number))
    return replace(case, lengths=tuple(lengths))


def _renamed(case: Case) -> Case:
    free = "reduction0" + "0" * len(case.pattern)
    return _with_names(case, lambda name: free if name == "reduction" else name)


def _hashable(case: Case) -> Case:
    return replace(case, reduction=(case.reduction or "").replace("unhashable:", "call:"))


def _integers(case: Case) -> list[int]:
    return [length for _, length in _counted(case).lengths if isinstance(length, int)]


def _numbers(case: Case) -> list[int]:
    return [int(word) for word in _words(case) if word.isdecimal()]


def _has_huge(case: Case) -> bool:
    return any(abs(number) >= 2**31 for number in _integers(case) + _numbers(case))


def _case(op: str, pattern: str, shape: tuple[int, ...], **lengths: object) -> Case:
    return Case(op, pattern, shape, tuple(lengths.items()))  # type: ignore[arg-type]


FIXES = (
    Fix(
        "white space",
        "a pattern may be written over several lines; einops knows the space alone",
        lambda case: case != _spaced(case),
        _case("rearrange", "a\tb ->\n b a", (2, 3)),
        repair=_spaced,
    ),
    Fix(
        "normalised names",
        "Python normalises the names of keyword arguments (NFKC), so patterns must as well",
        lambda case: case != _normalised(case),
        _case("rearrange", "(\u00b5 b) -> b \u00b5", (6,), μ=2),
        repair=_normalised,
    ),
    Fix(
        "names with marks",
        "every Python identifier is a name; einops lets only letters and digits through",
        lambda case: case != _unmarked(case),
        _case("rearrange", "\u0915\u094d\u0937 b -> b \u0915\u094d\u0937", (2, 3)),
        repair=_unmarked,
    ),
    Fix(
        "integers that are no int",
        "einops checks no length but a plain int, and takes none with only an __index__",
        # True equals 1, so that comparing the cases would not tell.
        lambda case: any(isinstance(length, (bool, tuple)) for _, length in case.lengths),
        Case("rearrange", "a b -> b a", (2, 3), (("a", ("int64", 5)),)),
        repair=_counted,
    ),
    Fix(
        "axis called reduction",
        "einops' rearrange and repeat are its reduce with that parameter filled in",
        lambda case: case.op != "reduce" and "reduction" in dict(case.lengths),
        _case("rearrange", "(reduction b) -> b reduction", (6,), reduction=2),
        repair=_renamed,
    ),
    Fix(
        "unhashable callables",
        "einops looks the callable up in a cache",
        lambda case: (case.reduction or "").startswith("unhashable:"),
        Case("reduce", "a b -> a", (2, 3), reduction="unhashable:sum"),
        repair=_hashable,
    ),
    Fix(
        "digits beyond ASCII",
        "a number is written 0 to 9; einops takes every decimal digit of Unicode",
        lambda case: any(word.isdecimal() and not word.isascii() for word in _words(case)),
        _case("rearrange", "a \uff11 -> a", (2, 1)),
        raises=("EinopsError",),
    ),
    Fix(
        "the character of an ellipsis",
        "einops turns three dots into U+2026 and takes one that was written for a name",
        lambda case: "\u2026" in case.pattern,
        _case("rearrange", "a \u2026 -> \u2026 a", (2, 3)),
        raises=("EinopsError",),
    ),
    Fix(
        "arrows",
        "every malformed pattern is an EinopsError; einops unpacks what split() gave",
        lambda case: case.pattern.count("->") != 1,
        _case("rearrange", "a b", (2, 3)),
        raises=("EinopsError",),
        instead_of=ValueError,
    ),
    Fix(
        "negative lengths",
        "einops hands them to the framework, which fails or (torch) takes -1 as a wish",
        lambda case: min(_integers(case), default=0) < 0,
        _case("repeat", "a -> a k", (3,), k=-1),
        raises=("EinopsError",),
    ),
    Fix(
        "zero divisors",
        "nothing can be inferred beside a length of 0; einops raises ZeroDivisionError",
        lambda case: 0 in _integers(case) or 0 in case.shape,
        _case("rearrange", "(a b) -> a b", (6,), a=0),
        raises=("EinopsError",),
        instead_of=ZeroDivisionError,
    ),
    Fix(
        "overflow",
        "lengths are checked in 64 bits; einops hands any number to the framework",
        _has_huge,
        _case("repeat", "a -> a k", (3,), k=2**63),
        raises=("EinopsError",),
    ),
    Fix(
        "lengths of a wrong type",
        "a float, None or a string is no length; einops fails in the framework, or not at all",
        lambda case: any(isinstance(n, (float, str, type(None))) for _, n in case.lengths),
        _case("rearrange", "a b -> b a", (2, 3), a=2.0),
        raises=("EinopsError", "TypeError"),
    ),
)
