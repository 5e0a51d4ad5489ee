"""Turns a source of chance into integers and choices, for every drawing function here."""

import random
from collections.abc import Sequence
from typing import Protocol, TypeVar

T = TypeVar("T")


class Draw(Protocol):
    """Where decisions come from. The low end and the first option should be the simplest ones."""

    def integer(self, low: int, high: int) -> int:
        """An integer in `low..high`, both ends included."""

    def choice(self, options: Sequence[T]) -> T:
        """One of the options."""


class RandomDraw:
    """Draws from a seeded generator, without the cost of an engine that can shrink."""

    def __init__(self, seed: int | str) -> None:
        self._random = random.Random(seed).random

    def integer(self, low: int, high: int) -> int:
        # int(random() * n) costs a fifth of randint; its bias is below 2**-40 for the ranges here.
        return low + int(self._random() * (high - low + 1))

    def choice(self, options: Sequence[T]) -> T:
        return options[int(self._random() * len(options))]


def chance(draw: Draw, percent: int) -> bool:
    """True in about `percent` of a hundred draws; shrinks to False."""
    return draw.integer(0, 99) >= 100 - percent


def shuffled(draw: Draw, items: Sequence[T]) -> list[T]:
    """The items in a drawn order; shrinks to the order they came in."""
    left = list(items)
    return [left.pop(draw.integer(0, len(left) - 1)) for _ in range(len(left))]


def insert_anywhere(draw: Draw, items: list[T], item: T) -> None:
    """Puts the item at a drawn place of the list."""
    items.insert(draw.integer(0, len(items)), item)
