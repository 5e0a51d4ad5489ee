"""Turns a valid case into one that is wrong in one place (or, rarely, into another valid one)."""

import re
from collections.abc import Callable
from dataclasses import replace

from ._case import Case, Length
from ._draw import Draw, insert_anywhere
from ._menu import NAMES, OPERATIONS

Mutation = Callable[[Draw, Case], Case]

_TOKEN = re.compile(r"\(|\)|->|\.\.\.|[^\s()]+")

# What may be put among the tokens: bad names and numbers, digits that are not ASCII, an arrow.
_INTRUDERS = (
    *("(", ")", "()", "1", "...", "->", "2", "0", "01", "00", "-1", "2a", "1.5", "_", "_a", "a_"),
    *("\u0663", "²", "\uff11", "½", "①", "99999999999999999999"),
    *(
        "(...)",
        "((a))",
        "...a",
        "a...",
        ". . .",
        "....",
        "a-b",
        "a>b",
        "a,b",
        "*",
        "zz",
        "reduction",
    ),
    *("\u2026", "\u0915\u094d\u0937", "e\u0301"),
)
# Single characters, put anywhere: also white space of several kinds, a zero-width space, half of a
# surrogate pair, NUL, and a combining accent.
_CHARACTERS = "().->,*_+=[]{}|#'\"\\1 \t\n\r\x0b\u00a0\u200b\u3000\ud800\0\u0301é🦀"

# No length between 11 and 2**63: numpy would try to make such a repeat, and where the product of
# lengths leaves 64 bits its `repeat` writes outside of its memory.
_WRONG_LENGTHS: tuple[Length, ...] = (
    *(0, 1, 2, 3, 6, 11, -1, -2, -7, 2**63, 2**64 + 2, -(2**63), 2**200),
    *(2.0, 2.5, float("inf"), None, "2", "", True, False),
    *(("int64", 3), ("int64", -1), ("index", 0)),
)


def mutate(draw: Draw, case: Case) -> Case:
    """The case after one drawn mutation."""
    return draw.choice(MUTATIONS)(draw, case)


def _on_tokens(change: Callable[[Draw, list[str]], None]) -> Mutation:
    def mutation(draw: Draw, case: Case) -> Case:
        tokens = _TOKEN.findall(case.pattern)
        if tokens:
            change(draw, tokens)
        return replace(case, pattern=" ".join(tokens))

    return mutation


def _place(draw: Draw, tokens: list[str]) -> int:
    return draw.integer(0, len(tokens) - 1)


def _drop_token(draw: Draw, tokens: list[str]) -> None:
    del tokens[_place(draw, tokens)]


def _double_token(draw: Draw, tokens: list[str]) -> None:
    insert_anywhere(draw, tokens, draw.choice(tokens))


def _swap_tokens(draw: Draw, tokens: list[str]) -> None:
    one, other = _place(draw, tokens), _place(draw, tokens)
    tokens[one], tokens[other] = tokens[other], tokens[one]


def _rename_token(draw: Draw, tokens: list[str]) -> None:
    place = _place(draw, tokens)
    tokens[place] = draw.choice((*NAMES, tokens[place] + "x", tokens[place][:-1] or "y"))


def _add_intruder(draw: Draw, tokens: list[str]) -> None:
    insert_anywhere(draw, tokens, draw.choice(_INTRUDERS))


def _add_character(draw: Draw, case: Case) -> Case:
    place = draw.integer(0, len(case.pattern))
    character = draw.choice(_CHARACTERS)
    return replace(case, pattern=case.pattern[:place] + character + case.pattern[place:])


def _drop_character(draw: Draw, case: Case) -> Case:
    place = draw.integer(0, max(len(case.pattern) - 1, 0))
    return replace(case, pattern=case.pattern[:place] + case.pattern[place + 1 :])


def _change_rank(draw: Draw, case: Case) -> Case:
    shape = list(case.shape)
    if shape and draw.integer(0, 1):
        del shape[draw.integer(0, len(shape) - 1)]
    else:
        insert_anywhere(draw, shape, draw.choice((1, 2, 0)))
    return replace(case, shape=tuple(shape))


def _change_size(draw: Draw, case: Case) -> Case:
    shape = list(case.shape)
    if shape:
        shape[draw.integer(0, len(shape) - 1)] = draw.choice((1, 2, 3, 5, 6, 0))
    return replace(case, shape=tuple(shape))


def _drop_length(draw: Draw, case: Case) -> Case:
    lengths = list(case.lengths)
    if lengths:
        del lengths[draw.integer(0, len(lengths) - 1)]
    return replace(case, lengths=tuple(lengths))


def _wrong_length(draw: Draw, case: Case) -> Case:
    names = [name for name, _ in case.lengths] or _names(case)
    return _with_length(case, draw.choice(names), draw.choice(_WRONG_LENGTHS)) if names else case


def _extra_length(draw: Draw, case: Case) -> Case:
    strange = ("zz", "...", "1", "a b", "_a", "", "tensor", "reduction", "é")
    return _with_length(case, draw.choice((*_names(case), *strange)), draw.choice((2, 1, 3)))


def _names(case: Case) -> list[str]:
    return [token for token in _TOKEN.findall(case.pattern) if token.isidentifier()]


def _with_length(case: Case, name: str, length: Length) -> Case:
    return replace(case, lengths=tuple((dict(case.lengths) | {name: length}).items()))


def _change_operation(draw: Draw, case: Case) -> Case:
    op = draw.choice(OPERATIONS)
    return replace(case, op=op, reduction=(case.reduction or "sum") if op == "reduce" else None)


def _unknown_reduction(draw: Draw, case: Case) -> Case:
    names = ("median", "Max", "summ", "", "rearrange", "repeat", "maxx", "std", "mäx")
    return replace(case, op="reduce", reduction=draw.choice(names))


def _bare_pattern(draw: Draw, case: Case) -> Case:
    patterns = ("", "->", " ", "a", "a b", "...", "-> ->", ">-", "-", "- >")
    return replace(case, pattern=draw.choice(patterns))


PATTERN_MUTATIONS: tuple[Mutation, ...] = (
    _on_tokens(_drop_token),
    _on_tokens(_double_token),
    _on_tokens(_swap_tokens),
    _on_tokens(_rename_token),
    _on_tokens(_add_intruder),
    _add_character,
    _drop_character,
)

MUTATIONS: tuple[Mutation, ...] = (
    *PATTERN_MUTATIONS,
    _change_rank,
    _change_size,
    _drop_length,
    _wrong_length,
    _extra_length,
    _change_operation,
    _unknown_reduction,
    _bare_pattern,
)
