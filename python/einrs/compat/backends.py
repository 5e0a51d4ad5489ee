"""Einops' backends: the class of each framework, for programs that derive from one or create it.

Who creates a backend asks for its framework, which is imported then. Each holds its framework in
the attribute that einops gives it, and calls it there: a subclass may put another module into it.
"""

# ruff: noqa: D102 - the methods are described where `AbstractBackend` has them.

from __future__ import annotations

import importlib
from typing import Any

from .abstract import AbstractBackend, HashableTuple

FLOATS = ("float16", "float32", "float64", "float128", "bfloat16")
"""Names of the dtypes that have a mean."""


class _Holding:
    """Imports `package` and holds it in the attribute called `attribute`."""

    attribute: str
    package: str
    LAYERS: str | None = None
    """The module of einrs that has layers for the framework."""

    def __init__(self) -> None:
        setattr(self, self.attribute, importlib.import_module(self.package))

    @property
    def _held(self) -> Any:
        return getattr(self, self.attribute)

    def layers(self) -> Any:
        """The module of layers for the framework.

        Raises:
            NotImplementedError: there is none.

        """
        if self.LAYERS is None:
            raise NotImplementedError("backend does not provide layers")
        return importlib.import_module(f"..layers.{self.LAYERS}", __package__)


class _Functions(_Holding):
    """A framework whose module has most of numpy's functions."""

    CONCAT = "concatenate"
    ARANGE = "arange"

    def from_numpy(self, x: Any) -> Any:
        return self._held.asarray(x)

    def arange(self, start: int, stop: int) -> Any:
        return getattr(self._held, self.ARANGE)(start, stop)

    def stack_on_zeroth_dimension(self, tensors: list[Any]) -> Any:
        return self._held.stack(tensors)

    def tile(self, x: Any, repeats: Any) -> Any:
        return self._held.tile(x, repeats)

    def concat(self, tensors: list[Any], axis: int) -> Any:
        return getattr(self._held, self.CONCAT)(tensors, axis=axis)

    def add_axis(self, x: Any, new_position: int) -> Any:
        return self._held.expand_dims(x, new_position)

    def is_float_type(self, x: Any) -> bool:
        return x.dtype in FLOATS

    def einsum(self, pattern: str, *x: Any) -> Any:
        return self._held.einsum(pattern, *x)


class _Expanding(_Holding):
    """A framework whose new axes are views, and whose tensors may want gradients."""

    def to_numpy(self, x: Any) -> Any:
        return x.detach().cpu().numpy()

    def arange(self, start: int, stop: int) -> Any:
        return self._held.arange(start, stop, dtype=self._held.int64)

    def stack_on_zeroth_dimension(self, tensors: list[Any]) -> Any:
        return self._held.stack(tensors)

    def add_axis(self, x: Any, new_position: int) -> Any:
        return x.unsqueeze(new_position)

    def add_axes(self, x: Any, n_axes: int, pos2len: dict[int, Any]) -> Any:
        """By `expand`, where -1 keeps the length of an axis."""
        sizes: list[Any] = [-1] * n_axes
        for position, length in pos2len.items():
            x = self.add_axis(x, position)
            sizes[position] = length
        return x.expand(sizes)

    def is_float_type(self, x: Any) -> bool:
        held = self._held
        return x.dtype in (held.float16, held.float32, held.float64, held.bfloat16)

    def einsum(self, pattern: str, *x: Any) -> Any:
        return self._held.einsum(pattern, *x)


class _Torchlike(_Expanding):
    """A framework that has torch's names."""

    def from_numpy(self, x: Any) -> Any:
        """A tensor that wants gradients if its numbers are floating."""
        variable = self._held.from_numpy(x)
        if self.is_float_type(variable):
            variable.requires_grad = True
        return variable

    def is_appropriate_type(self, tensor: Any) -> bool:
        return isinstance(tensor, self._held.Tensor)

    def add_axis(self, x: Any, new_position: int) -> Any:
        return self._held.unsqueeze(x, new_position)

    def transpose(self, x: Any, axes: Any) -> Any:
        return x.permute(axes)

    def tile(self, x: Any, repeats: Any) -> Any:
        return x.repeat(repeats)


def _one_by_one(x: Any, operation: str, axes: Any, keyword: str) -> Any:
    """Reduces one axis after the other, the last one first."""
    for axis in sorted(axes, reverse=True):
        x = getattr(x, operation)(**{keyword: axis})
    return x


class NumpyBackend(_Functions, AbstractBackend):
    """numpy, in `np`."""

    framework_name = package = "numpy"
    attribute = "np"

    def is_appropriate_type(self, tensor: Any) -> bool:
        return isinstance(tensor, self._held.ndarray)

    def from_numpy(self, x: Any) -> Any:
        return x

    def to_numpy(self, x: Any) -> Any:
        return x


class JaxBackend(NumpyBackend):
    """jax: its numpy in `np`, numpy itself in `onp`."""

    framework_name = "jax"
    package = "jax.numpy"

    def __init__(self) -> None:
        super().__init__()
        self.onp = importlib.import_module(NumpyBackend.package)

    def is_appropriate_type(self, tensor: Any) -> bool:
        return isinstance(tensor, self._held.ndarray)

    def from_numpy(self, x: Any) -> Any:
        return self._held.asarray(x)

    def to_numpy(self, x: Any) -> Any:
        return self.onp.asarray(x)


