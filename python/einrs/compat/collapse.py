"""A shape and axes to reduce and to reorder, to the same with neighbours joined."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any


def _optimize_transformation(
    init_shapes: Sequence[Any],
    reduced_axes: Iterable[int],
    axes_reordering: Iterable[int],
    final_shapes: Any,
) -> tuple[list[Any], tuple[int, ...], list[int], Any]:
    """The same reshape, reduction, transposition and reshape with fewer axes.

    Args:
        init_shapes: the first shape.
        reduced_axes: the axes of it that are reduced, in any order.
        axes_reordering: the order of the axes that are left.
        final_shapes: the last shape, which is handed on.

    Examples:
        >>> from einrs.einops import _optimize_transformation
        >>> _optimize_transformation([2, 3, 5, 7], (2, 3), (0, 1), [6])
        ([6, 35], (1,), [0], [6])

    """
    reduced = {int(axis) for axis in reduced_axes}
    kept = [axis for axis in range(len(init_shapes)) if axis not in reduced]
    order = [kept[place] for place in axes_reordering]
    runs: list[list[int]] = []
    for axis in range(len(init_shapes)):
        if runs and _stay_together(runs[-1][-1], axis, reduced, order):
            runs[-1].append(axis)
        else:
            runs.append([axis])
    shape = [_product_of(init_shapes, run) for run in runs]
    reduced_runs = tuple(i for i, run in enumerate(runs) if run[0] in reduced)
    firsts = [run[0] for run in runs if run[0] not in reduced]
    reordering = [firsts.index(axis) for axis in order if axis in firsts]
    return shape, reduced_runs, reordering, final_shapes


def _stay_together(before: int, axis: int, reduced: set[int], order: list[int]) -> bool:
    """Whether two neighbours are both reduced, or neighbours still after the reordering."""
    if before in reduced or axis in reduced:
        return before in reduced and axis in reduced
    return order.index(before) + 1 == order.index(axis)


def _product_of(lengths: Sequence[Any], axes: list[int]) -> Any:
    result = lengths[axes[0]]
    for axis in axes[1:]:
        result = result * lengths[axis]
    return result
