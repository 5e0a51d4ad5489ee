"""The texts of an EinMix layer to its weights and what is done with them, for any framework."""

from __future__ import annotations

import math
import unicodedata
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from .. import _einrs, _errors, _ops
from .._errors import EinopsError
from ._base import PatternLayer, RearrangeMixin, described, integers, not_prepared


class Mix(NamedTuple):
    """What an EinMix layer does: rearrange, contract with a weight, add a bias, rearrange."""

    before: str | None
    """The rearrangement that takes the input apart, if it is not flat."""
    before_lengths: dict[str, int] | None
    after: str | None
    """The rearrangement that puts the output together, if it is not flat."""
    einsum_pattern: str
    weight_shape: list[int]
    weight_bound: float
    bias_shape: list[int] | None
    bias_bound: float


class _EinmixMixin(PatternLayer):
    """Einstein summation of the input with a weight of the layer's own, as a layer of no framework.

    Args:
        pattern: axes of the input, then axes of the output, as for `rearrange`.
        weight_shape: the axes of the weight.
        bias_shape: the axes of the output that the bias depends on; None for no bias.
        axes_lengths: lengths of all axes of weight and bias, and of others.

    Raises:
        EinopsError: no input would fit, for the texts or the lengths are refused.

    Warns:
        UserWarning: the weight has no axes.

    """

    weight_shape: str
    bias_shape: str | None
    einsum_pattern: str
    pre_rearrange: Any
    post_rearrange: Any
    weight: Any
    bias: Any
    _rearrange: Callable[..., Any] = RearrangeMixin

    def __init__(
        self, pattern: str, weight_shape: str, bias_shape: str | None = None, **axes_lengths: Any
    ) -> None:
        super().__init__()
        self._prepare(pattern, weight_shape, bias_shape, axes_lengths)

    def _prepare(
        self,
        pattern: str,
        weight_shape: str,
        bias_shape: str | None,
        lengths: dict[str, Any],
        **options: Any,
    ) -> None:
        """Takes the arguments; the options are for the weights, in the framework's own words."""
        self.pattern = pattern
        self.weight_shape = weight_shape
        self.bias_shape = bias_shape
        self._names, self._given = tuple(lengths), tuple(lengths.values())
        self.initialize_einmix(pattern, weight_shape, bias_shape, lengths, **options)

    def initialize_einmix(
        self,
        pattern: str,
        weight_shape: str,
        bias_shape: str | None,
        axes_lengths: dict[str, Any],
        **options: Any,
    ) -> None:
        """Makes the layers before and after the contraction, and the weights.

        Raises:
            EinopsError: the texts or the lengths are refused.

        """
        mix = analysed(type(self).__name__, pattern, weight_shape, bias_shape, axes_lengths)
        if not mix.weight_shape:
            text = "EinMix: weight has no dimensions (means multiplication by a number)"
            warnings.warn(text, stacklevel=4)
        self.einsum_pattern = mix.einsum_pattern
        self._create_rearrange_layers(mix.before, mix.before_lengths, mix.after, {})
        weight, bias = mix.weight_shape, mix.bias_shape
        self._create_parameters(weight, mix.weight_bound, bias, mix.bias_bound, **options)

    def _create_rearrange_layers(
        self,
        pre_reshape_pattern: str | None,
        pre_reshape_lengths: dict[str, int] | None,
        post_reshape_pattern: str | None,
        post_reshape_lengths: dict[str, int] | None,
    ) -> None:
        def layer(pattern: str | None, lengths: dict[str, int] | None) -> Any:
            return None if pattern is None else type(self)._rearrange(pattern, **(lengths or {}))

        self.pre_rearrange = layer(pre_reshape_pattern, pre_reshape_lengths)
        self.post_rearrange = layer(post_reshape_pattern, post_reshape_lengths)

    def _create_parameters(
        self,
        weight_shape: list[int],
        weight_bound: float,
        bias_shape: list[int] | None,
        bias_bound: float,
        **options: Any,
    ) -> None:
        self.weight = self._parameter("weight", weight_shape, weight_bound, **options)
        if bias_shape is None:
            self.bias = None
        else:
            self.bias = self._parameter("bias", bias_shape, bias_bound, **options)

    def _parameter(self, name: str, shape: list[int], bound: float, **options: Any) -> Any:
        """A weight of the framework, uniform between -bound and bound."""
        raise NotImplementedError(f"{type(self).__name__} does not say how to make its {name}")

    def _mix(
        self,
        x: Any,
        einsum: Callable[..., Any],
        rearrange: Callable[..., Any] = _einrs.layer_rearrange,
    ) -> Any:
        """The output for an input.

        The layers around are not called as such, which would cost as much as what they do.

        Raises:
            EinopsError: the input has not the axes or the sizes that the texts say.

        """
        before, after = self.pre_rearrange, self.post_rearrange
        if before is not None:
            x = rearrange(x, before.pattern, before._names, before._given)
        elif isinstance(x, list):
            x = rearrange(x, "... -> ...", (), ())
        try:
            result = einsum(self.einsum_pattern, x, self.weight)
            bias = self.bias
            if bias is not None:
                # In place, as in einops: under autocast the result keeps its dtype.
                result += bias
        except Exception as error:
            misfit = self._misfit(x)
            if misfit is None:
                raise
            raise misfit from error
        if after is None:
            return result
        return rearrange(result, after.pattern, after._names, after._given)

    def _misfit(self, x: Any) -> EinopsError | None:
        """Why the input does not fit, or None where the sizes do not say."""
        left = self.pattern.partition("->")[0]
        if self.pre_rearrange is not None:
            left = self.pre_rearrange.pattern.partition("->")[2]
        lengths = normalised(self.axes_lengths)
        operands, shapes = [left.strip(), self.weight_shape], [getattr(x, "shape", ())]
        if self.bias_shape is not None:
            operands.append(self.bias_shape)
        pattern = f"{', '.join(operands)} ->"
        for shape in operands[1:]:
            shapes.append([lengths[_normal(name)] for name in shape.split()])
        try:
            numbers = tuple([tuple([int(size) for size in shape]) for shape in shapes])
        except Exception:
            return None
        refusal = _einrs.einsum_misfit(pattern, numbers)
        if refusal is None:
            return None
        operands = ["the input", "the weight", "the bias"][: len(operands)]
        named = ", ".join(f"#{i} is {operand}" for i, operand in enumerate(operands))
        layer = described(type(self).__name__, self._texts(), self.axes_lengths)
        message = f" Error while applying {layer} to an input of shape {shapes[0]}"
        return EinopsError(f"{message}\n {refusal[1]}\n {named}", refusal[0], pattern, refusal[2])

    def _texts(self) -> tuple[Any, ...]:
        texts = (self.pattern, self.weight_shape)
        return texts if self.bias_shape is None else (*texts, self.bias_shape)


