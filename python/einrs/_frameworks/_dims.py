"""Sizes that a graph leaves open to lazy arithmetic, and a reshape's open size to a sound -1."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from .._readable import Shape


class Source:
    """A tensor whose shape has open sizes; they are measured once, and only if one is needed."""

    def __init__(
        self,
        tensor: Any,
        shape: Sequence[int | None],
        measure: Callable[[Any], Sequence[Any]],
    ) -> None:
        self.tensor = tensor
        self.open_axes = [axis for axis, size in enumerate(shape) if size is None]
        self._measure = measure
        self._sizes: Sequence[Any] = ()

    def size(self, axis: int) -> Any:
        """One size, as the graph computes it."""
        self._sizes = self._sizes or self._measure(self.tensor)
        return self._sizes[axis]


class Dim:
    """A size that is known when the graph runs. Arithmetic with it makes sizes, but no nodes.

    Attributes:
        source: the tensor that has been asked for its shape.
        axes: those axes of it whose product, divided by `divisor` and multiplied by `factor`, is
            this size; empty for any other arithmetic.

    """

    def __init__(
        self,
        source: Source,
        compute: Callable[[], Any],
        axes: Sequence[int] = (),
        divisor: int = 1,
        factor: int = 1,
    ) -> None:
        self.source = source
        self.axes = axes
        self.divisor = divisor
        self.factor = factor
        self._compute = compute
        self._value: Any = None

    def __repr__(self) -> str:
        return "None"

    def value(self) -> Any:
        """The size as the graph computes it."""
        if self._value is None:
            self._value = self._compute()
        return self._value

    def __mul__(self, other: Any) -> Dim:
        known: tuple[Any, ...] = ()
        if isinstance(other, int):
            known = (self.axes, self.divisor, self.factor * other)
        elif isinstance(other, Dim) and other.source is self.source and self.axes and other.axes:
            axes = [*self.axes, *other.axes]
            known = (axes, self.divisor * other.divisor, self.factor * other.factor)
        return self._computed(operator.mul, self, other, *known)

    def __rmul__(self, other: Any) -> Dim:
        return self.__mul__(other)

    def __floordiv__(self, other: Any) -> Dim:
        divides_size = isinstance(other, int) and self.factor == 1 and len(self.axes) == 1
        known = (self.axes, self.divisor * other) if divides_size else ()
        return self._computed(operator.floordiv, self, other, *known)

    def __rfloordiv__(self, other: Any) -> Dim:
        return self._computed(operator.floordiv, other, self)

    def __add__(self, other: Any) -> Dim:
        return self._computed(operator.add, self, other)

    def __radd__(self, other: Any) -> Dim:
        return self._computed(operator.add, other, self)

    def __sub__(self, other: Any) -> Dim:
        return self._computed(operator.sub, self, other)

    def __rsub__(self, other: Any) -> Dim:
        return self._computed(operator.sub, other, self)

    def _computed(
        self, function: Callable[[Any, Any], Any], left: Any, right: Any, *known: Any
    ) -> Dim:
        def compute() -> Any:
            return function(self.operand(left), self.operand(right))

        return type(self)(self.source, compute, *known)

    def operand(self, size: Any) -> Any:
        """What is computed with in place of a size: an integer, or what the graph computes."""
        return value(size)

    @property
    def is_the_rest(self) -> bool:
        """Whether -1 among fixed sizes, in a reshape of the source, is this size or else an error.

        Each open axis must be part of this size: one that is not could have a wrong length, for
        which -1 would make up. A remainder of the division must not vanish in a multiplication.
        That an earlier reshape has failed for it cannot be relied on: tensorflow makes one reshape
        of several.
        """
        is_exact = self.divisor == 1 or (self.factor == 1 and len(self.axes) == 1)
        return is_exact and sorted(self.axes) == self.source.open_axes


def value(size: Any) -> Any:
    """An open size as the graph computes it, and any other size as it is."""
    return size.value() if isinstance(size, Dim) else size


def open_shape(
    tensor: Any,
    shape: Sequence[int | None],
    measure: Callable[[Any], Sequence[Any]],
    kind: type[Dim] = Dim,
) -> Shape:
    """A shape in which None stands for what the graph leaves open, as integers and open sizes."""
    source = Source(tensor, shape, measure)
    sizes: list[Any] = list(shape)
    for axis in source.open_axes:
        sizes[axis] = kind(source, partial(source.size, axis), [axis])
    return tuple(sizes)


def with_inferred(shape: Shape) -> Shape | None:
    """The shape for a reshape in integers: -1 stands for its one open size.

    Returns:
        None where several sizes are open, or where -1 could regroup the elements of a tensor
        whose sizes do not fit, instead of failing.

    """
    open_sizes = [size for size in shape if not isinstance(size, int)]
    if not open_sizes:
        return shape
    if len(open_sizes) > 1 or 0 in [size for size in shape if isinstance(size, int)]:
        return None
    if not (isinstance(open_sizes[0], Dim) and open_sizes[0].is_the_rest):
        return None
    return tuple([size if isinstance(size, int) else -1 for size in shape])
