"""Turns the shape, dtype and layout of a case into a numpy array."""

from __future__ import annotations

from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy

    from ._case import Case

    Array = numpy.ndarray[tuple[int, ...], numpy.dtype[Any]]


def build_array(case: Case) -> Any:
    """The array, or for the layout "list" the list of arrays, that the case is about.

    A layout that the shape or dtype cannot have (a matrix of three axes, say) is the C order.
    """
    if case.layout == "list" and case.shape:
        whole = _values(case.shape, case.dtype)
        return [whole[index, ...].copy() for index in range(case.shape[0])]
    return _LAYOUTS.get(case.layout, _values)(case.shape, case.dtype)


def _values(shape: tuple[int, ...], dtype: str) -> Array:
    import numpy

    # 101 is prime: 101 different values come before one repeats, and neighbours are far apart.
    numbers: Array = numpy.arange(prod(shape)) * 37 % 101 - 50
    kind = numpy.dtype(dtype).kind
    if kind in "fc":
        # Sevenths are no binary fractions: a sum in another order has other last bits.
        numbers = numbers / 7
    elif kind == "b":
        numbers = numbers % 3 == 0
    elif kind == "u":
        numbers = numbers + 50
    if kind == "c":
        numbers = numbers * (1 + 2j)
    values: Array = numbers.astype(dtype).reshape(shape)
    return values


def _fortran(shape: tuple[int, ...], dtype: str) -> Array:
    array: Array = _values(shape[::-1], dtype).transpose()
    return array


def _transposed(shape: tuple[int, ...], dtype: str) -> Array:
    """The first axis is the last one in memory."""
    import numpy

    if not shape:
        return _values(shape, dtype)
    return numpy.moveaxis(_values(shape[1:] + shape[:1], dtype), -1, 0)


def _sliced(shape: tuple[int, ...], dtype: str) -> Array:
    """Every second element of the first and of the last axis of a bigger array."""
    ends = {0, len(shape) - 1}
    outer = tuple(2 * n + 1 if axis in ends else n for axis, n in enumerate(shape))
    picks = [slice(1, None, 2) if axis in ends else slice(None) for axis in range(len(shape))]
    return _indexed(_values(outer, dtype), picks)


def _reversed(shape: tuple[int, ...], dtype: str) -> Array:
    return _indexed(_values(shape, dtype), [slice(None, None, -1) for _ in shape])


def _indexed(array: Array, slices: list[slice]) -> Array:
    # The ellipsis keeps an array without axes an array.
    place: tuple[Any, ...] = (Ellipsis, *slices)
    view: Array = array[place]
    return view


def _broadcast(shape: tuple[int, ...], dtype: str) -> Array:
    """The first axis longer than 1 has a stride of zero; numpy makes such an array read-only."""
    import numpy

    axis = next((axis for axis, n in enumerate(shape) if n > 1), None)
    stored = tuple(1 if place == axis else n for place, n in enumerate(shape))
    array: Array = numpy.broadcast_to(_values(stored, dtype), shape)
    return array


def _readonly(shape: tuple[int, ...], dtype: str) -> Array:
    array = _values(shape, dtype)
    array.flags.writeable = False
    return array


def _unaligned(shape: tuple[int, ...], dtype: str) -> Array:
    """Starts one byte after an aligned address; objects cannot."""
    import numpy

    values = _values(shape, dtype)
    if values.dtype.hasobject:
        return values
    memory: Array = numpy.empty(values.nbytes + 1, numpy.uint8)
    array = memory[1:].view(values.dtype).reshape(shape)
    array[...] = values
    return array


@cache
def _subclass_type() -> type[Any]:
    import numpy

    class Subclass(numpy.ndarray[Any, Any]):
        """An ndarray by inheritance only."""

    return Subclass


def _subclass(shape: tuple[int, ...], dtype: str) -> Array:
    return _values(shape, dtype).view(_subclass_type())


def _masked(shape: tuple[int, ...], dtype: str) -> Array:
    import numpy

    values = _values(shape, dtype)
    hidden = (numpy.arange(values.size) % 4 == 1).reshape(shape)
    masked: Array = numpy.ma.MaskedArray(values, mask=hidden)
    return masked


def _matrix(shape: tuple[int, ...], dtype: str) -> Array:
    import numpy

    values = _values(shape, dtype)
    return numpy.asmatrix(values) if len(shape) == 2 else values


_LAYOUTS: dict[str, Callable[[tuple[int, ...], str], Array]] = {
    "F": _fortran,
    "transposed": _transposed,
    "sliced": _sliced,
    "reversed": _reversed,
    "broadcast": _broadcast,
    "readonly": _readonly,
    "unaligned": _unaligned,
    "subclass": _subclass,
    "masked": _masked,
    "matrix": _matrix,
}
