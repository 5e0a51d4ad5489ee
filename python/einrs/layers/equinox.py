"""The operations as modules of equinox."""

from __future__ import annotations

from typing import Any, SupportsIndex

import equinox as eqx
import jax

from .. import _einrs
from ._base import RearrangeMixin, ReduceMixin, RepeatMixin
from ._einmix import _EinmixMixin


class _Module(eqx.Module):
    """What the layers share: all but the weights is static.

    Each layer has an `__init__`, in whose place type checkers would see that of a dataclass.
    """

    pattern: str = eqx.field(static=True)
    _names: tuple[str, ...] = eqx.field(static=True)
    _given: tuple[int, ...] = eqx.field(static=True)

    def __init__(self) -> None:
        """Sets nothing: the other base of a layer does."""


class _Operation(_Module):
    def __call__(self, input: jax.Array | list[jax.Array], *, key: Any = None) -> jax.Array:  # noqa: A002, ARG002
        """The result for an array, or for a list of arrays; the key is of no account."""
        return self._apply_recipe(input)


class Rearrange(RearrangeMixin, _Operation):
    """`einrs.rearrange` as a module."""

    def __init__(self, pattern: str, **axes_lengths: SupportsIndex) -> None:
        super().__init__(pattern, **axes_lengths)


class Repeat(RepeatMixin, _Operation):
    """`einrs.repeat` as a module."""

    def __init__(self, pattern: str, **axes_lengths: SupportsIndex) -> None:
        super().__init__(pattern, **axes_lengths)


class Reduce(ReduceMixin, _Operation):
    """`einrs.reduce` as a module."""

    reduction: _einrs.Reduction = eqx.field(static=True)

    def __init__(
        self, pattern: str, reduction: _einrs.Reduction, **axes_lengths: SupportsIndex
    ) -> None:
        super().__init__(pattern, reduction, **axes_lengths)


class EinMix(_EinmixMixin, _Module):
    """A linear layer over named axes: einsum with a weight, plus a bias, between rearrangements.

    `key` is for the weights, as in equinox' own layers.
    """

    weight_shape: str = eqx.field(static=True)
    bias_shape: str | None = eqx.field(static=True)
    einsum_pattern: str = eqx.field(static=True)
    pre_rearrange: Rearrange | None
    post_rearrange: Rearrange | None
    weight: jax.Array
    bias: jax.Array | None

    _rearrange = Rearrange

    def __init__(
        self,
        pattern: str,
        weight_shape: str,
        bias_shape: str | None = None,
        *,
        key: Any,
        **axes_lengths: Any,
    ) -> None:
        self._prepare(pattern, weight_shape, bias_shape, axes_lengths, key=key)

    def _parameter(self, name: str, shape: list[int], bound: float, **options: Any) -> Any:
        weight, bias = jax.random.split(options["key"])
        key = weight if name == "weight" else bias
        return jax.random.uniform(key, tuple(shape), minval=-bound, maxval=bound)

    def __call__(self, input: jax.Array | list[jax.Array], *, key: Any = None) -> jax.Array:  # noqa: A002, ARG002
        """The output for an array, or for a list of arrays; the key is of no account."""
        return self._mix(input, jax.numpy.einsum)
