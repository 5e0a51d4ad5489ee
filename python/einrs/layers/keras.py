"""The operations as layers of Keras 3, on any of its backends; models that hold them save and load.

Once this module is imported, `load_model` finds the layers. Only for a model that einops saved it
wants `keras_custom_objects` as its `custom_objects`.
"""

from __future__ import annotations

import math
import re
from typing import Any

import keras

from ._base import PatternLayer, RearrangeMixin, ReduceMixin, RepeatMixin
from ._einmix import _EinmixMixin

OWN = ("name", "trainable", "dtype")
"""What a layer of Keras itself is given by keyword: no lengths of axes."""

_registered = keras.saving.register_keras_serializable(package="einrs")


class _Layer(PatternLayer):
    """What the layers share: Keras' own arguments apart, and all arguments for saving."""

    def _taken(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Gives Keras its arguments, and returns the others."""
        own = {name: arguments[name] for name in OWN if name in arguments}
        keras.layers.Layer.__init__(self, **own)
        return {name: length for name, length in arguments.items() if name not in own}

    def build(self, input_shape: Any) -> None:
        """Makes the weights, if there are any."""

    def compute_output_spec(self, inputs: Any) -> Any:
        """Shape and dtype of the output for a symbolic input.

        The torch backend of Keras calls a layer with numbers of its own in place of open sizes,
        which the pattern may not divide; here they are multiples of all lengths.
        """
        specify = super().compute_output_spec  # type: ignore[misc]
        if keras.backend.backend() != "torch":
            return specify(inputs)
        numbers = [*self._given, *map(int, re.findall("[1-9][0-9]*", self.pattern))]
        unit = math.prod([number for number in numbers if number])
        first, second = [specify(_filled(inputs, unit * factor)) for factor in (2, 3)]
        sizes = zip(first.shape, second.shape, strict=True)
        return keras.KerasTensor([a if a == b else None for a, b in sizes], first.dtype)

    def get_config(self) -> dict[str, Any]:
        """The arguments that build the layer anew."""
        texts = ("pattern", "reduction", "weight_shape", "bias_shape")
        config = {name: getattr(self, name) for name in texts if hasattr(self, name)}
        return {**super().get_config(), **config, **self.axes_lengths}  # type: ignore[misc]


class _Operation(_Layer):
    def call(self, inputs: Any) -> Any:
        """The result for a tensor, or for a list of tensors."""
        return self._apply_recipe(inputs)  # type: ignore[attr-defined]


@_registered
class Rearrange(_Operation, RearrangeMixin, keras.layers.Layer):
    """`einrs.rearrange` as a layer."""

    def __init__(self, pattern: str, **axes_lengths: Any) -> None:
        lengths = self._taken(axes_lengths)
        self.pattern = pattern
        self._prepare(lengths)


@_registered
class Repeat(_Operation, RepeatMixin, keras.layers.Layer):
    """`einrs.repeat` as a layer."""

    def __init__(self, pattern: str, **axes_lengths: Any) -> None:
        lengths = self._taken(axes_lengths)
        self.pattern = pattern
        self._prepare(lengths)


@_registered
class Reduce(_Operation, ReduceMixin, keras.layers.Layer):
    """`einrs.reduce` as a layer."""

    def __init__(self, pattern: str, reduction: Any, **axes_lengths: Any) -> None:
        lengths = self._taken(axes_lengths)
        self.pattern, self.reduction = pattern, reduction
        self._prepare(lengths)


@_registered
class EinMix(_Layer, _EinmixMixin, keras.layers.Layer):
    """A linear layer over named axes: einsum with a weight, plus a bias, between rearrangements."""

    def __init__(
        self, pattern: str, weight_shape: str, bias_shape: str | None = None, **axes_lengths: Any
    ) -> None:
        lengths = self._taken(axes_lengths)
        self._prepare(pattern, weight_shape, bias_shape, lengths)

    def _create_parameters(self, *arguments: Any, **_options: Any) -> None:
        self._planned = arguments

    def build(self, input_shape: Any) -> None:  # noqa: ARG002
        """Makes the weights."""
        super()._create_parameters(*self._planned)

    def _parameter(self, name: str, shape: list[int], bound: float, **_options: Any) -> Any:
        uniform = keras.initializers.RandomUniform(-bound, bound)
        return self.add_weight(shape=tuple(shape), initializer=uniform, name=name)

    def call(self, inputs: Any) -> Any:
        """The output for a tensor, or for a list of tensors."""
        return self._mix(inputs, keras.ops.einsum)


def _filled(inputs: Any, size: int) -> Any:
    """Symbolic tensors whose open sizes are this number."""
    if isinstance(inputs, list):
        return [_filled(tensor, size) for tensor in inputs]
    shape = [size if length is None else length for length in inputs.shape]
    return keras.KerasTensor(shape, inputs.dtype)


keras_custom_objects = {layer.__name__: layer for layer in (Rearrange, Repeat, Reduce, EinMix)}
