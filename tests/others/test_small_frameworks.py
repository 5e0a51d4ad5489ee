"""Checks the operations on the small frameworks against numpy, and against einops on the same."""

from typing import Any

import einops
import numpy as np
import pytest
from small import SIDES, Side

import einrs
from einrs import _frameworks
from sides import OPERATIONS

X = np.arange(24.0, dtype="float32").reshape(4, 6)
IN_EINOPS = [side for side in SIDES if side.in_einops]
REDUCTIONS = ("min", "max", "sum", "mean", "prod", "any", "all")


def array_for(label: str) -> Any:
    return X > 9 if any(name in label for name in (" any ", " all ")) else X


@pytest.mark.parametrize("label", OPERATIONS)
def test_operations(side: Side, label: str) -> None:
    """Shape, type and values; a mean may be a product by the inverse of the count."""
    call = OPERATIONS[label]
    tensor = side.make(array_for(label))
    result = call(einrs, tensor)
    expected = np.asarray(call(einops, array_for(label)))
    assert _frameworks.of(result) is _frameworks.of(tensor)
    assert tuple(result.shape) == expected.shape or side.name == "pytensor"
    values = side.values(result)
    assert values.shape == expected.shape
    np.testing.assert_allclose(values, expected, rtol=1e-6 if " mean " in label else 0)


DTYPES = ("bool", "uint8", "int32", "int64", "float16", "float32", "float64", "complex64")
CALLS: dict[str, Any] = {
    f"reduce {name}": lambda module, x, name=name: module.reduce(x, "a b c -> b", name)
    for name in REDUCTIONS
}
CALLS["reduce to nothing"] = lambda module, x: module.reduce(x, "a b c ->", "max")
CALLS["rearrange"] = lambda module, x: module.rearrange(x, "a (b d) c -> (d a) c b", d=2)
CALLS["repeat"] = lambda module, x: module.repeat(x, "a b c -> (a 2) c k b", k=3)
CALLS["list"] = lambda module, x: module.rearrange([x, x], "k a b c -> a (k b) c")


def numbers(dtype: str) -> Any:
    values = np.random.default_rng(0).normal(size=(2, 4, 3))
    return (values > 0) if dtype == "bool" else (values * 3).astype(dtype)


def refused(call: Any, tensor: Any, side: Side) -> Any:
    """The values and the dtype, or the class of the error."""
    try:
        result = call(tensor)
        return side.values(result), str(result.dtype)
    except Exception as error:
        return None, type(error)


@pytest.mark.filterwarnings("ignore:Casting complex values:Warning")
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
@pytest.mark.parametrize("side", IN_EINOPS, indirect=True, ids=lambda side: side.name)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("label", CALLS)
def test_as_einops(side: Side, label: str, dtype: str) -> None:
    """Bit for bit what einops gives, or an error that whoever catches einops' error catches."""
    try:
        tensor = side.make(numbers(dtype))
        values = side.values(tensor)
    except Exception as error:
        pytest.skip(f"{side.name} has no tensor of {dtype}: {error}")
    if label == "repeat" and side.name == "mlx":
        # einops cannot: its `add_axes` for mlx takes too few arguments.
        result = einrs.repeat(tensor, "a b c -> (a 2) c k b", k=3)
        expected = einops.repeat(values, "a b c -> (a 2) c k b", k=3)
        assert (side.values(result).tobytes(), result.dtype) == (expected.tobytes(), tensor.dtype)
        return
    theirs, about_theirs = refused(lambda x: CALLS[label](einops, x), tensor, side)
    ours, about_ours = refused(lambda x: CALLS[label](einrs, x), tensor, side)
    if theirs is None:
        base = einrs.EinopsError if about_theirs is einops.EinopsError else about_theirs
        assert ours is None
        assert issubclass(about_ours, base)
        return
    assert about_ours == about_theirs
    assert ours.shape == theirs.shape
    assert ours.tobytes() == theirs.tobytes()


def test_means_of_integers_are_refused(side: Side) -> None:
    tensor = side.make(np.arange(6).reshape(2, 3))
    with pytest.raises(einrs.EinopsError, match="non-floating") as caught:
        einrs.reduce(tensor, "a b -> a", "mean")
    assert isinstance(caught.value, NotImplementedError)


WRONG: list[tuple[Any, str]] = [
    (lambda x: einrs.rearrange(x, "(a c) b -> a c b", c=3), "NotDivisible"),
    (lambda x: einrs.rearrange(x, "(a b) (c d) -> a b c d", a=2), "TwoUnknown"),
    (lambda x: einrs.rearrange(x, "a b c -> b a c"), "WrongRank"),
    (lambda x: einrs.rearrange(x, "a b -> b a", a=5), "Mismatch"),
    (lambda x: einrs.rearrange(x, "a b -> (a b"), "UnclosedBracket"),
    (lambda x: einrs.reduce(x, "a b -> c", "max"), "NewInReduce"),
    (lambda x: einrs.reduce(x, "a b -> a", "median"), "UnknownReduction"),
    (lambda x: einrs.repeat(x, "a b -> a b k"), "NeedsLength"),
]


