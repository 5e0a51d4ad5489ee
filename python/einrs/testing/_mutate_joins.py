"""Turns a valid call about several tensors into one that is wrong in one place."""

from collections.abc import Callable
from dataclasses import replace

from ._case import Case, Length, Part
from ._draw import Draw, insert_anywhere
from ._menu import JOINS
from ._mutate import PATTERN_MUTATIONS, Mutation

_WRONG_SIZES: tuple[Length, ...] = (
    *(0, 1, 2, 3, 5, 11, -1, -1, -1, -2, -7, 2**31, 2**63, 2**64 + 2, -(2**63), 2**200),
    *(2.0, None, "2", True, ("int64", 3), ("int64", -1), ("index", 2)),
)


def mutate_join(draw: Draw, case: Case) -> Case:
    """The case after one drawn mutation."""
    return draw.choice(JOIN_MUTATIONS)(draw, case)


def _on_a_shape(change: Callable[[Draw, list[int]], None]) -> Mutation:
    """A mutation of the shape of one tensor, the first or another."""

    def mutation(draw: Draw, case: Case) -> Case:
        place = draw.integer(0, len(case.others))
        if place == 0:
            shape = list(case.shape)
            change(draw, shape)
            return replace(case, shape=tuple(shape))
        others = list(case.others)
        sizes, dtype, layout = others[place - 1]
        shape = list(sizes)
        change(draw, shape)
        others[place - 1] = (tuple(shape), dtype, layout)
        return replace(case, others=tuple(others))

    return mutation


def _change_rank(draw: Draw, shape: list[int]) -> None:
    if shape and draw.integer(0, 1):
        del shape[draw.integer(0, len(shape) - 1)]
    else:
        insert_anywhere(draw, shape, draw.choice((1, 2, 0)))


def _change_size(draw: Draw, shape: list[int]) -> None:
    if shape:
        shape[draw.integer(0, len(shape) - 1)] = draw.choice((1, 2, 3, 5, 6, 0))


def _drop_tensor(draw: Draw, case: Case) -> Case:
    others = list(case.others)
    if others:
        del others[draw.integer(0, len(others) - 1)]
    return replace(case, others=tuple(others))


def _add_tensor(draw: Draw, case: Case) -> Case:
    others = list(case.others)
    extra: Part = (case.shape, case.dtype, case.layout)
    insert_anywhere(draw, others, draw.choice((extra, *others)))
    return replace(case, others=tuple(others))


def _on_packed(change: Callable[[Draw, list[tuple[Length, ...]]], None]) -> Mutation:
    def mutation(draw: Draw, case: Case) -> Case:
        packed = list(case.packed)
        change(draw, packed)
        return replace(case, packed=tuple(packed))

    return mutation


def _wrong_packed_size(draw: Draw, packed: list[tuple[Length, ...]]) -> None:
    if not packed:
        return
    place = draw.integer(0, len(packed) - 1)
    shape = list(packed[place])
    if shape and draw.integer(0, 2):
        shape[draw.integer(0, len(shape) - 1)] = draw.choice(_WRONG_SIZES)
    else:
        insert_anywhere(draw, shape, draw.choice(_WRONG_SIZES))
    packed[place] = tuple(shape)


def _drop_packed(draw: Draw, packed: list[tuple[Length, ...]]) -> None:
    if packed:
        del packed[draw.integer(0, len(packed) - 1)]


def _add_packed(draw: Draw, packed: list[tuple[Length, ...]]) -> None:
    extra: tuple[tuple[Length, ...], ...] = ((), (0,), (-1,), (2, 3), (-1, 2), (1,))
    insert_anywhere(draw, packed, draw.choice(extra))


def _swap_packed(draw: Draw, packed: list[tuple[Length, ...]]) -> None:
    if packed:
        one, other = (draw.integer(0, len(packed) - 1) for _ in range(2))
        packed[one], packed[other] = packed[other], packed[one]


def _hand_over(draw: Draw, case: Case) -> Case:
    return replace(case, handed=draw.choice(("generator", "empty", "tuple", "lists")))


def _change_operation(draw: Draw, case: Case) -> Case:
    return replace(case, op=draw.choice(JOINS))


def _bare_pattern(draw: Draw, case: Case) -> Case:
    patterns = ("", "->", " ", "a", "*", "a *", "* *", "...", ",", ", ->", "a, -> a", "-> ->")
    return replace(case, pattern=draw.choice(patterns))


JOIN_MUTATIONS: tuple[Mutation, ...] = (
    *PATTERN_MUTATIONS,
    _on_a_shape(_change_rank),
    _on_a_shape(_change_size),
    _on_a_shape(_change_size),
    _drop_tensor,
    _add_tensor,
    _on_packed(_wrong_packed_size),
    _on_packed(_wrong_packed_size),
    _on_packed(_drop_packed),
    _on_packed(_add_packed),
    _on_packed(_swap_packed),
    _hand_over,
    _change_operation,
    _bare_pattern,
)