class TorchBackend(_Torchlike, AbstractBackend):
    """torch, in `torch`."""

    framework_name = package = attribute = LAYERS = "torch"

    def reduce(self, x: Any, operation: str, axes: Any) -> Any:
        if operation in ("prod", "any", "all"):
            return _one_by_one(x, operation, axes, "dim")
        if operation not in ("min", "max", "sum", "mean"):
            raise NotImplementedError(f"Unknown reduction {operation}")
        return getattr(x, {"min": "amin", "max": "amax"}.get(operation, operation))(dim=axes)

    def concat(self, tensors: list[Any], axis: int) -> Any:
        return self._held.cat(tensors, dim=axis)


class OneFlowBackend(_Torchlike, AbstractBackend):
    """oneflow, in `flow`."""

    framework_name = package = LAYERS = "oneflow"
    attribute = "flow"

    def reduce(self, x: Any, operation: str, axes: Any) -> Any:
        if operation not in ("min", "max"):
            return _one_by_one(x, operation, axes, "dim")
        for axis in sorted(axes, reverse=True):
            x = getattr(x, operation)(dim=axis)[0]
        return x

    def concat(self, tensors: list[Any], axis: int) -> Any:
        return self._held.concat(tensors, dim=axis)


class PaddleBackend(_Expanding, AbstractBackend):
    """paddle, in `paddle`."""

    framework_name = package = attribute = LAYERS = "paddle"

    def is_appropriate_type(self, tensor: Any) -> bool:
        return bool(self._held.is_tensor(tensor))

    def from_numpy(self, x: Any) -> Any:
        """A tensor that wants gradients."""
        tensor = self._held.to_tensor(x)
        tensor.stop_gradient = False
        return tensor

    def to_numpy(self, x: Any) -> Any:
        return x.detach().numpy()

    def shape(self, x: Any) -> Any:
        return tuple(x.shape)

    def reduce(self, x: Any, operation: str, axes: Any) -> Any:
        """A tensor without axes also where paddle gives one of length 1."""
        result = super().reduce(x, operation, axes)
        return result.squeeze(0) if len(axes) == x.ndim and result.ndim else result

    def tile(self, x: Any, repeats: Any) -> Any:
        return x.tile(repeats)

    def concat(self, tensors: list[Any], axis: int) -> Any:
        return self._held.concat(tensors, axis=axis)


class CupyBackend(_Functions, AbstractBackend):
    """cupy, in `cupy`."""

    framework_name = package = attribute = "cupy"

    def is_appropriate_type(self, tensor: Any) -> bool:
        return isinstance(tensor, self._held.ndarray)

    def to_numpy(self, x: Any) -> Any:
        return self._held.asnumpy(x)


class TensorflowBackend(_Functions, AbstractBackend):
    """tensorflow, in `tf`."""

    framework_name = package = LAYERS = "tensorflow"
    attribute = "tf"
    CONCAT = "concat"
    ARANGE = "range"

    def is_appropriate_type(self, tensor: Any) -> bool:
        return isinstance(tensor, (self._held.Tensor, self._held.Variable))

    def from_numpy(self, x: Any) -> Any:
        return self._held.convert_to_tensor(x)

    def to_numpy(self, x: Any) -> Any:
        return x.numpy()

    def shape(self, x: Any) -> Any:
        """Integers; in a graph a size that is not known is an element of `tf.shape`."""
        if self._held.executing_eagerly():
            return tuple(int(size) for size in x.shape)
        dynamic = self._held.shape(x)
        sizes = enumerate(x.shape.as_list())
        shape = tuple(dynamic[axis] if size is None else size for axis, size in sizes)
        try:
            hash(shape)
        except TypeError:
            return HashableTuple(shape)
        return shape

    def reduce(self, x: Any, operation: str, axes: Any) -> Any:
        return getattr(self._held, f"reduce_{operation}")(x, axis=axes)

    def reshape(self, x: Any, shape: Any) -> Any:
        return self._held.reshape(x, shape)

    def transpose(self, x: Any, axes: Any) -> Any:
        return self._held.transpose(x, axes)


class TFKerasBackend(_Functions, AbstractBackend):
    """The keras that belongs to tensorflow: in `tf`, `keras`, and its functions in `K`."""

    framework_name = "tensorflow.keras"
    package = "tensorflow"
    attribute = "K"
    LAYERS = "keras"

    def __init__(self) -> None:
        self.tf = importlib.import_module(self.package)
        self.keras = self.tf.keras
        self.K = self.keras.backend

    def is_appropriate_type(self, tensor: Any) -> bool:
        return bool(self.tf.is_tensor(tensor) and self.K.is_keras_tensor(tensor))

    def from_numpy(self, x: Any) -> Any:
        return AbstractBackend.from_numpy(self, x)

    def create_symbol(self, shape: Any) -> Any:
        return self.keras.Input(batch_shape=shape)

    def eval_symbol(self, symbol: Any, symbol_value_pairs: Any) -> Any:
        inputs, values = zip(*symbol_value_pairs, strict=True)
        return self.keras.models.Model(list(inputs), symbol).predict_on_batch(list(values))

    def shape(self, x: Any) -> Any:
        return HashableTuple(tuple(self.K.shape(x)))

    def reduce(self, x: Any, operation: str, axes: Any) -> Any:
        return getattr(self.K, operation)(x, axis=axes)

    def reshape(self, x: Any, shape: Any) -> Any:
        return self.K.reshape(x, shape)

    def transpose(self, x: Any, axes: Any) -> Any:
        return self.K.permute_dimensions(x, axes)

    def is_float_type(self, x: Any) -> bool:
        return "float" in self.K.dtype(x)

    def einsum(self, pattern: str, *x: Any) -> Any:
        return self.tf.einsum(pattern, *x)
