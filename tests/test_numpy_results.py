"""Checks numpy's results: where they lie in memory, whose they are, and that they are right."""

import warnings
from pathlib import Path
from typing import Any

import einops
import numpy as np
import pytest

import einrs
from sides import OPERATIONS, differences
from test_frameworks_numpy import KINDS, facts

X = np.arange(24.0).reshape(4, 6)

VIEWS = [
    ("a b -> b a", {}),
    ("a b -> (a b)", {}),
    ("a b -> a 1 b", {}),
    ("(a c) b -> c a b", {"c": 2}),
    ("(a c) (b d) -> a b c d", {"c": 2, "d": 3}),
    ("a b -> b () a", {}),
]
COPIES = [("a b -> (b a)", {}), ("(a c) b -> c (a b)", {"c": 2}), ("a (b c) -> (c a) b", {"c": 2})]


@pytest.mark.parametrize(("pattern", "lengths"), VIEWS)
def test_views_are_views(pattern: str, lengths: dict[str, int]) -> None:
    owner = X.copy()
    view = einrs.rearrange(owner, pattern, **lengths)
    assert view.base is owner
    assert not view.flags.owndata
    assert view.flags.writeable
    view[...] = 7
    assert (owner == 7).all()
    # A view of a view belongs to the same owner, as numpy has it.
    assert einrs.rearrange(owner[:, ::-1], "a b -> b a").base is owner


@pytest.mark.parametrize(("pattern", "lengths"), COPIES)
@pytest.mark.parametrize("size", ["small", "big"])
def test_copies_are_new_and_their_own(pattern: str, lengths: dict[str, int], size: str) -> None:
    """What einrs copies owns its memory; einops' copy is a view of a fresh array."""
    source = X.copy() if size == "small" else np.tile(X, (100, 100))
    source.flags.writeable = False
    copy = einrs.rearrange(source, pattern, **lengths)
    assert copy.flags.writeable
    assert copy.flags.c_contiguous
    assert not np.may_share_memory(copy, source)
    if size == "small":
        assert copy.flags.owndata
        assert copy.base is None
    expected = einops.rearrange(source, pattern, **lengths)
    copy[...] = copy + 1
    np.testing.assert_array_equal(copy, expected + 1)


@pytest.mark.parametrize("right", ["a b k", "k a b", "(a k) b", "b k a"])
@pytest.mark.parametrize("length", [1, 2])
def test_repeats_are_new(right: str, length: int) -> None:
    """Along a new axis, be it of length 1; a unit axis that is written `1` only reshapes."""
    source, pattern = X.copy(), f"a b -> {right}"
    source.flags.writeable = False
    assert einrs.repeat(source, pattern.replace("k", "1")).base is source or "(" in pattern
    result = einrs.repeat(source, pattern, k=length)
    assert result.flags.writeable
    assert not np.may_share_memory(result, source)
    result[...] = 0
    assert source.sum() == X.sum()


@pytest.mark.parametrize("op", ["rearrange", "repeat", "reduce"])
def test_nothing_to_do_gives_the_same_object(op: str) -> None:
    patterns = ("a b -> a b", "... -> ...", "a ... -> a ...", "(a) (b) -> a b", "a (b 1) -> a b")
    for pattern in patterns:
        reduction = ["sum"] if op == "reduce" else []
        if einops_gives_it(op, pattern, reduction):
            assert getattr(einrs, op)(X, pattern, *reduction) is X
            integers = X.astype(int)
            if op == "reduce":
                # Nothing is reduced, so that no dtype is wrong.
                assert einrs.reduce(integers, pattern, "mean") is integers


def einops_gives_it(op: str, pattern: str, reduction: list[str]) -> bool:
    return getattr(einops, op)(X, pattern, *reduction) is X


SCALARS = [
    ("float64", "sum", np.float64),
    ("float32", "mean", np.float32),
    ("float16", "max", np.float16),
    ("int8", "sum", np.int64),
    ("uint8", "prod", np.uint64),
    ("bool", "sum", np.int64),
    ("bool", "max", np.bool_),
    ("int64", "any", np.bool_),
    (">f8", "sum", np.float64),
    ("complex64", "prod", np.complex64),
    ("datetime64[s]", "max", np.datetime64),
    ("longdouble", "mean", np.longdouble),
    ("object", "sum", float),
]