class _EinmixDebugger(_EinmixMixin):
    """Keeps what others make layers and weights of, as einops' own tests want it."""

    def _create_rearrange_layers(
        self,
        pre_reshape_pattern: str | None,
        pre_reshape_lengths: dict[str, int] | None,
        post_reshape_pattern: str | None,
        post_reshape_lengths: dict[str, int] | None,
    ) -> None:
        self.pre_reshape_pattern = pre_reshape_pattern
        self.pre_reshape_lengths = pre_reshape_lengths
        self.post_reshape_pattern = post_reshape_pattern
        self.post_reshape_lengths = post_reshape_lengths

    def _create_parameters(
        self,
        weight_shape: list[int],
        weight_bound: float,  # noqa: ARG002
        bias_shape: list[int] | None,
        bias_bound: float,  # noqa: ARG002
        **_options: Any,
    ) -> None:
        self.saved_weight_shape = weight_shape
        self.saved_bias_shape = bias_shape


def analysed(
    name: str, pattern: str, weight_shape: str, bias_shape: str | None, lengths: dict[str, Any]
) -> Mix:
    """What a layer does, and the shapes and bounds of its weights.

    Raises:
        EinopsError: the texts or the lengths are refused.

    """
    try:
        _check_texts(pattern, weight_shape, bias_shape, lengths)
        given = dict(zip(lengths, integers(pattern, lengths), strict=True))
        _check_signs(pattern, given)
        refusal, parts = _einrs.einmix(pattern, weight_shape, bias_shape, tuple(given))
        if refusal is not None:
            raise _refused(refusal, pattern, weight_shape, bias_shape)
    except EinopsError as error:
        texts = (pattern, weight_shape, *([] if bias_shape is None else [bias_shape]))
        raise not_prepared(error, described(name, texts, lengths)) from None
    before, after, einsum_pattern, weight, fan_in_axes, bias = parts
    known = normalised(given)
    # As in torch's Linear, nothing is drawn where nothing is summed.
    fan_in = math.prod([known[axis] for axis in fan_in_axes])
    weight_bound, bias_bound = [(gain / fan_in) ** 0.5 if fan_in else 0.0 for gain in (3, 1)]
    taken_apart = set((before or "").partition("->")[2].split())
    return Mix(
        before=before,
        before_lengths=None if before is None else _chosen(given, taken_apart),
        after=after,
        einsum_pattern=einsum_pattern,
        weight_shape=[known[axis] for axis in weight],
        weight_bound=weight_bound,
        bias_shape=None if bias is None else [1 if axis is None else known[axis] for axis in bias],
        bias_bound=bias_bound,
    )


def normalised(lengths: dict[str, Any]) -> dict[str, Any]:
    """Lengths by the names that the core gives the axes."""
    return {_normal(name): length for name, length in lengths.items()}


def _normal(name: str) -> str:
    # Dynamo knows `isascii`, but not `unicodedata`.
    return name if name.isascii() else unicodedata.normalize("NFKC", name)


def _chosen(lengths: dict[str, Any], names: set[str]) -> dict[str, Any]:
    return {name: length for name, length in lengths.items() if _normal(name) in names}


def _check_texts(pattern: Any, weight_shape: Any, bias_shape: Any, lengths: dict[str, Any]) -> None:
    if not isinstance(pattern, str):
        raise _errors.pattern_type("EinMix", pattern)
    if not isinstance(weight_shape, str):
        raise _errors.EinopsTypeError(
            f"weight shape should be string specifying the axes of weight, not {weight_shape!r}"
        )
    if not isinstance(bias_shape, str | None):
        raise _errors.EinopsTypeError(
            f"bias shape should be string specifying which axes bias depends on, not {bias_shape!r}"
        )
    for text in (pattern, weight_shape, bias_shape or "", *lengths):
        _ops.check_text(text, "EinMix", None)


def _check_signs(pattern: str, lengths: dict[str, Any]) -> None:
    for name, length in lengths.items():
        if isinstance(length, int) and length < 0:
            message = f"the length of '{name}' is given as {length}: a length is never negative"
            raise EinopsError(message, "NegativeLength", pattern)


def _refused(
    refusal: _errors.Refusal, pattern: str, weight_shape: str, bias_shape: str | None
) -> EinopsError:
    """The exception for a refusal, with the text that it is about: its message shows that one."""
    kind, message, spans = refusal
    texts = [text for text in (weight_shape, bias_shape) if text and f"\n  {text}\n" in message]
    return EinopsError(message, kind, texts[0] if texts else pattern, spans)
