"""Turns a source of choices into calls of all operations, to test tensor code with.

    from hypothesis import given
    from einrs import testing

    @given(testing.cases())
    def test_my_array_type(case):
        result = case.apply(einrs, build_my_array(case.shape, case.dtype))

A `Case` holds everything about a call but the values of the tensor, and turns into a JSON row and
back, so that a failing one can be kept. `build_array` makes the numpy array it describes.
`draw_case` and `mutate` draw calls of rearrange, reduce and repeat, `draw_join` and `mutate_join`
calls of einsum, pack, unpack, parse_shape and asnumpy, whose tensors `Case.built` makes. They draw
from anything that offers `integer` and `choice`: hypothesis does in `cases`, `broken_cases`,
`joins` and `broken_joins`, and a seeded `random.Random` in `RandomDraw`, where many thousand cases
a second are wanted. hypothesis is imported at the first use of its strategies.
"""

from typing import TYPE_CHECKING, Any

from ._arrays import build_array
from ._case import Case, Length, Reducer, UnhashableReducer
from ._draw import Draw, RandomDraw
from ._joins import draw_join
from ._menu import JOINS, NUMPY_MENU, OPERATIONS, REDUCTIONS, Menu
from ._mutate import MUTATIONS, mutate
from ._mutate_joins import JOIN_MUTATIONS, mutate_join
from ._patterns import draw_case

if TYPE_CHECKING:
    from ._strategies import broken_cases, broken_joins, cases, joins, patterns

__all__ = [
    "JOINS",
    "JOIN_MUTATIONS",
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
    "broken_joins",
    "build_array",
    "cases",
    "draw_case",
    "draw_join",
    "joins",
    "mutate",
    "mutate_join",
    "patterns",
]

_STRATEGIES = frozenset({"broken_cases", "broken_joins", "cases", "joins", "patterns"})


def __getattr__(name: str) -> Any:
    if name not in _STRATEGIES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import _strategies

    return getattr(_strategies, name)
