"""Turns einops' backends of small frameworks, and one that a program has for dask, into tests."""

import gc
from typing import Any

import einops
import einops._backends
import numpy as np
import pytest
from small import SIDES, Side

import einrs
import einrs._backends
from backend_methods import METHODS, compare

CLASSES = {
    "tinygrad": "TinygradBackend",
    "pytensor": "PyTensorBackend",
    "mlx": "MLXBackend",
    "paddle": "PaddleBackend",
}
FIXED = (("mlx", "add_axis"), ("mlx", "add_axes"))
"""Einops calls the one method by the name of the other, so that it has neither."""

COMPARED = [
    pytest.param(side, method, id=f"{side.name}-{method}")
    for side in SIDES
    if side.name in CLASSES
    for method in METHODS
    if (side.name, method) not in FIXED
]


@pytest.mark.filterwarnings("ignore:Cannot cache compiled function")
@pytest.mark.parametrize(("side", "method"), COMPARED)
def test_a_method_does_what_that_of_einops_does(side: Side, method: str) -> None:
    side.require()
    if (side.name, method) == ("tinygrad", "arange"):
        pytest.skip("tinygrad's arange needs a compiler")
    side.make(np.zeros(1))
    compare(*(getattr(m._backends, CLASSES[side.name])() for m in (einops, einrs)), method)


def test_a_tensor_finds_its_backend(side: Side) -> None:
    backend = einrs._backends.get_backend(side.make(np.zeros((2, 3))))
    assert type(backend).__name__ == CLASSES.get(side.name, "_FrameworkBackend")


def test_mlx_has_new_axes() -> None:
    mx = pytest.importorskip("mlx.core")
    backend = einrs._backends.MLXBackend()
    assert backend.add_axis(mx.zeros((2, 3)), 1).shape == (2, 1, 3)
    assert backend.add_axes(mx.zeros((2, 3)), n_axes=3, pos2len={1: 5}).shape == (2, 5, 3)
    assert backend.to_numpy(mx.ones(2, dtype=mx.bfloat16)).tolist() == [1, 1]


def test_pytensor_has_symbols() -> None:
    pytest.importorskip("pytensor")
    backend = einrs._backends.PyTensorBackend()
    symbol = backend.create_symbol([None, 3])
    assert [isinstance(size, int) for size in backend.shape(symbol)] == [False, True]
    assert backend.shape(backend.create_symbol(3)) == (3,)


def test_a_program_keeps_its_own_backend_for_dask() -> None:
    """As xarray_einstats defines one, which einops needs: einrs serves dask also without it."""
    da = pytest.importorskip("dask.array")
    calls = []

    class DaskBackend(einrs._backends.AbstractBackend):
        framework_name = "dask"

        def is_appropriate_type(self, tensor: Any) -> bool:
            return isinstance(tensor, da.core.Array)

        def stack_on_zeroth_dimension(self, tensors: list[Any]) -> Any:
            return da.stack(tensors)

        def transpose(self, x: Any, axes: Any) -> Any:
            calls.append(axes)
            return x.transpose(axes)

    try:
        array = np.arange(12).reshape(2, 6)
        result = einrs.rearrange(da.from_array(array, chunks=2), "a (b c) -> c a b", b=3)
        assert isinstance(result, da.core.Array)
        np.testing.assert_array_equal(
            result.compute(), einops.rearrange(array, "a (b c) -> c a b", b=3)
        )
        assert calls == [[2, 0, 1]]
    finally:
        einrs._backends._loaded_backends.pop("dask", None)
        einrs._backends._type2backend.pop(da.core.Array, None)
        del DaskBackend
        gc.collect()
