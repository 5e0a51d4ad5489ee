"""Checks objects of the array API standard, and types of tensors that einrs does not know."""

from typing import Any

import einops
import numpy as np
import pytest

import einrs
from sides import OPERATIONS

xp = pytest.importorskip("array_api_strict")

X = np.arange(24.0).reshape(4, 6)


@pytest.mark.parametrize("label", OPERATIONS)
def test_operations(label: str) -> None:
    """The values are numpy's; `strict` refuses whatever the standard does not promise."""
    call = OPERATIONS[label]
    array = X > 9 if any(name in label for name in (" any ", " all ")) else X
    result = call(einrs, xp.asarray(array))
    expected = np.asarray(call(einops, array))
    assert type(result) is type(xp.asarray(array))
    assert result.shape == expected.shape
    assert str(result.dtype) == f"array_api_strict.{expected.dtype}"
    np.testing.assert_array_equal(np.asarray(result), expected)


DTYPES = [
    "bool",
    "int8",
    "int64",
    "uint8",
    "uint64",
    "float32",
    "float64",
    "complex64",
    "complex128",
]


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(dtype: str) -> None:
    """The standard says which reduction is defined for which dtype: its error is the answer."""
    array = xp.asarray((X % 2).astype(dtype))
    assert einrs.rearrange(array, "(a c) b -> c b a", c=2).dtype == array.dtype
    assert einrs.repeat(array, "a b -> a b 2").dtype == array.dtype
    for name in ("min", "max", "sum", "mean", "prod", "any", "all"):
        try:
            expected = getattr(xp, name)(array, axis=(1,))
        except TypeError:
            with pytest.raises(TypeError):
                einrs.reduce(array, "a b -> a", name)
            continue
        result = einrs.reduce(array, "a b -> a", name)
        assert result.dtype == expected.dtype
        np.testing.assert_array_equal(np.asarray(result), np.asarray(expected))


def test_lists() -> None:
    arrays = [xp.asarray(X), xp.asarray(X + 1)]
    stacked = np.stack([X, X + 1])
    result = einrs.rearrange(arrays, "k a b -> b a k")
    np.testing.assert_array_equal(np.asarray(result), stacked.transpose(2, 1, 0))
    result = einrs.reduce(arrays, "k a b -> a b", "max")
    np.testing.assert_array_equal(np.asarray(result), X + 1)


def test_callables() -> None:
    seen = []

    def reduction(array: Any, axes: tuple[int, ...]) -> Any:
        seen.append((array.shape, axes))
        return xp.sum(array, axis=axes)

    result = einrs.reduce(xp.asarray(X), "(a 2) b -> b", reduction)
    np.testing.assert_array_equal(np.asarray(result), X.sum(0))
    assert seen == [((6, 2, 2), (1, 2))]


def test_nothing_to_do_gives_the_same_object() -> None:
    array = xp.asarray(X)
    assert einrs.rearrange(array, "a b -> a b") is array
    assert einrs.reduce(array, "a b -> a b", "sum") is array
    assert einrs.repeat(array, "... -> ...") is array


@pytest.mark.parametrize("version", ["2022.12", "2023.12", "2024.12"])
def test_versions_of_the_standard(version: str) -> None:
    with xp.ArrayAPIStrictFlags(api_version=version):
        for label, call in OPERATIONS.items():
            if " any " not in label and " all " not in label:
                assert call(einrs, xp.asarray(X)).shape == np.shape(call(einops, X))


class Namespace:
    """The functions of the standard that einrs needs, and no others."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name not in {"reshape", "permute_dims", "expand_dims", "broadcast_to", "stack", "sum"}:
            raise AttributeError(name)

        def function(array: Any, *args: Any, **kwargs: Any) -> Any:
            self.calls.append(name)
            unwrapped = [a.array for a in array] if isinstance(array, list) else array.array
            return Wrapped(getattr(np, name)(unwrapped, *args, **kwargs))

        return function


NAMESPACE = Namespace()


class Wrapped:
    """An array of a framework that nobody knows."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        return NAMESPACE

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.array.shape)


def test_any_object_with_a_namespace() -> None:
    for label, call in OPERATIONS.items():
        if not label.startswith("reduce") or " sum " in label:
            result = call(einrs, Wrapped(X))
            np.testing.assert_array_equal(result.array, call(einops, X), label)
    assert einrs.rearrange([Wrapped(X), Wrapped(X)], "k a b -> a b k").shape == (4, 6, 2)
    with pytest.raises(einrs.EinopsError, match="can't divide"):
        einrs.rearrange(Wrapped(X), "(a c) b -> a c b", c=3)


# --- types that are not known


class Unknown:
    """Much like an array, but of no framework."""

    shape, ndim, dtype = (4, 6), 2, np.dtype("f8")

    def reshape(self, *shape: Any) -> Any:
        raise AssertionError

    transpose = permute = reshape


class Broken:
    """Raises whatever it is asked, but for what `isinstance` asks."""

    def __getattribute__(self, name: str) -> Any:
        if name == "__class__":
            return Broken
        raise LookupError(name)


class Named:
    """Says that it is numpy's."""

    __module__ = "numpy"
    shape = (4, 6)


class NamedByNothing:
    """A type whose module is no text, as some generated ones have."""

    __module__ = None  # type: ignore[assignment]


class SubclassOfNamed(Named):
    __module__ = "torch.nn"


@pytest.mark.parametrize(
    "kind",
    [Unknown, Broken, Named, NamedByNothing, SubclassOfNamed],
    ids=lambda kind: kind.__name__,
)
def test_unknown_types(kind: type[Any]) -> None:
    for _ in range(2):
        with pytest.raises(einrs.EinopsError, match="Tensor type unknown to einops") as caught:
            einrs.rearrange(kind(), "a b -> b a")
        assert kind.__name__ in str(caught.value)
        assert '"a b -> b a"' in str(caught.value)


def test_numpys_own_things_that_are_no_arrays() -> None:
    for thing in (np.float64(3), np.int8(3), np.dtype("f4"), np.random.default_rng(0), np.s_[1:2]):
        with pytest.raises(einrs.EinopsError, match="Tensor type unknown to einops"):
            einrs.rearrange(thing, "... -> ...")


@pytest.mark.needs_jax
def test_jaxs_things_that_are_no_arrays() -> None:
    import jax

    things = [jax.ShapeDtypeStruct((2, 3), "float32"), jax.numpy.float32, jax.numpy.dtype("int8")]
    for thing in things:
        with pytest.raises(einrs.EinopsError, match="Tensor type unknown to einops"):
            einrs.rearrange(thing, "a b -> b a")


@pytest.mark.needs_torch
def test_torchs_things_that_are_no_tensors() -> None:
    import torch

    for thing in (torch.Size([2, 3]), torch.float32, torch.nn.Linear(2, 3), torch.Generator()):
        with pytest.raises(einrs.EinopsError, match="Tensor type unknown to einops"):
            einrs.rearrange(thing, "a b -> b a")
