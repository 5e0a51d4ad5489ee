"""Checks concat, einsum and values of arrays of the standard, which has no einsum."""

import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import einrs
from einrs._frameworks import _array_api

xp = pytest.importorskip("array_api_strict")

LENGTHS = {"a": 2, "b": 3, "c": 4, "d": 1, "e": 5, "f": 0}


def drawn(rng: random.Random) -> tuple[str, list[Any]]:
    """A pattern of one to four terms, and arrays for them."""
    terms = ["".join(rng.sample("abcdef", rng.randint(0, 3))) for _ in range(rng.randint(1, 4))]
    used = sorted(set("".join(terms)))
    output = "".join(rng.sample(used, rng.randint(0, min(len(used), 3))))
    dtype = rng.choice(["int8", "int64", "float64"])
    draw = np.random.default_rng(rng.randint(0, 99)).integers
    arrays = [draw(-3, 4, [LENGTHS[c] for c in term]).astype(dtype) for term in terms]
    return f"{','.join(terms)}->{output}", arrays


def agree(pattern: str, arrays: list[Any]) -> None:
    result = _array_api.einsum(pattern, *map(xp.asarray, arrays))
    expected = np.einsum(pattern, *arrays)
    assert (result.shape, np.asarray(result).dtype) == (expected.shape, expected.dtype), pattern
    np.testing.assert_array_equal(np.asarray(result), expected, pattern)


def test_einsum_by_matmul() -> None:
    """Sums of small integers are exact in any order."""
    rng = random.Random(0)
    for _ in range(500):
        agree(*drawn(rng))


ELLIPSES = [
    ("...ab,...bc->...ac", [(2, 3, 4), (4, 5)]),
    ("...a,a->...", [(2, 3, 4), (4,)]),
    ("a...->...a", [(2, 3, 4)]),
    ("...a,...a->...", [(3, 1, 2), (1, 4, 2)]),
    ("...,...->...", [(), ()]),
]


@pytest.mark.parametrize(("pattern", "shapes"), ELLIPSES)
def test_ellipses(pattern: str, shapes: list[tuple[int, ...]]) -> None:
    agree(pattern, [np.arange(float(np.prod(shape))).reshape(shape) for shape in shapes])


def test_diagonals_are_refused() -> None:
    with pytest.raises(einrs.EinopsError, match="twice in one tensor"):
        einrs.einsum(xp.zeros((2, 2)), "i i -> i")


def test_an_einsum_of_the_namespace_is_used() -> None:
    seen = []
    namespace = SimpleNamespace(einsum=lambda *args: seen.append(args))
    array = SimpleNamespace(shape=(2,), __array_namespace__=lambda: namespace)
    _array_api.einsum("a,a->", array, array)
    assert seen == [("a,a->", array, array)]


def test_joins() -> None:
    arrays = [np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(2, 2, 3)]
    packed, shapes = einrs.pack(list(map(xp.asarray, arrays)), "a * c")
    assert (packed.shape, list(map(tuple, shapes))) == ((2, 3, 3), [(), (2,)])
    for piece, array in zip(einrs.unpack(packed, shapes, "a * c"), arrays, strict=True):
        np.testing.assert_array_equal(np.asarray(piece), array)
    result = einrs.einsum(*map(xp.asarray, arrays), "a c, a b c -> b")
    np.testing.assert_array_equal(np.asarray(result), np.einsum("ac,abc->b", *arrays))


class OnlyDlpack:
    """An array that speaks the protocol of the standard and not numpy's."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self.shape = array.shape

    def __array_namespace__(self) -> Any:
        return np

    def __dlpack__(self, **keywords: Any) -> Any:
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


def test_asnumpy() -> None:
    array = np.arange(6.0).reshape(2, 3)
    for tensor in (xp.asarray(array), OnlyDlpack(array)):
        result = einrs.asnumpy(tensor)
        assert type(result) is np.ndarray
        np.testing.assert_array_equal(result, array)
