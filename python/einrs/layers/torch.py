"""The operations as torch modules; torch.jit.script, torch.compile and torch.fx take them."""

# No `from __future__ import annotations`: TorchScript wants types, not texts.
from collections.abc import Callable
from typing import Any, cast

import torch

from .._einrs import layer_rearrange, layer_reduce, layer_repeat
from . import _scripted
from ._base import OperationLayer, RearrangeMixin, ReduceMixin, RepeatMixin
from ._einmix import _EinmixMixin


class _Called:
    """What the layers share.

    It stands first among their bases: TorchScript reads the annotations of the first that has any.
    """

    __jit_unused_properties__ = ["axes_lengths", "_multirecipe", "_axes_lengths"]  # noqa: RUF012
    __call__: Callable[..., torch.Tensor]


class _Operation(_Called):
    """A module whose recipe TorchScript compiles."""

    _steps: _scripted.Steps

    def __prepare_scriptable__(self) -> Any:
        """Makes the recipe that `forward` uses in TorchScript, which calls this first."""
        self._steps = _scripted.steps(cast("OperationLayer", self))
        return self


class Rearrange(_Operation, RearrangeMixin, torch.nn.Module):
    """`einrs.rearrange` as a module.

    Examples:
        >>> import torch
        >>> from einrs.layers.torch import Rearrange
        >>> Rearrange("b (h d) -> h b d", h=2)(torch.zeros(3, 8)).shape
        torch.Size([2, 3, 4])

    """

    def forward(self, input: torch.Tensor) -> torch.Tensor:  # noqa: A002
        """The rearranged tensor; outside of TorchScript also for a list of tensors."""
        if torch.jit.is_scripting():
            return _scripted.apply(input, self._steps)
        else:  # noqa: RET505
            return layer_rearrange(input, self.pattern, self._names, self._given)


class Repeat(_Operation, RepeatMixin, torch.nn.Module):
    """`einrs.repeat` as a module.

    Examples:
        >>> import torch
        >>> from einrs.layers.torch import Repeat
        >>> Repeat("a -> a b", b=2)(torch.zeros(3)).shape
        torch.Size([3, 2])

    """

    def forward(self, input: torch.Tensor) -> torch.Tensor:  # noqa: A002
        """The tensor with new axes; outside of TorchScript also for a list of tensors."""
        if torch.jit.is_scripting():
            return _scripted.apply(input, self._steps)
        else:  # noqa: RET505
            return layer_repeat(input, self.pattern, self._names, self._given)


class Reduce(_Operation, ReduceMixin, torch.nn.Module):
    """`einrs.reduce` as a module; TorchScript takes all reductions that have a name.

    Examples:
        >>> import torch
        >>> from einrs.layers.torch import Reduce
        >>> Reduce("a (b 2) -> a b", "max")(torch.zeros(3, 8)).shape
        torch.Size([3, 4])

    """

    def forward(self, input: torch.Tensor) -> torch.Tensor:  # noqa: A002
        """The reduced tensor; outside of TorchScript also for a list of tensors."""
        if torch.jit.is_scripting():
            return _scripted.apply(input, self._steps)
        else:  # noqa: RET505
            return layer_reduce(input, self.pattern, self._names, self._given, self.reduction)


class EinMix(_Called, _EinmixMixin, torch.nn.Module):
    """A linear layer over named axes: an einsum with a weight, plus a bias, between rearrangements.

    Args:
        pattern: axes of the input, then axes of the output, as for `rearrange`.
        weight_shape: the axes of the weight.
        bias_shape: the axes of the output that the bias depends on; None for no bias.
        device: of the weights, as in torch's own layers.
        dtype: of the weights.
        axes_lengths: lengths of all axes of weight and bias, and of others.

    Raises:
        EinopsError: no input would fit, for the texts or the lengths are refused.

    Examples:
        >>> import torch
        >>> from einrs.layers.torch import EinMix
        >>> EinMix("b (h c) -> b h d", "h c d", "h d", h=2, c=3, d=4)(torch.zeros(5, 6)).shape
        torch.Size([5, 2, 4])

    """

    _rearrange = Rearrange

    def __init__(
        self,
        pattern: str,
        weight_shape: str,
        bias_shape: str | None = None,
        device: Any = None,
        dtype: Any = None,
        **axes_lengths: Any,
    ) -> None:
        torch.nn.Module.__init__(self)
        options = {"device": device, "dtype": dtype}
        self._prepare(pattern, weight_shape, bias_shape, axes_lengths, **options)

    def _parameter(self, name: str, shape: list[int], bound: float, **options: Any) -> Any:  # noqa: ARG002
        return torch.nn.Parameter(torch.empty(shape, **options).uniform_(-bound, bound))

    def forward(self, input: torch.Tensor) -> torch.Tensor:  # noqa: A002
        """The output; outside of TorchScript also for a list of tensors."""
        if torch.jit.is_scripting():
            if self.pre_rearrange is not None:
                input = self.pre_rearrange(input)  # noqa: A001
            result = torch.einsum(self.einsum_pattern, input, self.weight)
            if self.bias is not None:
                result += self.bias
            return result if self.post_rearrange is None else self.post_rearrange(result)
        else:  # noqa: RET505
            return self._mix(input, torch.einsum, layer_rearrange)
