"""Einops' backends of tinygrad, pytensor and mlx, whose tensors are computed later."""

# ruff: noqa: D102 - the methods are described where `AbstractBackend` has them.

from __future__ import annotations

import importlib
from typing import Any

from .abstract import AbstractBackend
from .backends import NumpyBackend, _Functions, _Holding, _one_by_one


class TinygradBackend(_Holding, AbstractBackend):
    """tinygrad, in `tinygrad`."""

    framework_name = package = attribute = "tinygrad"

    def is_appropriate_type(self, tensor: Any) -> bool:
        return isinstance(tensor, self._held.Tensor)

    def from_numpy(self, x: Any) -> Any:
        return self._held.Tensor(x)

    def to_numpy(self, x: Any) -> Any:
        return x.numpy()

    def arange(self, start: int, stop: int) -> Any:
        return self._held.Tensor.arange(start, stop)

    def transpose(self, x: Any, axes: Any) -> Any:
        return x.permute(axes)

    def reduce(self, x: Any, operation: str, axes: Any) -> Any:
        return _one_by_one(x, operation, axes, "axis")

    def stack_on_zeroth_dimension(self, tensors: list[Any]) -> Any:
        return self._held.Tensor.stack(tensors)

    def add_axis(self, x: Any, new_position: int) -> Any:
        return x.unsqueeze(new_position)

    def tile(self, x: Any, repeats: Any) -> Any:
        return x.repeat(repeats)

    def concat(self, tensors: list[Any], axis: int) -> Any:
        return tensors[0].cat(*tensors[1:], dim=axis)

    def is_float_type(self, x: Any) -> bool:
        return bool(self._held.dtypes.is_float(x.dtype))

    def einsum(self, pattern: str, *x: Any) -> Any:
        return self._held.Tensor.einsum(pattern, *x)


class PyTensorBackend(_Functions, AbstractBackend):
    """pytensor: its tensors' module in `pt`."""

    framework_name = "pytensor"
    package = "pytensor.tensor"
    attribute = "pt"

    def is_appropriate_type(self, tensor: Any) -> bool:
        return isinstance(tensor, self._held.TensorVariable)

    def from_numpy(self, x: Any) -> Any:
        return self._held.as_tensor(x)

    def to_numpy(self, x: Any) -> Any:
        """The value of an expression without symbols."""
        return x.eval()

    def create_symbol(self, shape: Any) -> Any:
        return self._held.tensor(
            shape=tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
        )

    def eval_symbol(self, symbol: Any, symbol_value_pairs: Any) -> Any:
        return symbol.eval(dict(symbol_value_pairs))

    def shape(self, x: Any) -> Any:
        """Integers where the type knows them, and symbols."""
        sizes = zip(x.type.shape, x.shape, strict=False)
        return tuple(dynamic if static is None else static for static, dynamic in sizes)

    def is_float_type(self, x: Any) -> bool:
        return x.dtype in self._held.type.float_dtypes


class MLXBackend(_Functions, AbstractBackend):
    """mlx: its core in `mx`, numpy in `np`."""

    framework_name = LAYERS = "mlx"
    package = "mlx.core"
    attribute = "mx"

    def __init__(self) -> None:
        super().__init__()
        self.np = importlib.import_module(NumpyBackend.package)

    def is_appropriate_type(self, tensor: Any) -> bool:
        return isinstance(tensor, self._held.array)

    def from_numpy(self, x: Any) -> Any:
        return self._held.array(x)

    def to_numpy(self, x: Any) -> Any:
        """The values; numpy has no bfloat16, which becomes float32."""
        if x.dtype == self._held.bfloat16:
            x = x.astype(self._held.float32)
        return self.np.array(x)

    def is_float_type(self, x: Any) -> bool:
        return bool(self._held.issubdtype(x.dtype, self._held.floating))
