"""The operations as modules of flax nnx."""

from __future__ import annotations

from typing import Any

import jax
from flax import nnx

from ._base import RearrangeMixin, ReduceMixin, RepeatMixin
from ._einmix import _EinmixMixin


class _Operation(nnx.Module):
    def __call__(self, input: jax.Array | list[jax.Array]) -> jax.Array:  # noqa: A002
        """The result for an array, or for a list of arrays."""
        return self._apply_recipe(input)


class Rearrange(RearrangeMixin, _Operation):
    """`einrs.rearrange` as a module."""


class Repeat(RepeatMixin, _Operation):
    """`einrs.repeat` as a module."""


class Reduce(ReduceMixin, _Operation):
    """`einrs.reduce` as a module."""


class EinMix(_EinmixMixin, nnx.Module):
    """A linear layer over named axes: einsum with a weight, plus a bias, between rearrangements.

    `rngs` gives the keys, as in nnx' own layers.
    """

    _rearrange = Rearrange

    def __init__(
        self,
        pattern: str,
        weight_shape: str,
        bias_shape: str | None = None,
        *,
        rngs: nnx.Rngs,
        **axes_lengths: Any,
    ) -> None:
        self._prepare(pattern, weight_shape, bias_shape, axes_lengths, rngs=rngs)

    def _parameter(self, name: str, shape: list[int], bound: float, **options: Any) -> Any:  # noqa: ARG002
        key = options["rngs"].params()
        return nnx.Param(jax.random.uniform(key, tuple(shape), minval=-bound, maxval=bound))

    def __call__(self, input: jax.Array | list[jax.Array]) -> jax.Array:  # noqa: A002
        """The output for an array, or for a list of arrays."""
        return self._mix(input, _einsum)


def _einsum(pattern: str, x: Any, weight: nnx.Param[Any]) -> Any:
    return jax.numpy.einsum(pattern, x, weight[...])
