"""The class that a program derives its own backend from, and the sizes that stand for no number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .. import _frameworks


class AbstractBackend:
    """What einops asks of a framework; a subclass is found by its mere definition.

    A subclass sets `framework_name`, the module that must be loaded before the backend is asked,
    and defines `is_appropriate_type` and what its tensors do not do as numpy's. The steps of a
    pattern are `reshape`, `transpose`, `reduce`, `add_axes` (by `add_axis` and `tile`), and
    `reshape`; lists of tensors go to `stack_on_zeroth_dimension`, pack to `concat`.

    Examples:
        >>> import numpy as np, einrs
        >>> from einrs._backends import AbstractBackend
        >>> class Wrapped:
        ...     def __init__(self, array): self.array = array
        >>> class WrappedBackend(AbstractBackend):
        ...     framework_name = "numpy"
        ...     def is_appropriate_type(self, tensor): return isinstance(tensor, Wrapped)
        ...     def shape(self, x): return x.array.shape
        ...     def transpose(self, x, axes): return Wrapped(x.array.transpose(axes))
        >>> einrs.rearrange(Wrapped(np.zeros((2, 3))), "a b -> b a").array.shape
        (3, 2)

    """

    framework_name: str

    def __init_subclass__(cls, **keywords: Any) -> None:
        """Lets a type that einrs serves by itself be asked for anew: the subclass may want it."""
        super().__init_subclass__(**keywords)
        _frameworks._known.clear()

    def is_appropriate_type(self, tensor: Any) -> bool:
        """Whether the backend serves this tensor."""
        raise NotImplementedError

    def from_numpy(self, x: Any) -> Any:
        """An `ndarray` to a tensor."""
        raise NotImplementedError("framework doesn't support imperative execution")

    def to_numpy(self, x: Any) -> Any:
        """A tensor to an `ndarray`."""
        raise NotImplementedError("framework doesn't support imperative execution")

    def create_symbol(self, shape: Any) -> Any:
        """A tensor without values; None stands for an unknown size."""
        raise NotImplementedError("framework doesn't support symbolic computations")

    def eval_symbol(self, symbol: Any, symbol_value_pairs: Any) -> Any:
        """What a symbol comes to for pairs of symbols and values."""
        raise NotImplementedError("framework doesn't support symbolic computations")

    def arange(self, start: int, stop: int) -> Any:
        """The integers from start up to stop."""
        raise NotImplementedError("framework doesn't implement arange")

    def shape(self, x: Any) -> Any:
        """The sizes: integers, or symbols that multiply and divide."""
        return x.shape

    def reshape(self, x: Any, shape: Any) -> Any:
        """The same elements in another shape."""
        return x.reshape(shape)

    def transpose(self, x: Any, axes: Any) -> Any:
        """The axes in another order."""
        return x.transpose(axes)

    def reduce(self, x: Any, operation: str, axes: tuple[int, ...]) -> Any:
        """The tensor without some axes."""
        return getattr(x, operation)(axis=axes)

    def stack_on_zeroth_dimension(self, tensors: list[Any]) -> Any:
        """The tensors along a new first axis."""
        raise NotImplementedError

    def add_axis(self, x: Any, new_position: int) -> Any:
        """The tensor with a new axis of length 1."""
        raise NotImplementedError

    def add_axes(self, x: Any, n_axes: int, pos2len: dict[int, Any]) -> Any:
        """The tensor with new axes at some of `n_axes` positions, each with its length."""
        repeats: list[Any] = [1] * n_axes
        for position, length in pos2len.items():
            x = self.add_axis(x, position)
            repeats[position] = length
        return self.tile(x, tuple(repeats))

    def tile(self, x: Any, repeats: Any) -> Any:
        """The tensor repeated along each axis."""
        raise NotImplementedError

    def concat(self, tensors: list[Any], axis: int) -> Any:
        """The tensors one after the other along an axis."""
        raise NotImplementedError

    def is_float_type(self, x: Any) -> bool:
        """Whether the numbers have a mean."""
        raise NotImplementedError

    def layers(self) -> Any:
        """The module of layers for the framework."""
        raise NotImplementedError("backend does not provide layers")

    def einsum(self, pattern: str, *x: Any) -> Any:
        """The framework's own einsum, for a pattern in single letters."""
        raise NotImplementedError("backend does not support einsum")

    def __repr__(self) -> str:
        return f"<einops backend for {self.framework_name}>"


class UnknownSize:
    """A size that is not known: it equals every other, and stays unknown in any arithmetic."""

    def __floordiv__(self, other: Any) -> UnknownSize:
        return self

    def __eq__(self, other: object) -> bool:
        return True

    def __mul__(self, other: Any) -> UnknownSize:
        return self

    def __rmul__(self, other: Any) -> UnknownSize:
        return self

    def __hash__(self) -> int:
        return hash(None)


class HashableTuple:
    """A tuple of what may not be hashed; it equals nothing but itself."""

    def __init__(self, elements: tuple[Any, ...]) -> None:
        self.elements = elements

    def __iter__(self) -> Iterator[Any]:
        return iter(self.elements)

    def __len__(self) -> int:
        return len(self.elements)

    def __getitem__(self, item: Any) -> Any:
        return self.elements[item]
