"""xarray's `DataArray`s: the steps of the framework whose array they hold.

Axes are taken by position: what a pattern calls them need not be their name in xarray. Where it
only moves and reduces them they keep their names and coordinates. Where it splits, joins or adds
some, all axes of the result have names of the kind `dim_0` and no coordinates.
"""

from __future__ import annotations

import sys
from typing import Any

from .._errors import EinopsError
from .._readable import Framework, Shape
from . import of
from ._numpy_like import no_symbols, shape

__all__ = ["is_symbol", "shape"]

xarray = sys.modules["xarray"]

LEAN = False
"""As einops: a lean reshape would join axes that a pattern only moves."""

is_symbol = no_symbols


def owns(kind: type) -> bool:
    """Whether a type is a `DataArray`."""
    return issubclass(kind, xarray.DataArray)


def reshape(tensor: Any, shape: Shape) -> Any:
    """A new array, since nothing says how the new axes are called."""
    return _like(tensor, _framework(tensor).reshape(tensor.data, shape))


def permute(tensor: Any, axes: tuple[int, ...]) -> Any:
    """By the method."""
    return tensor.transpose(*[tensor.dims[axis] for axis in axes])


def reduce(tensor: Any, name: str, axes: tuple[int, ...]) -> Any:
    """By the function of the framework: unlike xarray's own, it does not skip a NaN."""

    def function(data: Any, axis: Any) -> Any:  # noqa: ARG001
        return _framework(tensor).reduce(data, name, axes)

    return tensor.reduce(function, [tensor.dims[axis] for axis in axes], keep_attrs=True)


def expand(tensor: Any, shape: Shape, added: tuple[int, ...]) -> Any:
    """A new array, since nothing says how the new axes are called."""
    return _like(tensor, _framework(tensor).expand(tensor.data, shape, added))


def stack(tensors: list[Any]) -> Any:
    """By position: coordinates are neither compared nor aligned."""
    return _like(tensors[0], _framework(tensors[0]).stack(_data(tensors)))


def concat(tensors: list[Any], axis: int) -> Any:
    """By position: coordinates are neither compared nor aligned."""
    return _like(tensors[0], _framework(tensors[0]).concat(_data(tensors), axis))


def einsum(pattern: str, *tensors: Any) -> Any:
    """By position: the result has neither coordinates nor a name."""
    return xarray.DataArray(_framework(tensors[0]).einsum(pattern, *_data(tensors)))


def to_numpy(tensor: Any) -> Any:
    """The values."""
    return _framework(tensor).to_numpy(tensor.data)


def _framework(tensor: Any) -> Framework:
    framework = of(tensor.data)
    if framework is None:
        raise EinopsError(f"the DataArray holds a {type(tensor.data)}, which einrs does not know")
    return framework


def _data(tensors: Any) -> list[Any]:
    return [one.data if isinstance(one, xarray.DataArray) else one for one in tensors]


def _like(tensor: Any, data: Any) -> Any:
    return xarray.DataArray(data, name=tensor.name, attrs=tensor.attrs)