@pytest.mark.parametrize(("call", "kind"), WRONG)
def test_errors_come_before_the_framework(
    side: Side, call: Any, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tensor = side.make(X)
    framework = _frameworks.of(tensor)
    for step in ("reshape", "permute", "reduce", "expand"):
        monkeypatch.setattr(framework, step, None)
    with pytest.raises(einrs.EinopsError) as caught:
        call(tensor)
    assert caught.value.kind == kind


def test_nothing_to_do_gives_the_same_object(side: Side) -> None:
    tensor = side.make(X)
    assert einrs.rearrange(tensor, "a b -> a b") is tensor
    assert einrs.repeat(tensor, "... -> ...") is tensor


EMPTY: list[Any] = [
    lambda module, x: module.rearrange(x, "a b -> b a"),
    lambda module, x: module.rearrange(x, "a b -> (b a)"),
    lambda module, x: module.repeat(x, "a b -> a 2 b"),
    lambda module, x: module.reduce(x, "a b -> a", "sum"),
]


@pytest.mark.parametrize("call", EMPTY)
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_empty(side: Side, shape: tuple[int, ...], call: Any) -> None:
    if side.name == "mlx" and call is EMPTY[-1] and shape[1] == 0:
        pytest.skip("mlx 0.32 on a CPU sometimes never ends when it reduces an axis of length 0")
    array = np.zeros(shape, "float32")
    expected = call(einops, array)
    values = side.values(call(einrs, side.make(array)))
    assert values.shape == expected.shape
    np.testing.assert_array_equal(values, expected)


def test_without_axes(side: Side) -> None:
    tensor = side.make(np.array(3.0, "float32"))
    for pattern, shape in (("-> 1 1", (1, 1)), ("->", ()), ("... -> 1 ...", (1,))):
        values = side.values(einrs.rearrange(tensor, pattern))
        assert values.shape == shape
        assert values.item() == 3.0
    assert side.values(einrs.repeat(tensor, "-> 2 k", k=3)).tolist() == [[3.0] * 3] * 2
    assert side.values(einrs.reduce(tensor, "->", "max")).item() == 3.0


def test_callables(side: Side) -> None:
    def reduction(tensor: Any, axes: tuple[int, ...]) -> Any:
        seen.append((tuple(tensor.shape), axes))
        return _frameworks.of(tensor).reduce(tensor, "max", axes)

    seen: list[Any] = []
    result = einrs.reduce(side.make(X), "(a 2) b -> b", reduction)
    assert side.values(result).tolist() == X.max(0).tolist()
    assert [axes for _, axes in seen] == [(1, 2)]


def test_lists(side: Side) -> None:
    tensors = [side.make(X), side.make(X + 1)]
    result = side.values(einrs.reduce(tensors, "k a b -> b a", "max"))
    np.testing.assert_array_equal(result, X.T + 1)
    with pytest.raises(einrs.EinopsError, match="one shape"):
        einrs.rearrange([side.make(X), side.make(X[:2])], "k a b -> a b k")


EINSUMS = {
    "a b, b c -> a c": ((2, 3), (3, 4)),
    "i, j -> j i": ((2,), (3,)),
    "batch a b, batch b c -> batch c a": ((5, 2, 3), (5, 3, 4)),
    "a b, b, a -> ": ((2, 3), (3,), (2,)),
    "rows columns -> columns": ((2, 3),),
}


@pytest.mark.filterwarnings("ignore:.*np.dot.. is faster on contiguous arrays:Warning")
@pytest.mark.parametrize("pattern", EINSUMS)
def test_einsum(side: Side, pattern: str) -> None:
    arrays = [np.arange(float(np.prod(shape))).reshape(shape) for shape in EINSUMS[pattern]]
    result = side.values(einrs.einsum(*map(side.make, arrays), pattern))
    expected = einops.einsum(*arrays, pattern)
    assert result.shape == np.shape(expected)
    np.testing.assert_allclose(result, expected, rtol=1e-12)


def test_pack_and_unpack(side: Side) -> None:
    arrays = [np.arange(n).reshape(4, *rest, 3) for n, rest in ((12, ()), (24, (2,)), (72, (2, 3)))]
    packed, shapes = einrs.pack([side.make(array) for array in arrays], "a * c")
    expected, expected_shapes = einops.pack(arrays, "a * c")
    np.testing.assert_array_equal(side.values(packed), expected)
    assert [tuple(shape) for shape in shapes] == [tuple(shape) for shape in expected_shapes]
    pieces = einrs.unpack(packed, shapes, "a * c")
    for piece, array in zip(pieces, arrays, strict=True):
        np.testing.assert_array_equal(side.values(piece), array)


def test_asnumpy(side: Side) -> None:
    for array in (X, np.array(3.0), X > 9):
        result = einrs.asnumpy(side.make(array))
        assert type(result) is np.ndarray
        assert (result.dtype, result.shape) == (array.dtype, array.shape)
        np.testing.assert_array_equal(result, array)


def test_bfloat16_of_mlx() -> None:
    """It has a mean, and its values come as float32, since numpy has no bfloat16."""
    mx = pytest.importorskip("mlx.core")
    tensor = mx.array(X).astype(mx.bfloat16)
    mean = einrs.reduce(tensor, "a b -> a", "mean")
    assert mean.dtype == mx.bfloat16
    result = einrs.asnumpy(mean)
    assert (result.dtype, result.tolist()) == (np.float32, [2.5, 8.5, 14.5, 20.5])
