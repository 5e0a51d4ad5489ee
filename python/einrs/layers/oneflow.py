"""The operations as modules of oneflow."""

from __future__ import annotations

from typing import Any

import oneflow

from ._base import RearrangeMixin, ReduceMixin, RepeatMixin
from ._einmix import _EinmixMixin


class _Operation(oneflow.nn.Module):
    def forward(self, input: Any) -> Any:  # noqa: A002
        """The result for a tensor, or for a list of tensors."""
        return self._apply_recipe(input)


class Rearrange(RearrangeMixin, _Operation):
    """`einrs.rearrange` as a module."""


class Repeat(RepeatMixin, _Operation):
    """`einrs.repeat` as a module."""


class Reduce(ReduceMixin, _Operation):
    """`einrs.reduce` as a module."""


class EinMix(_EinmixMixin, oneflow.nn.Module):
    """A linear layer over named axes: einsum with a weight, plus a bias, between rearrangements."""

    def _parameter(self, name: str, shape: list[int], bound: float, **_options: Any) -> Any:  # noqa: ARG002
        return oneflow.nn.Parameter(oneflow.zeros(shape).uniform_(-bound, bound))

    def forward(self, input: Any) -> Any:  # noqa: A002
        """The output for a tensor, or for a list of tensors."""
        return self._mix(input, oneflow.einsum)