@pytest.mark.parametrize(("dtype", "name", "kind"), SCALARS)
def test_full_reductions_are_scalars(dtype: str, name: str, kind: type[Any]) -> None:
    array = (X % 3).astype("i8").astype(dtype) if dtype[0] == "d" else (X % 3).astype(dtype)
    for pattern in ("a b ->", "a b -> "):
        result = einrs.reduce(array, pattern, name)
        assert type(result) is kind
        assert type(einops.reduce(array, pattern, name)) is kind
    if dtype != "object":
        assert einrs.reduce(array, "a b -> 1 1", name).shape == (1, 1)


NO_MEAN = ["bool", "int32", "uint8", ">f8", ">f4", "complex64", "timedelta64[s]", "object", "U3"]


@pytest.mark.parametrize("dtype", NO_MEAN)
def test_mean_of_what_has_none(dtype: str) -> None:
    array = X.astype("i8").astype(dtype)
    for pattern in ("a b -> a", "a b ->", "(a 2) b -> b a"):
        with pytest.raises(NotImplementedError, match="not available for non-floating") as caught:
            einrs.reduce(array, pattern, "mean")
        assert isinstance(caught.value, einrs.EinopsError)
        assert str(array.dtype) in str(caught.value)
    assert einrs.reduce(array, "a b -> a b", "mean") is array


def test_sums_are_numpys_bit_for_bit() -> None:
    """The original axes are reduced; pairwise summation must not notice."""
    random = np.random.default_rng(0)
    for dtype in ("f2", "f4", "f8"):
        for _ in range(30):
            shape = tuple(random.integers(1, 9, size=4))
            array = random.standard_normal(shape).astype(dtype)
            array = array.transpose(random.permutation(4))[::-1]
            for name in ("sum", "mean", "prod"):
                for pattern in ("a b c d -> c a", "a b c d -> b", "a b c d ->", "a b c d -> (d b)"):
                    ours = einrs.reduce(array, pattern, name)
                    theirs = einops.reduce(array, pattern, name)
                    assert np.asarray(ours).tobytes() == np.asarray(theirs).tobytes()


