"""Turns one described call into arguments, a call, and a JSON row and back."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ._menu import JOINS

# A length as it is given to the operation. The pair stands for an object that is no plain number:
# ("int64", 3) is numpy.int64(3), ("index", 3) an object whose `__index__` returns 3.
Length = int | float | str | None | tuple[str, int]

# A tensor after the first: shape, dtype and layout.
Part = tuple[tuple[int, ...], str, str]

# How several tensors or several shapes are handed over. "lists" are shapes as lists, "empty" is a
# list of nothing.
HANDED: dict[str, Callable[[Iterable[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "lists": lambda items: [list(item) if isinstance(item, tuple) else item for item in items],
    "generator": lambda items: (item for item in items),
    "empty": lambda _: [],
}


class Reducer:
    """A callable reduction that remembers with which shape and axes it was called."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.calls: list[tuple[tuple[int, ...], object]] = []

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def __call__(self, tensor: Any, axes: tuple[int, ...]) -> Any:
        self.calls.append((tuple(tensor.shape), axes))
        if self.name == "first":
            return tensor[(Ellipsis,) + (0,) * len(axes)]
        if self.name == "keep":
            return tensor[(Ellipsis,) + (slice(0, 1),) * len(axes)]
        if self.name == "fail":
            raise LookupError("a reduction of the caller's that fails")
        return getattr(tensor, self.name)(axes)


class UnhashableReducer(Reducer):
    """The same, but no key of a dict: a class with `__eq__` alone has no hash."""

    def __eq__(self, other: object) -> bool:
        return self is other


class _Index:
    """An integer only through `__index__`."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


@dataclass(frozen=True)
class Case:
    """One call of an operation: all but the values of the tensors."""

    op: str
    pattern: str
    shape: tuple[int, ...]
    lengths: tuple[tuple[str, Length], ...] = ()
    # One of the seven names, "call:NAME" or "unhashable:NAME" for a `Reducer`, or an unknown name.
    reduction: str | None = None
    dtype: str = "float32"
    layout: str = "C"
    # einsum and pack: the tensors after the first.
    others: tuple[Part, ...] = ()
    # unpack: the packed shapes.
    packed: tuple[tuple[Length, ...], ...] = ()
    # pack: how the tensors are handed over; unpack: how the packed shapes are.
    handed: str = "list"

    @property
    def plain(self) -> bool:
        """Whether every length is exactly an int."""
        return all(type(length) is int for _, length in self.lengths)

    @property
    def joins(self) -> bool:
        """Whether it is about several tensors, or about none but one tensor's shape or values."""
        return self.op in JOINS

    def parts(self) -> list["Case"]:
        """For each tensor a case with its shape, dtype and layout."""
        others = [
            replace(self, shape=shape, dtype=dtype, layout=layout, others=())
            for shape, dtype, layout in self.others
        ]
        return [self, *others]

    def built(self, build: Callable[["Case"], Any]) -> Any:
        """The tensor, or for the operations in `JOINS` the list of tensors."""
        return [build(part) for part in self.parts()] if self.joins else build(self)

    def kwargs(self) -> dict[str, Any]:
        """The lengths as the operation takes them."""
        return {name: _real(length) for name, length in self.lengths}

    def reducer(self) -> str | Reducer | None:
        """The reduction as `reduce` takes it: a name, or a fresh callable."""
        kind, colon, name = (self.reduction or "").partition(":")
        if not colon:
            return self.reduction
        return Reducer(name) if kind == "call" else UnhashableReducer(name)

    def apply(self, module: Any, tensor: Any, reducer: str | Reducer | None = None) -> Any:
        """Calls the operation of the module (einrs, einops, or the like) on what is `built`."""
        operation = getattr(module, self.op)
        if self.joins:
            return operation(*self._arguments(tensor))
        if self.reduction is None:
            return operation(tensor, self.pattern, **self.kwargs())
        if reducer is None:
            reducer = self.reducer()
        return operation(tensor, self.pattern, reducer, **self.kwargs())

    def _arguments(self, tensors: list[Any]) -> tuple[Any, ...]:
        if self.op == "einsum":
            return (*tensors, self.pattern)
        if self.op == "pack":
            return HANDED[self.handed](tensors), self.pattern
        if self.op == "unpack":
            shapes = (tuple(_real(size) for size in shape) for shape in self.packed)
            return tensors[0], HANDED[self.handed](shapes), self.pattern
        return (tensors[0],) if self.op == "asnumpy" else (tensors[0], self.pattern)

    def to_row(self) -> dict[str, Any]:
        """The case as values that JSON has, those with their default value left out."""
        row: dict[str, Any] = {"op": self.op, "pattern": self.pattern, "shape": list(self.shape)}
        if self.lengths:
            row["lengths"] = {name: _jsonable(length) for name, length in self.lengths}
        if self.reduction is not None:
            row["reduction"] = self.reduction
        if self.others:
            row["others"] = [[list(shape), dtype, layout] for shape, dtype, layout in self.others]
        if self.packed:
            row["packed"] = [[_jsonable(size) for size in shape] for shape in self.packed]
        if self.handed != "list":
            row["handed"] = self.handed
        return row | {"dtype": self.dtype, "layout": self.layout}

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "Case":
        """The case a row was made from; keys that are no part of a case are ignored."""
        lengths = row.get("lengths", {})
        return cls(
            op=row["op"],
            pattern=row["pattern"],
            shape=tuple(row["shape"]),
            lengths=tuple((name, _from_json(length)) for name, length in lengths.items()),
            reduction=row.get("reduction"),
            dtype=row.get("dtype", "float32"),
            layout=row.get("layout", "C"),
            others=tuple((tuple(shape), *rest) for shape, *rest in row.get("others", ())),
            packed=tuple(tuple(map(_from_json, shape)) for shape in row.get("packed", ())),
            handed=row.get("handed", "list"),
        )


def _real(length: Length) -> Any:
    if not isinstance(length, tuple):
        return length
    kind, value = length
    if kind == "index":
        return _Index(value)
    import numpy

    return numpy.dtype(kind).type(value)


def _jsonable(length: Length) -> Any:
    return list(length) if isinstance(length, tuple) else length


def _from_json(length: Any) -> Length:
    return (length[0], length[1]) if isinstance(length, list) else length
