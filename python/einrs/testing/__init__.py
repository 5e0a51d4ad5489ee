"""Turns a source of choices into calls of rearrange, reduce and repeat, to test tensor code with.

    from hypothesis import given
    from einrs import testing

    @given(testing.cases())
    def test_my_array_type(case):
        result = case.apply(einrs, build_my_array(case.shape, case.dtype))

A `Case` holds everything about a call but the values of the tensor, and turns into a JSON row and
back, so that a failing one can be kept. `build_array` makes the numpy array it describes.
`draw_case` and `mutate` draw from anything that offers `integer` and `choice`: hypothesis does in
`cases` and `broken_cases`, and a seeded `random.Random` in `RandomDraw`, where many thousand cases
a second are wanted. hypothesis is imported at the first use of its strategies.
"""

from typing import TYPE_CHECKING, Any

from ._arrays import build_array
from ._case import Case, Length, Reducer, UnhashableReducer
from ._draw import Draw, RandomDraw
from ._menu import NUMPY_MENU, OPERATIONS, REDUCTIONS, Menu
from ._mutate import MUTATIONS, mutate
from ._patterns import draw_case

if TYPE_CHECKING:
    from ._strategies import broken_cases, cases, patterns

__all__ = [
    "MUTATIONS",
    "NUMPY_MENU",
    "OPERATIONS",
    "REDUCTIONS",
    "Case",
    "Draw",
    "Length",
    "Menu",
    "RandomDraw",
    "Reducer",
    "UnhashableReducer",
    "broken_cases",
    "build_array",
    "cases",
    "draw_case",
    "mutate",
    "patterns",
]

_STRATEGIES = frozenset({"broken_cases", "cases", "patterns"})


def __getattr__(name: str) -> Any:
    if name not in _STRATEGIES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import _strategies

    return getattr(_strategies, name)
