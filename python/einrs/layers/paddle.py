"""The operations as layers of paddle."""

from __future__ import annotations

from typing import Any

import paddle

from ._base import RearrangeMixin, ReduceMixin, RepeatMixin
from ._einmix import _EinmixMixin


class _Operation(paddle.nn.Layer):
    def forward(self, input: Any) -> Any:  # noqa: A002
        """The result for a tensor, or for a list of tensors."""
        return self._apply_recipe(input)


class Rearrange(RearrangeMixin, _Operation):
    """`einrs.rearrange` as a layer."""


class Repeat(RepeatMixin, _Operation):
    """`einrs.repeat` as a layer."""


class Reduce(ReduceMixin, _Operation):
    """`einrs.reduce` as a layer."""


class EinMix(_EinmixMixin, paddle.nn.Layer):
    """A linear layer over named axes: einsum with a weight, plus a bias, between rearrangements."""

    def _parameter(self, name: str, shape: list[int], bound: float, **_options: Any) -> Any:  # noqa: ARG002
        uniform = paddle.nn.initializer.Uniform(-bound, bound)
        return self.create_parameter(shape, default_initializer=uniform)

    def forward(self, input: Any) -> Any:  # noqa: A002
        """The output for a tensor, or for a list of tensors."""
        return self._mix(input, paddle.einsum)
