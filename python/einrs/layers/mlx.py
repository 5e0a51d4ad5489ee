"""The operations as modules of mlx.nn."""

from __future__ import annotations

from typing import Any, cast

import mlx.core as mx
import mlx.nn as nn

from ._base import RearrangeMixin, ReduceMixin, RepeatMixin
from ._einmix import _EinmixMixin


class _Operation(nn.Module):
    def __call__(self, input: mx.array | list[mx.array]) -> mx.array:  # noqa: A002
        """The result for an array, or for a list of arrays."""
        return cast("mx.array", self._apply_recipe(input))


class Rearrange(RearrangeMixin, _Operation):
    """`einrs.rearrange` as a module."""


class Repeat(RepeatMixin, _Operation):
    """`einrs.repeat` as a module."""


class Reduce(ReduceMixin, _Operation):
    """`einrs.reduce` as a module."""


class EinMix(_EinmixMixin, nn.Module):
    """A linear layer over named axes: einsum with a weight, plus a bias, between rearrangements."""

    def _parameter(self, name: str, shape: list[int], bound: float, **_options: Any) -> Any:  # noqa: ARG002
        return mx.random.uniform(-bound, bound, tuple(shape))

    def __call__(self, input: mx.array | list[mx.array]) -> mx.array:  # noqa: A002
        """The output for an array, or for a list of arrays."""
        return cast("mx.array", self._mix(input, mx.einsum))
