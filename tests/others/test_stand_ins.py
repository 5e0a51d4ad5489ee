"""Checks the modules for cupy and oneflow on stand-ins that have their signatures."""

import sys
from collections.abc import Iterator
from typing import Any

import einops
import numpy as np
import pytest
import stand_ins

import einrs
from einrs import _frameworks
from sides import OPERATIONS

X = np.arange(24.0).reshape(4, 6)


@pytest.fixture(params=["cupy", "oneflow"])
def make(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Makes tensors of a framework that is imported for the length of the test."""
    name = request.param
    ours = f"einrs._frameworks._{name}"
    monkeypatch.setitem(sys.modules, name, getattr(stand_ins, name)())
    monkeypatch.delitem(sys.modules, ours, raising=False)
    kind = {"cupy": stand_ins.ndarray, "oneflow": stand_ins.Tensor}[name]
    yield kind
    sys.modules.pop(ours, None)
    _frameworks._known.pop(id(kind), None)


@pytest.mark.parametrize("label", OPERATIONS)
def test_operations(make: Any, label: str) -> None:
    array = X > 9 if any(name in label for name in (" any ", " all ")) else X
    result = OPERATIONS[label](einrs, make(array))
    expected = np.asarray(OPERATIONS[label](einops, array))
    assert type(result) is make
    assert result.shape == expected.shape
    np.testing.assert_allclose(result.values, expected, rtol=1e-12)


def test_lists(make: Any) -> None:
    result = einrs.reduce([make(X), make(X + 1)], "k a b -> b a", "max")
    np.testing.assert_array_equal(result.values, X.T + 1)


def test_joins(make: Any) -> None:
    packed, shapes = einrs.pack([make(X), make(X.reshape(4, 2, 3))], "a *")
    np.testing.assert_array_equal(packed.values, np.hstack([X, X]))
    first, second = einrs.unpack(packed, shapes, "a *")
    assert (first.shape, second.shape) == ((4, 6), (4, 2, 3))
    product = einrs.einsum(make(X), make(X), "a b, c b -> a c")
    np.testing.assert_array_equal(product.values, X @ X.T)
    result = einrs.asnumpy(make(X))
    assert type(result) is np.ndarray
    np.testing.assert_array_equal(result, X)


def test_errors(make: Any) -> None:
    with pytest.raises(einrs.EinopsError, match="can't divide"):
        einrs.rearrange(make(X), "(a c) b -> a c b", c=3)
    with pytest.raises(einrs.EinopsError, match="non-floating") as caught:
        einrs.reduce(make(X.astype("int64")), "a b -> a", "mean")
    assert isinstance(caught.value, NotImplementedError)


def test_views(make: Any) -> None:
    """A repetition is a copy for cupy, whose arrays can be written to; einops tiles."""
    tensor = make(X)
    assert np.shares_memory(einrs.rearrange(tensor, "(a c) b -> c b a", c=2).values, X)
    repeated = einrs.repeat(tensor, "a b -> a k b", k=2).values
    assert np.shares_memory(repeated, X) == (make is stand_ins.Tensor)
