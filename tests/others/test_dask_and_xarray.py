"""Checks what dask and xarray add to an array: laziness and chunks, names and coordinates."""

from typing import Any

import einops
import numpy as np
import pytest

import einrs

X = np.arange(8.0 * 6 * 10).reshape(8, 6, 10)
TINY = np.arange(24.0).reshape(4, 6)


@pytest.fixture
def da() -> Any:
    return pytest.importorskip("dask.array")


@pytest.fixture
def xarray() -> Any:
    return pytest.importorskip("xarray")


# The chunks of an array of (8, 6, 10) in chunks of (4, 3, 5), before and after.
CHUNKS: list[tuple[Any, tuple[tuple[int, ...], ...]]] = [
    (lambda m, x: m.rearrange(x, "b h w -> w b h"), ((5, 5), (4, 4), (3, 3))),
    (lambda m, x: m.rearrange(x, "b (h p) w -> b h p w", p=3), ((4, 4), (1, 1), (3,), (5, 5))),
    (lambda m, x: m.rearrange(x, "b h w -> b h 1 w"), ((4, 4), (3, 3), (1,), (5, 5))),
    (lambda m, x: m.rearrange(x, "b h w -> h (b w)"), ((3, 3), (20,) * 4)),
    (lambda m, x: m.reduce(x, "b h w -> b w", "sum"), ((4, 4), (5, 5))),
    (lambda m, x: m.reduce(x, "b (h 3) w -> b h w", "max"), ((4, 4), (1, 1), (5, 5))),
    (lambda m, x: m.repeat(x, "b h w -> b k h w", k=7), ((4, 4), (7,), (3, 3), (5, 5))),
    (lambda m, x: m.repeat(x, "b h w -> (b k) h w", k=7), ((28, 28), (3, 3), (5, 5))),
    (lambda m, x: m.rearrange([x, x], "k b h w -> b h w k"), ((4, 4), (3, 3), (5, 5), (1, 1))),
    (lambda m, x: m.pack([x, x], "* h w")[0], ((4,) * 4, (3, 3), (5, 5))),
    (lambda m, x: m.rearrange(x, "(a b) h w -> a (b h) w", a=2), ((1, 1), (12, 12), (5, 5))),
]


@pytest.mark.parametrize(("call", "chunks"), CHUNKS)
def test_dask_stays_lazy_and_in_chunks(
    da: Any, call: Any, chunks: tuple[tuple[int, ...], ...]
) -> None:
    import dask

    def compute(*args: Any, **keywords: Any) -> Any:
        raise AssertionError

    array = da.from_array(X, chunks=(4, 3, 5))
    with dask.config.set(scheduler=compute):
        result = call(einrs, array)
    assert isinstance(result, da.Array)
    assert result.chunks == chunks
    np.testing.assert_array_equal(result, call(einops, X))


def field(xarray: Any) -> Any:
    return xarray.DataArray(
        TINY,
        dims=("time", "place"),
        coords={"time": [10, 20, 30, 40], "altitude": ("place", np.arange(6.0))},
        name="temperature",
        attrs={"units": "K"},
    )


# What is left of the names and of the coordinates.
NAMED: list[tuple[Any, tuple[str, ...], set[str]]] = [
    (lambda x: einrs.rearrange(x, "a b -> b a"), ("place", "time"), {"time", "altitude"}),
    (lambda x: einrs.rearrange(x, "... b -> b ..."), ("place", "time"), {"time", "altitude"}),
    (lambda x: einrs.reduce(x, "a b -> a", "mean"), ("time",), {"time"}),
    (lambda x: einrs.reduce(x, "a b -> b", "max"), ("place",), {"altitude"}),
    (lambda x: einrs.reduce(x, "a b ->", "sum"), (), set()),
    (lambda x: einrs.rearrange(x, "a b -> (a b)"), ("dim_0",), set()),
    (lambda x: einrs.rearrange(x, "a b -> a 1 b"), ("dim_0", "dim_1", "dim_2"), set()),
    (lambda x: einrs.repeat(x, "a b -> a b k", k=2), ("dim_0", "dim_1", "dim_2"), set()),
    (lambda x: einrs.rearrange([x, x], "k a b -> k a b"), ("dim_0", "dim_1", "dim_2"), set()),
]


@pytest.mark.parametrize(("call", "dims", "coords"), NAMED)
def test_xarrays_names_and_coordinates(
    xarray: Any, call: Any, dims: tuple[str, ...], coords: set[str]
) -> None:
    result = call(field(xarray))
    assert isinstance(result, xarray.DataArray)
    assert result.dims == dims
    assert set(result.coords) == coords
    assert (result.name, result.attrs) == ("temperature", {"units": "K"})


def test_xarray_skips_no_nan(xarray: Any) -> None:
    """As every other framework; xarray's own methods would leave it out."""
    array = np.where(TINY == 7, np.nan, TINY)
    result = einrs.reduce(xarray.DataArray(array), "a b -> a", "sum")
    np.testing.assert_array_equal(result, array.sum(1))


def test_xarray_views_what_numpy_views(xarray: Any) -> None:
    tensor = field(xarray)
    for result in (
        einrs.rearrange(tensor, "a b -> b a"),
        einrs.rearrange(tensor, "a b -> (a b)"),
        einrs.rearrange(tensor, "(a c) b -> c a b", c=2),
    ):
        assert np.shares_memory(result.data, tensor.data)


def test_xarray_by_position(xarray: Any) -> None:
    """Coordinates that differ do not align tensors of a list, and einsum gives a bare array."""
    one = field(xarray)
    other = one.assign_coords(time=[20, 30, 40, 50])
    assert einrs.rearrange([one, other], "k a b -> a b k").shape == (4, 6, 2)
    packed, _ = einrs.pack([one, other], "* b")
    assert packed.shape == (8, 6)
    product = einrs.einsum(one, TINY, "a b, c b -> a c")
    np.testing.assert_array_equal(product, TINY @ TINY.T)
    assert product.name is None


def test_xarray_of_something_unknown(xarray: Any) -> None:
    class Duck:
        shape, ndim, dtype = (2, 3), 2, np.dtype("f8")

        def __array_function__(self, *args: Any) -> Any:
            raise AssertionError

        __array_ufunc__ = __array_function__

    tensor = xarray.DataArray(Duck())
    with pytest.raises(einrs.EinopsError, match=r"holds a .*Duck"):
        einrs.rearrange(tensor, "a b -> (a b)")


def test_other_things_of_xarray(xarray: Any) -> None:
    for thing in (field(xarray).variable, field(xarray).to_dataset()):
        with pytest.raises(einrs.EinopsError, match="Tensor type unknown"):
            einrs.rearrange(thing, "a b -> b a")
