"""Turns hypothesis' draws into cases: the only module here that imports hypothesis."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from hypothesis import strategies as st

from ._case import Case
from ._draw import Draw
from ._joins import draw_join
from ._menu import NUMPY_MENU, Menu
from ._mutate import mutate
from ._mutate_joins import mutate_join
from ._patterns import draw_case

T = TypeVar("T")


class _HypothesisDraw:
    """Draws from hypothesis, which can shrink what it has drawn."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw

    def integer(self, low: int, high: int) -> int:
        return int(self._draw(st.integers(low, high)))

    def choice(self, options: Sequence[T]) -> T:
        return options[self.integer(0, len(options) - 1)]


def _make(draw: st.DrawFn, make: Callable[[Draw], Case]) -> Case:
    return make(_HypothesisDraw(draw))


_made = st.composite(_make)


def cases(menu: Menu = NUMPY_MENU) -> st.SearchStrategy[Case]:
    """Valid calls (a dtype or a callable may still refuse them)."""
    return _made(lambda draw: draw_case(draw, menu))


def broken_cases(menu: Menu = NUMPY_MENU) -> st.SearchStrategy[Case]:
    """Calls with one or two mutations: most of them must be refused."""

    def broken(draw: Draw) -> Case:
        case = mutate(draw, draw_case(draw, menu))
        return mutate(draw, case) if draw.integer(0, 3) == 3 else case

    return _made(broken)


def joins(menu: Menu = NUMPY_MENU) -> st.SearchStrategy[Case]:
    """Valid calls of the operations on several tensors, parse_shape and asnumpy."""
    return _made(lambda draw: draw_join(draw, menu))


def broken_joins(menu: Menu = NUMPY_MENU) -> st.SearchStrategy[Case]:
    """The same with one or two mutations: most of them must be refused."""

    def broken(draw: Draw) -> Case:
        case = mutate_join(draw, draw_join(draw, menu))
        return mutate_join(draw, case) if draw.integer(0, 3) == 3 else case

    return _made(broken)


def patterns(menu: Menu = NUMPY_MENU) -> st.SearchStrategy[str]:
    """The text of valid patterns alone."""
    return cases(menu).map(lambda case: case.pattern)