@pytest.mark.parametrize("mode", ["r", "r+", "c"])
def test_memmap(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "numbers"
    X.tofile(path)

    def make() -> Any:
        return np.memmap(path, X.dtype, mode, shape=X.shape)  # type: ignore[call-overload]

    for label, call in OPERATIONS.items():
        _, found = differences(call, make, facts)
        assert not found, f"{label}: {found}"
    result = einrs.rearrange(make(), "a b -> b a")
    assert type(result) is np.memmap
    assert result.flags.writeable == (mode != "r")
    if mode == "r+":
        written = make()
        einrs.rearrange(written, "(a c) b -> c b a", c=2)[1, 2, 0] = 99
        written.flush()
        assert np.fromfile(path)[6 + 2] == 99


def test_masks_travel() -> None:
    masked = np.ma.MaskedArray(X, mask=X % 5 == 0)
    result = einrs.rearrange(masked, "a b -> b a")
    assert type(result) is np.ma.MaskedArray
    np.testing.assert_array_equal(np.ma.getmaskarray(result), (X % 5 == 0).T)
    assert float(einrs.reduce(masked, "a b ->", "sum")) == X[X % 5 != 0].sum()


def test_matrices_stay_flat() -> None:
    matrix = X.view(np.matrix)
    assert einrs.rearrange(matrix, "a b -> (b a)").shape == (1, 24)
    assert type(einrs.repeat(matrix, "a b -> (a 2) b")) is np.ndarray
    with pytest.raises(ValueError, match="too large to be a matrix"):
        einrs.rearrange(matrix, "(a c) b -> a c b", c=2)


LISTED = ["float64", "sliced", "matrix", "masked", "object", "subclass", "U", ">f4", "read-only"]


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("kind", LISTED)
def test_lists(count: int, kind: str) -> None:
    for call in (
        lambda module, x: module.rearrange(x, "k a b -> a b k"),
        lambda module, x: module.rearrange(x, "k (a c) b -> c (k b) a", c=2),
        lambda module, x: module.reduce(x, "k a b -> a b", "max"),
        lambda module, x: module.reduce(x, "k a b -> b", "mean"),
        lambda module, x: module.reduce(x, "k a b -> b", np.max),
        lambda module, x: module.repeat(x, "k a b -> k a 2 b"),
    ):
        _, found = differences(
            call,
            lambda: [KINDS[kind]() for _ in range(count)],
            lambda result, tensors: facts(result, tensors[0]),
        )
        assert not found


def test_lists_of_different_kinds() -> None:
    for others in ([X.astype("f4")], [X.astype("i8")], [X > 3], [X.T.copy().T], [X.tolist()]):
        for call in (
            lambda module, x: module.rearrange(x, "k a b -> a b k"),
            lambda module, x: module.reduce(x, "k a b -> a b", "sum"),
        ):
            _, found = differences(
                call, lambda others=others: [X, *others], lambda r, t: facts(r, t[0])
            )
            assert not found


@pytest.mark.needs_jax
def test_gradients_without_a_dtype() -> None:
    """The gradients of integers in jax are arrays of a numpy subclass, whose dtype has no bytes."""
    import jax

    def make() -> Any:
        integers = jax.numpy.arange(24).reshape(4, 6)
        return jax.grad(lambda x: 2.0, allow_int=True)(integers)

    def shape(result: Any, tensor: Any) -> dict[str, Any]:
        return {"type": type(result), "shape": result.shape, "dtype": result.dtype}

    for call in (
        lambda module, x: module.rearrange(x, "a b -> b a"),
        lambda module, x: module.rearrange(x, "(a c) b -> c (b a)", c=2),
        lambda module, x: module.reduce(x, "a b -> a", "max"),
        lambda module, x: module.repeat(x, "a b -> a b 2"),
    ):
        _, found = differences(call, make, shape)
        assert not found


def test_callables_see_what_einops_shows() -> None:
    """The reduced axes are the last ones, in the order of the input."""
    seen: list[Any] = []

    def reduction(tensor: Any, axes: Any) -> Any:
        seen.append((type(tensor), tensor.shape, tensor.strides, axes, type(axes)))
        return tensor.max(axes)

    for call in (
        lambda module, x: module.reduce(x, "a b -> b", reduction),
        lambda module, x: module.reduce(x, "(a c) (b d) -> d a", reduction, c=2, d=2),
        lambda module, x: module.reduce(x, "a b ->", reduction),
        lambda module, x: module.reduce(x, "a b -> b a", reduction),
        lambda module, x: module.reduce([x, x], "k a b -> b", reduction),
        lambda module, x: module.reduce(x.view(np.recarray), "a b -> 1 b", reduction),
    ):
        seen.clear()
        theirs = call(einops, X)
        shown = seen.copy()
        seen.clear()
        np.testing.assert_array_equal(call(einrs, X), theirs)
        assert seen == shown


@pytest.mark.parametrize("dtype", ["i1", "f2", "f4", "f8", "c16", "clongdouble", "O", ">f8"])
@pytest.mark.parametrize("more", [-1, 0, 1])
def test_copies_around_the_size_that_einrs_copies_itself(dtype: str, more: int) -> None:
    """Up to 256 KiB are copied by a loop of einrs, more by numpy: the results must not tell."""
    half = 2**17 // np.dtype(dtype).itemsize + more

    def make() -> Any:
        return (np.arange(4 * half) % 97).astype(dtype).reshape(2, 2, half)[:, :, ::-1]

    for call in (
        lambda module, x: module.rearrange(x[0], "a b -> (b a)"),
        lambda module, x: module.rearrange(x[:, 0], "a b -> (b a)"),
        lambda module, x: module.rearrange(x[0], "a b -> b a 1"),
        lambda module, x: module.repeat(x[0, 0], "a -> a k", k=2),
        lambda module, x: module.repeat(x[0, 0], "a -> (k a)", k=2),
        lambda module, x: module.reduce(x, "a b c -> (c a)", "max"),
    ):
        succeeds, found = differences(call, make, facts)
        assert (succeeds, found) == (True, [])


def test_warnings_of_writing_to_broadcast_arrays() -> None:
    """The first write to such an array gives a warning, and so does one to a view of it."""
    categories = []
    for module in (einops, einrs):
        array = np.broadcast_arrays(np.zeros(3), np.zeros((2, 3)))[0]
        view = module.rearrange(array, "a b -> b a")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            view[0, 0] = 1
        categories.append([warning.category for warning in caught])
    assert categories[0] == categories[1] == [DeprecationWarning]
