"""Turns hypothesis' draws into cases: the only module here that imports hypothesis."""

from collections.abc import Sequence
from typing import TypeVar

from hypothesis import strategies as st

from ._case import Case
from ._menu import NUMPY_MENU, Menu
from ._mutate import mutate
from ._patterns import draw_case

T = TypeVar("T")


class _HypothesisDraw:
    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw

    def integer(self, low: int, high: int) -> int:
        return self._draw(st.integers(low, high))

    def choice(self, options: Sequence[T]) -> T:
        return options[self.integer(0, len(options) - 1)]


@st.composite
def cases(draw: st.DrawFn, menu: Menu = NUMPY_MENU) -> Case:
    """Valid calls (a dtype or a callable may still refuse them)."""
    return draw_case(_HypothesisDraw(draw), menu)


@st.composite
def broken_cases(draw: st.DrawFn, menu: Menu = NUMPY_MENU) -> Case:
    """Calls with one or two mutations: nearly all of them must be refused."""
    source = _HypothesisDraw(draw)
    case = mutate(source, draw_case(source, menu))
    return mutate(source, case) if source.integer(0, 3) == 3 else case


def patterns(menu: Menu = NUMPY_MENU) -> st.SearchStrategy[str]:
    """The text of valid patterns alone."""
    return cases(menu).map(lambda case: case.pattern)
