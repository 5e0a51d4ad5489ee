"""Turns `einrs.array_api` into tests on arrays of the standard and on numpy: equal to einops'."""

from typing import Any

import einops
import einops.array_api
import numpy as np
import pytest

from einrs import EinopsError, array_api

strict = pytest.importorskip("array_api_strict")

ARRAY = np.arange(24.0).reshape(2, 3, 4)

CASES = [
    ("rearrange", "a b c -> c (b a)", {}),
    ("rearrange", "a b (c d) -> a d b c 1", {"d": 2}),
    ("rearrange", "... a -> a ...", {}),
    ("repeat", "a b c -> a (k b) c 2", {"k": 3}),
    ("repeat", "a b c -> c j a b", {"j": 1}),
    *[("reduce", "a (b 1) c -> c", {"reduction": name}) for name in ("min", "max", "sum", "prod")],
    ("reduce", "a b c -> 1 b ()", {"reduction": "mean"}),
    ("reduce", "a b c -> c a", {"reduction": "rearrange"}),
]
KINDS = pytest.mark.parametrize("make", [strict.asarray, np.asarray], ids=["strict", "numpy"])


@KINDS
@pytest.mark.parametrize(("operation", "pattern", "options"), CASES)
def test_an_operation_equals_einops(make: Any, operation: str, pattern: str, options: Any) -> None:
    tensor = make(ARRAY)
    if options.get("reduction") == "rearrange":
        pattern = "a b c -> c b a"
    result = getattr(array_api, operation)(tensor, pattern, **options)
    assert type(result) is type(tensor)
    expected = getattr(einops, operation)(ARRAY, pattern, **options)
    np.testing.assert_array_equal(array_api.asnumpy(result), expected)


@KINDS
def test_lists_are_stacked(make: Any) -> None:
    result = array_api.rearrange([make(ARRAY), make(ARRAY + 1)], "n a b c -> a n b c")
    np.testing.assert_array_equal(array_api.asnumpy(result), np.stack([ARRAY, ARRAY + 1], 1))


@KINDS
def test_pack_and_unpack(make: Any) -> None:
    tensors = [make(ARRAY), make(ARRAY[:, 0]), make(ARRAY[:, :, None])]
    packed, shapes = array_api.pack(tensors, "a * c")
    expected, expected_shapes = einops.pack([np.asarray(one) for one in tensors], "a * c")
    np.testing.assert_array_equal(array_api.asnumpy(packed), expected)
    assert shapes == expected_shapes
    for one, other in zip(array_api.unpack(packed, shapes, "a * c"), tensors, strict=True):
        np.testing.assert_array_equal(array_api.asnumpy(one), array_api.asnumpy(other))


def test_numpy_repeats_without_a_copy() -> None:
    result = array_api.repeat(ARRAY, "a b c -> k a b c", k=1000)
    assert np.shares_memory(result, ARRAY)
    assert result.strides[0] == 0


def test_a_mean_of_integers_is_the_namespaces() -> None:
    array = np.arange(6).reshape(2, 3)
    expected = einops.array_api.reduce(array, "a b -> a", "mean")
    np.testing.assert_array_equal(array_api.reduce(array, "a b -> a", "mean"), expected)


@KINDS
def test_a_callable_sees_the_axes_as_einops_shows_them(make: Any) -> None:
    seen = []

    def last(tensor: Any, axes: tuple[int, ...]) -> Any:
        seen.append((tuple(tensor.shape), axes))
        return tensor[..., 0]

    assert array_api.reduce(make(ARRAY), "a b c -> c a", last).shape == (4, 2)
    assert seen == [((4, 2, 3), (2,))]


@pytest.mark.parametrize(
    ("tensor", "pattern", "options"),
    [
        (ARRAY, "a b -> b a", {}),
        (ARRAY, "a b c", {}),
        (ARRAY, "a b (c d) -> a b c d", {"d": 3}),
        (ARRAY, 3, {}),
        (ARRAY, "a b (c d) -> a b c d", {"d": 2.0}),
        ([], "a -> a", {}),
        (3, "a -> a", {}),
        ([3], "a -> a", {}),
        (None, "a -> a", {}),
    ],
)
def test_bad_input_is_refused(tensor: Any, pattern: Any, options: Any) -> None:
    with pytest.raises(EinopsError):
        array_api.rearrange(tensor, pattern, **options)
    with pytest.raises(EinopsError):
        array_api.repeat(tensor, pattern, **options)
    with pytest.raises(EinopsError):
        array_api.reduce(tensor, pattern, "max", **options)


def test_an_unknown_reduction_is_refused() -> None:
    with pytest.raises(EinopsError, match="median"):
        array_api.reduce(ARRAY, "a b c -> a", "median")
