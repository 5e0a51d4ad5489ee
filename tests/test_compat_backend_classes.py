"""Turns einops' backends of numpy, torch and jax into tests: ours do what theirs do."""

from typing import Any

import einops._backends
import numpy as np
import pytest

import einrs
import einrs._backends
from backend_methods import ARRAY, METHODS, compare

TYPED = [
    "NumpyBackend",
    pytest.param("TorchBackend", marks=pytest.mark.needs_torch),
    pytest.param("JaxBackend", marks=pytest.mark.needs_jax),
]


@pytest.mark.parametrize("name", TYPED)
@pytest.mark.parametrize("method", METHODS)
def test_a_method_does_what_that_of_einops_does(name: str, method: str) -> None:
    compare(*(getattr(m._backends, name)() for m in (einops, einrs)), method)


@pytest.mark.parametrize("name", TYPED)
@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64", "bool"])
def test_which_numbers_have_a_mean(name: str, dtype: str) -> None:
    backend = getattr(einrs._backends, name)()
    tensor = backend.from_numpy(ARRAY.astype(dtype))
    assert backend.is_float_type(tensor) == dtype.startswith("float")
    assert backend.to_numpy(tensor).shape == ARRAY.shape


@pytest.mark.parametrize("name", TYPED)
def test_a_tensor_finds_its_backend(name: str) -> None:
    backend = getattr(einrs._backends, name)()
    tensor = backend.from_numpy(ARRAY)
    found = einrs._backends.get_backend(tensor)
    assert type(found) is type(backend)
    assert einrs._backends.get_backend(tensor) is found
    assert einrs._backends._loaded_backends[backend.framework_name] is found
    assert einrs.rearrange(tensor, "a b c -> c b a").shape == (4, 3, 2)


def test_a_standard_array_finds_a_backend() -> None:
    """Einops has none for it."""
    strict = pytest.importorskip("array_api_strict")
    tensor = strict.asarray(ARRAY)
    backend = einrs._backends.get_backend(tensor)
    assert backend.is_appropriate_type(tensor)
    assert backend.reshape(tensor, [4, 6]).shape == (4, 6)
    assert backend.transpose(tensor, [2, 0, 1]).shape == (4, 2, 3)
    assert backend.reduce(tensor, "sum", (0, 2)).shape == (3,)
    assert backend.add_axis(tensor, 1).shape == (2, 1, 3, 4)
    assert backend.add_axes(tensor, n_axes=4, pos2len={3: 5}).shape == (2, 3, 4, 5)
    assert backend.stack_on_zeroth_dimension([tensor]).shape == (1, 2, 3, 4)
    assert backend.concat([tensor, tensor], axis=2).shape == (2, 3, 8)
    assert backend.is_float_type(tensor)
    np.testing.assert_array_equal(backend.to_numpy(tensor), ARRAY)


def test_what_is_no_tensor_has_no_backend() -> None:
    with pytest.raises(einrs.EinopsError, match="Tensor type unknown to einops <class 'int'>"):
        einrs._backends.get_backend(3)


@pytest.mark.needs_torch
def test_gradients_are_attached_as_by_einops() -> None:
    theirs, ours = (m._backends.TorchBackend() for m in (einops, einrs))
    for array in (ARRAY, ARRAY.astype("int32")):
        expected = theirs.from_numpy(array.copy()).requires_grad
        assert ours.from_numpy(array.copy()).requires_grad == expected
    with pytest.raises(NotImplementedError, match="median"):
        ours.reduce(ours.from_numpy(ARRAY), "median", (0,))


def test_the_classes_have_einops_names_and_frameworks() -> None:
    def names(module: Any) -> dict[str, str]:
        waiting = list(module.AbstractBackend.__subclasses__())
        found = {}
        while waiting:
            kind = waiting.pop()
            waiting += kind.__subclasses__()
            if kind.__module__.startswith(("einops.", "einrs.")):
                found[kind.__name__] = kind.framework_name
        return found

    ours = names(einrs._backends)
    assert ours.pop("_FrameworkBackend") == "einrs"
    assert ours == names(einops._backends)


@pytest.mark.parametrize("name", ["NumpyBackend", "CupyBackend", "TinygradBackend"])
def test_a_framework_without_layers(name: str) -> None:
    kind = getattr(einrs._backends, name)
    with pytest.raises(NotImplementedError, match="layers"):
        kind.layers(kind.__new__(kind))
