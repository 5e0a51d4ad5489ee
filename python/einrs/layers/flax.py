"""The operations as modules of flax linen."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import flax.linen as nn
import jax
from flax.core import FrozenDict

from .. import _einrs
from ._base import checked_lengths
from ._einmix import _EinmixMixin, analysed

Class = TypeVar("Class", bound=type)


def _with_keywords(cls: Class) -> Class:
    """Lets a module be given its lengths by keyword as well as in the field `sizes`.

    Type checkers know only what the class says: they read the `__init__` that it declares.
    """
    construct = cls.__init__  # type: ignore[misc]
    fields = {field.name for field in dataclasses.fields(cls)}

    @functools.wraps(construct)
    def construct_with_keywords(self: Any, *args: Any, **keywords: Any) -> None:
        own = {name: keywords[name] for name in keywords if name in fields}
        lengths = {name: keywords[name] for name in keywords if name not in fields}
        if lengths:
            own["sizes"] = {**own.get("sizes", {}), **lengths}
        construct(self, *args, **own)

    cls.__init__ = construct_with_keywords  # type: ignore[misc]
    return cls


class _Operation(nn.Module):
    def _checked(self: Any, *texts: Any, called: Any) -> None:
        """Checks the texts and lengths, which are frozen, so that the module has a hash."""
        given = checked_lengths(type(self).__name__, texts, called, dict(self.sizes))
        self.sizes = FrozenDict(zip(self.sizes, given, strict=True))

    def _lengths(self: Any) -> tuple[tuple[str, ...], tuple[int, ...]]:
        return tuple(self.sizes), tuple(self.sizes.values())


@_with_keywords
class Rearrange(_Operation):
    """`einrs.rearrange` as a module: `Rearrange(pattern, h=2)`, or `sizes={"h": 2}`."""

    pattern: str
    sizes: Mapping[str, int] = dataclasses.field(default_factory=dict)

    if TYPE_CHECKING:

        def __init__(self, pattern: str, sizes: Mapping[str, int] = ..., **_: Any) -> None: ...

    def __post_init__(self) -> None:
        self._checked(self.pattern, called="rearrange")
        super().__post_init__()

    def __call__(self, input: jax.Array | list[jax.Array]) -> jax.Array:  # noqa: A002
        """The result for an array, or for a list of arrays."""
        return _einrs.layer_rearrange(input, self.pattern, *self._lengths())


@_with_keywords
class Repeat(_Operation):
    """`einrs.repeat` as a module."""

    pattern: str
    sizes: Mapping[str, int] = dataclasses.field(default_factory=dict)

    if TYPE_CHECKING:

        def __init__(self, pattern: str, sizes: Mapping[str, int] = ..., **_: Any) -> None: ...

    def __post_init__(self) -> None:
        self._checked(self.pattern, called="repeat")
        super().__post_init__()

    def __call__(self, input: jax.Array | list[jax.Array]) -> jax.Array:  # noqa: A002
        """The result for an array, or for a list of arrays."""
        return _einrs.layer_repeat(input, self.pattern, *self._lengths())


@_with_keywords
class Reduce(_Operation):
    """`einrs.reduce` as a module."""

    pattern: str
    reduction: Any
    sizes: Mapping[str, int] = dataclasses.field(default_factory=dict)

    if TYPE_CHECKING:

        def __init__(
            self,
            pattern: str,
            reduction: _einrs.Reduction,
            sizes: Mapping[str, int] = ...,
            **lengths: Any,
        ) -> None: ...

    def __post_init__(self) -> None:
        self._checked(self.pattern, self.reduction, called=self.reduction)
        super().__post_init__()

    def __call__(self, input: jax.Array | list[jax.Array]) -> jax.Array:  # noqa: A002
        """The result for an array, or for a list of arrays."""
        return _einrs.layer_reduce(input, self.pattern, *self._lengths(), self.reduction)


@_with_keywords
class EinMix(nn.Module, _EinmixMixin):
    """A linear layer over named axes: einsum with a weight, plus a bias, between rearrangements."""

    pattern: str
    weight_shape: str
    bias_shape: str | None = None
    sizes: Mapping[str, int] = dataclasses.field(default_factory=dict)

    if TYPE_CHECKING:

        def __init__(
            self,
            pattern: str,
            weight_shape: str,
            bias_shape: str | None = None,
            sizes: Mapping[str, int] = ...,
            **lengths: Any,
        ) -> None: ...

    @property
    def axes_lengths(self) -> dict[str, Any]:
        """The lengths that were given, by name."""
        return dict(self.sizes)

    def __post_init__(self) -> None:
        texts = (self.pattern, self.weight_shape, self.bias_shape)
        analysed(type(self).__name__, *texts, dict(self.sizes))
        self.sizes = FrozenDict(self.sizes)
        super().__post_init__()

    def setup(self) -> None:
        """Makes the weights."""
        texts = (self.pattern, self.weight_shape, self.bias_shape)
        self.initialize_einmix(*texts, dict(self.sizes))

    def _parameter(self, name: str, shape: list[int], bound: float, **_options: Any) -> Any:
        def uniform(key: Any) -> Any:
            return jax.random.uniform(key, tuple(shape), minval=-bound, maxval=bound)

        return self.param(name, uniform)

    def __call__(self, input: jax.Array | list[jax.Array]) -> jax.Array:  # noqa: A002
        """The output for an array, or for a list of arrays."""
        return self._mix(input, jax.numpy.einsum)
