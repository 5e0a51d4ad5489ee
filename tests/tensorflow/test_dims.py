"""Checks the open sizes of graphs against integers: what -1 stands for is the size, or an error."""

from itertools import product
from math import prod
from typing import Any

import pytest

from einrs import _einrs
from einrs._frameworks._dims import Dim, open_shape, value, with_inferred
from einrs._readable import axis_lengths, sizes

PATTERNS: dict[str, dict[str, int]] = {
    "a b c -> (a b c)": {},
    "a b c -> (a c) b": {"c": 2},
    "(a d) b c -> a d (b c)": {"d": 2},
    "(a d) b c -> (d b) (a c)": {"d": 2},
    "c (a b) d -> (c a) b d": {"b": 2},
    "a (b c) d -> a b c d": {"b": 2, "c": 3},
    "a (b c) d -> a (b c d)": {"b": 2, "c": 3},
    "(a b) (c d) e -> (a c) b (d e)": {"b": 2, "d": 2},
    "(a b) (c d) e -> (a c) (b d) e": {"b": 4, "d": 1},
    "(a b c) d e -> b a (c d e)": {"b": 2, "c": 1},
    "a b c -> (a k) (b c)": {"k": 2},
}
LENGTHS = (1, 2, 3, 4, 6)


def reshapes(
    pattern: str, given: dict[str, int], shape: Any, lean: bool
) -> list[tuple[Any, int]] | None:
    """The shapes that a tensor is split and merged to, each with how often an element occurs."""
    copies = given.get("k", 1)
    operation = "repeat" if copies > 1 else "rearrange"
    refusal, recipe = _einrs.recipe(operation, pattern, tuple(given), len(shape), lean)
    assert refusal is None
    axes = axis_lengths(recipe, shape, tuple(given.values()))
    if axes is None:
        return None
    steps = (recipe[2], 1), (recipe[6], copies)
    return [(sizes(factors, axes), times) for factors, times in steps if factors is not None]


@pytest.mark.parametrize("lean", [True, False])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_minus_one_is_the_size_or_an_error(pattern: str, lean: bool) -> None:
    """Also where a reshape is the only one, as a compiler may make one of several."""
    inferred_sizes = 0
    for lengths, is_open in product(product(LENGTHS, repeat=3), product((False, True), repeat=3)):
        known = [None if hidden else n for n, hidden in zip(lengths, is_open, strict=True)]
        shape = open_shape(None, known, lambda _, lengths=lengths: lengths)
        for target, copies in reshapes(pattern, PATTERNS[pattern], shape, lean) or []:
            inferred = with_inferred(target)
            if inferred is None or -1 not in inferred:
                continue
            inferred_sizes += 1
            rest, remainder = divmod(copies * prod(lengths), -prod(inferred))
            if remainder == 0:
                assert rest == value(target[inferred.index(-1)]), (lengths, known, target)
    assert inferred_sizes >= 50


def test_minus_one_is_found_where_it_is_sound() -> None:
    shape = open_shape(None, (None, 6, 4), lambda _: ())
    targets = reshapes("(a d) b c -> d a (b c)", {"d": 2}, shape, False) or []
    found = [with_inferred(target) for target, _ in targets]
    assert found == [(-1, 2, 6, 4), (2, -1, 24)]
    shape = open_shape(None, (None, None, 4), lambda _: ())
    assert with_inferred((shape[0] * shape[1], 4)) == (-1, 4)
    assert with_inferred((shape[0], shape[1] * 4)) is None
    assert with_inferred((shape[0], 4)) is None
    assert with_inferred((2, 4)) == (2, 4)


def test_minus_one_is_not_used_beside_0() -> None:
    shape = open_shape(None, (None, 0), lambda _: ())
    assert with_inferred(shape) is None
    assert with_inferred((shape[0] * 0,)) == (-1,)


ARITHMETIC = {
    "a * b": lambda a, b: a * b,
    "3 * a": lambda a, b: 3 * a,
    "a // 2": lambda a, b: a // 2,
    "a * 3 // 2": lambda a, b: a * 3 // 2,
    "a // b": lambda a, b: a // b,
    "100 // a": lambda a, b: 100 // a,
    "a + b + 1": lambda a, b: a + b + 1,
    "1 + a": lambda a, b: 1 + a,
    "a - b": lambda a, b: a - b,
    "100 - a - 1": lambda a, b: 100 - a - 1,
}


@pytest.mark.parametrize("arithmetic", ARITHMETIC.values(), ids=ARITHMETIC)
def test_arithmetic(arithmetic: Any) -> None:
    measured = []

    def measure(tensor: str) -> tuple[int, ...]:
        measured.append(tensor)
        return 11, 3

    a, b = open_shape("a tensor", (None, None), measure)
    result = arithmetic(a, b)
    assert isinstance(result, Dim)
    assert measured == []
    assert value(result) == arithmetic(11, 3)
    assert value(result) == arithmetic(11, 3)
    assert measured == ["a tensor"]
