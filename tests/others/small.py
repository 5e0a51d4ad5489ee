"""Turns numpy's arrays into tensors of the small frameworks and back, for the tests beside it."""

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest


@dataclass(frozen=True)
class Side:
    """How one framework makes a tensor of an array, and an array of a tensor."""

    name: str
    package: str
    make: Callable[[Any], Any]
    values: Callable[[Any], Any]
    # Whether einops 0.8.2 serves it, so that its results can be compared in every detail.
    in_einops: bool = True

    def require(self) -> None:
        """Skips the test where the framework is not installed."""
        if find_spec(self.package) is None:
            pytest.skip(f"{self.package} is not installed")


def _tinygrad(array: Any) -> Any:
    # Its interpreter: the CPU device needs a compiler.
    os.environ.setdefault("DEV", "PYTHON")
    import tinygrad

    # A tensor of an array without axes would be a constant, which needs the CPU device after all.
    return tinygrad.Tensor(np.array(array, ndmin=1)).reshape(array.shape)


def _mlx(array: Any) -> Any:
    import mlx.core as mx

    if array.dtype != np.float64:
        return mx.array(array)
    # By itself mlx would make it float32.
    return mx.array(array, dtype=mx.float64)


def _mlx_values(tensor: Any) -> Any:
    return np.array(tensor)


def _pytensor(array: Any) -> Any:
    import pytensor.tensor as pt

    return pt.constant(array)


def pytensor_mode() -> Any:
    """Python functions without rewriting, which need no compiler."""
    from pytensor.compile.mode import Mode

    return Mode(linker="py", optimizer=None)


def _pytensor_values(tensor: Any) -> Any:
    import pytensor

    return pytensor.function([], tensor, mode=pytensor_mode())()


def _dask(array: Any) -> Any:
    import dask.array as da

    return da.from_array(array, chunks=2)


def _xarray(array: Any) -> Any:
    import xarray

    return xarray.DataArray(array)


def _xarray_of_dask(array: Any) -> Any:
    import xarray

    return xarray.DataArray(_dask(array))


def _paddle(array: Any) -> Any:
    with warnings.catch_warnings():
        # Its import warns where a compiler cache is missing.
        warnings.simplefilter("ignore")
        import paddle

    return paddle.to_tensor(array)


SIDES = [
    Side("tinygrad", "tinygrad", _tinygrad, lambda tensor: tensor.numpy()),
    Side("mlx", "mlx", _mlx, _mlx_values),
    Side("pytensor", "pytensor", _pytensor, _pytensor_values),
    Side("paddle", "paddle", _paddle, lambda tensor: tensor.numpy()),
    Side("dask", "dask", _dask, np.asarray, in_einops=False),
    Side("xarray", "xarray", _xarray, np.asarray, in_einops=False),
    Side("xarray of dask", "xarray", _xarray_of_dask, np.asarray, in_einops=False),
]
