"""Turns numpy into modules with the signatures of cupy and oneflow, which cannot run everywhere.

They take what the documentation of the real ones says that those take, so that a call which these
refuse would be refused there too. They say nothing of the real kernels.
"""

from types import ModuleType
from typing import Any

import numpy as np


class Device:
    """An array that numpy cannot read: the values are on a device."""

    __array__ = None

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values)
        self.shape = self.values.shape
        self.ndim = self.values.ndim

    def __getitem__(self, key: Any) -> Any:
        return type(self)(self.values[key])


class ndarray(Device):  # noqa: N801
    """cupy's array."""

    __module__ = "cupy"

    @property
    def dtype(self) -> Any:
        return self.values.dtype

    def reshape(self, *shape: Any, order: str = "C") -> Any:
        return ndarray(self.values.reshape(*shape, order=order))

    def transpose(self, *axes: Any) -> Any:
        return ndarray(self.values.transpose(*axes))

    def copy(self, order: str = "C") -> Any:
        return ndarray(self.values.copy(order))


def _cupys_reduction(name: str) -> Any:
    def reduction(self: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        return ndarray(getattr(self.values, name)(axis=axis, keepdims=keepdims))

    return reduction


def cupy() -> Any:
    module: Any = ModuleType("cupy")
    module.ndarray = ndarray
    for name in ("sum", "prod", "mean", "min", "max", "any", "all"):
        setattr(ndarray, name, _cupys_reduction(name))

    def expand_dims(a: Any, axis: Any) -> Any:
        return ndarray(np.expand_dims(a.values, axis))

    def broadcast_to(array: Any, shape: Any) -> Any:
        return ndarray(np.broadcast_to(array.values, shape))

    def stack(tup: Any, axis: int = 0, out: Any = None, *, dtype: Any = None) -> Any:
        return ndarray(np.stack([one.values for one in tup], axis))

    def concatenate(tup: Any, axis: int = 0, out: Any = None, *, dtype: Any = None) -> Any:
        return ndarray(np.concatenate([one.values for one in tup], axis))

    def einsum(subscripts: str, *operands: Any, dtype: Any = None, optimize: bool = False) -> Any:
        return ndarray(np.einsum(subscripts, *[one.values for one in operands]))

    def asnumpy(a: Any, stream: Any = None, order: str = "C", out: Any = None) -> Any:
        return a.values.copy()

    for function in (expand_dims, broadcast_to, stack, concatenate, einsum, asnumpy):
        setattr(module, function.__name__, function)
    return module


class Dtype:
    """oneflow's dtypes are objects that compare with nothing else."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"oneflow.{self.name}"


DTYPES = {name: Dtype(name) for name in ("float16", "float32", "float64", "int64", "bool")}


class Tensor(Device):
    """oneflow's tensor."""

    __module__ = "oneflow"
    requires_grad = True
    device = "cuda"

    @property
    def dtype(self) -> Dtype:
        return DTYPES[self.values.dtype.name]

    def reshape(self, *shape: Any) -> Any:
        return Tensor(self.values.reshape(*shape))

    def permute(self, *dims: Any) -> Any:
        return Tensor(self.values.transpose(*dims))

    def expand(self, *sizes: int) -> Any:
        pairs = zip(sizes, self.shape, strict=True)
        return Tensor(np.broadcast_to(self.values, [n if s == -1 else s for s, n in pairs]))

    def detach(self) -> Any:
        detached = Tensor(self.values)
        detached.requires_grad = False
        return detached

    def cpu(self) -> Any:
        moved = Tensor(self.values)
        moved.requires_grad, moved.device = self.requires_grad, "cpu"
        return moved

    def numpy(self) -> Any:
        if self.requires_grad or self.device != "cpu":
            raise RuntimeError
        return self.values


def _oneflows_reduction(name: str) -> Any:
    def reduction(self: Any, dim: Any = None, keepdim: bool = False) -> Any:
        if not isinstance(dim, int):
            raise TypeError(f"{name}() takes one dim")
        values = Tensor(getattr(self.values, name)(axis=dim, keepdims=keepdim))
        return (values, "indices") if name in ("min", "max") else values

    return reduction


def oneflow() -> Any:
    module: Any = ModuleType("oneflow")
    module.Tensor = Tensor
    for name, dtype in DTYPES.items():
        setattr(module, name, dtype)
    for name in ("sum", "prod", "mean", "min", "max", "any", "all"):
        setattr(Tensor, name, _oneflows_reduction(name))

    def unsqueeze(input: Any, dim: int) -> Any:  # noqa: A002
        return Tensor(np.expand_dims(input.values, dim))

    def stack(tensors: Any, dim: int = 0) -> Any:
        return Tensor(np.stack([one.values for one in tensors], dim))

    def concat(tensors: Any, dim: int = 0) -> Any:
        return Tensor(np.concatenate([one.values for one in tensors], dim))

    def einsum(equation: str, *operands: Any) -> Any:
        return Tensor(np.einsum(equation, *[one.values for one in operands]))

    for function in (unsqueeze, stack, concat, einsum):
        setattr(module, function.__name__, function)
    return module
