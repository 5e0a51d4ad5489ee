"""Checks numpy's kinds of arrays and dtypes: results, errors and warnings as einops gives them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import einrs
from sides import OPERATIONS, differences, operations

SHAPE = (4, 6)
SIZE = 24


class Sub(np.ndarray):
    """An array by inheritance."""


class Marked(np.ndarray):
    """An array with an attribute that views take over."""

    mark: Any

    def __array_finalize__(self, other: Any) -> None:
        self.mark = getattr(other, "mark", "fresh")


def numbers(dtype: Any = "f8") -> Any:
    return (np.arange(SIZE) * 7 % 23 - 9).reshape(SHAPE).astype(dtype)


def marked() -> Any:
    array = numbers().view(Marked)
    array.mark = "kept"
    return array


def structured() -> Any:
    array = np.zeros(SHAPE, [("x", "f8"), ("y", "i2", (2,)), ("z", "O")])
    array["x"] = numbers()
    array["y"] = numbers("i2")[..., None]
    array["z"] = numbers("O")
    return array


def masked(**options: Any) -> Any:
    return np.ma.MaskedArray(numbers(), mask=numbers() % 3 == 0, **options)


def read_only() -> Any:
    array = numbers()
    array.flags.writeable = False
    return array


def unaligned() -> Any:
    array = np.empty(SIZE * 8 + 1, "u1")[1:].view("f8").reshape(SHAPE)
    array[...] = numbers()
    return array


def ragged_objects() -> Any:
    array = np.empty(SHAPE, "O")
    for i, place in enumerate(np.ndindex(SHAPE)):
        array[place] = [i, None, "text"][i % 3]
    return array


KINDS: dict[str, Callable[[], Any]] = {
    "float64": numbers,
    "Fortran": lambda: np.asfortranarray(numbers()),
    "transposed": lambda: numbers().reshape(6, 4).T,
    "sliced": lambda: np.tile(numbers(), (2, 2))[::2, 1::2],
    "reversed": lambda: numbers()[::-1, ::-1],
    "broadcast rows": lambda: np.broadcast_to(numbers()[0], SHAPE),
    "broadcast columns": lambda: np.broadcast_to(numbers()[:, :1], SHAPE),
    "overlapping": lambda: np.lib.stride_tricks.sliding_window_view(numbers().ravel()[:9], 6),
    "broadcast_arrays": lambda: np.broadcast_arrays(numbers()[0], numbers())[0],
    "read-only": read_only,
    "unaligned": unaligned,
    "from bytes": lambda: np.frombuffer(numbers().tobytes()).reshape(SHAPE),
    "matrix": lambda: numbers().view(np.matrix),
    "masked": masked,
    "masked, none hidden": lambda: np.ma.MaskedArray(numbers()),
    "masked, hard": lambda: masked(hard_mask=True, fill_value=-1.0),
    "recarray": lambda: structured()[["x", "y"]].view(np.recarray),
    "chararray": lambda: np.char.asarray(numbers("i8").astype("U4")),
    "subclass": lambda: numbers().view(Sub),
    "subclass with an attribute": marked,
    "object": lambda: numbers("i8").astype("O"),
    "object, ragged": ragged_objects,
    "structured": structured,
    "U": lambda: numbers("i8").astype("U5"),
    "S": lambda: numbers("i8").astype("S5"),
    "V3": lambda: np.frombuffer(numbers().tobytes()[: SIZE * 3], "V3").reshape(SHAPE),
    "datetime": lambda: numbers("i8").astype("datetime64[s]"),
    "datetime, NaT": lambda: np.where(numbers() > 0, numbers("M8[D]"), np.datetime64("NaT")),
    "timedelta": lambda: numbers("i8").astype("timedelta64[ms]"),
    "with NaN": lambda: np.where(numbers() % 5 == 0, np.nan, numbers()),
    **{
        name: lambda name=name: numbers(name)
        for name in ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint64")
    },
    **{
        name: lambda name=name: numbers(name)
        for name in ("float16", "float32", "longdouble", "complex64", "complex128", "clongdouble")
    },
    **{name: lambda name=name: numbers(name) for name in (">f4", ">f8", ">i2", ">u8", ">c8")},
}


def facts(result: Any, tensor: Any) -> dict[str, Any]:
    """All that einops' result and ours must have in common."""
    found = {"type": type(result), "same object": result is tensor, "value": values(result)}
    if isinstance(result, (np.ndarray, np.generic)):
        found |= {"shape": result.shape, "dtype": result.dtype}
    if isinstance(result, np.ndarray):
        found |= {
            # No element of an empty array is reached by a stride.
            "strides": result.strides if result.size else (),
            "writeable": result.flags.writeable,
            "C": result.flags.c_contiguous,
            "F": result.flags.f_contiguous,
            "aligned": result.flags.aligned,
            "shares memory": np.may_share_memory(result, tensor),
            "mark": getattr(result, "mark", None),
        }
    if isinstance(result, np.ma.MaskedArray):
        found |= {
            "mask": np.ma.getmask(result).tolist(),
            "hidden values": values(np.ma.getdata(result)),
            "fill value": repr(result.fill_value),
            "hard mask": result.hardmask,
        }
    return found


def values(result: Any) -> Any:
    if isinstance(result, np.ma.MaskedArray):
        return np.ma.filled(result, 99).tolist()
    return repr(result.tolist()) if isinstance(result, (np.ndarray, np.generic)) else result


@pytest.mark.parametrize("op", ["rearrange", "reduce", "repeat"])
@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_arrays(kind: str, op: str) -> None:
    wrong, fine = [], 0
    for label, call in OPERATIONS.items():
        if label.startswith(op):
            succeeds, found = differences(call, KINDS[kind], facts)
            fine += succeeds
            wrong += [f"{label}: {difference}" for difference in found]
    assert not wrong, "\n".join(wrong)
    # At least where nothing is to be done.
    assert fine


def ml_dtypes_of(name: str) -> Any:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    # Numbers that four bits hold.
    return (numbers("i4") % 7).astype("f4").astype(getattr(ml_dtypes, name))


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "int4"])
def test_dtypes_of_others(name: str) -> None:
    for label, call in OPERATIONS.items():
        _, found = differences(call, lambda: ml_dtypes_of(name), facts)
        assert not found, f"{label}: {found}"


def test_strings_of_any_length() -> None:
    if not hasattr(np.dtypes, "StringDType"):
        pytest.skip("this numpy has no StringDType")

    def texts() -> Any:
        words = [f"text {i}" * (i % 7) for i in range(SIZE)]
        return np.array(words, np.dtypes.StringDType()).reshape(SHAPE)

    for label, call in OPERATIONS.items():
        _, found = differences(call, texts, facts)
        assert not found, f"{label}: {found}"
    result = einrs.rearrange(texts(), "a b -> (b a)")
    assert result.tolist() == texts().T.ravel().tolist()


SHAPES = [(0, 6), (4, 0), (0, 0), (2, 2), (2, 1), (1, 1), (1, 6), (4, 1)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("order", ["C", "F", "sliced"])
def test_empty_and_short_axes(shape: tuple[int, int], order: str) -> None:
    def make() -> Any:
        if order == "sliced":
            return np.arange(400.0).reshape(20, 20)[::3, ::-2][: shape[0], : shape[1]]
        return np.asarray(np.arange(np.prod(shape) * 1.0).reshape(shape), order=order)

    for label, call in operations(*shape).items():
        _, found = differences(call, make, facts)
        # What einops leaves to a division by zero is refused with a sentence.
        if "ZeroDivisionError" in str(found):
            with pytest.raises(einrs.EinopsError, match="length 0"):
                call(einrs, make())
            continue
        assert not found, f"{label}: {found}"


@pytest.mark.parametrize("shape", [(0, 6), (4, 0), (0, 0)])
def test_strides_of_empty_views(shape: tuple[int, int]) -> None:
    """Not that they lead anywhere, but views have them as numpy gives them."""

    def strides(result: Any, tensor: Any) -> dict[str, Any]:
        return {"strides": result.strides}

    def make() -> Any:
        return np.zeros((20, 30))[: shape[0], : shape[1]]

    for label, call in operations(*shape).items():
        if label.startswith("rearrange"):
            _, found = differences(call, make, strides)
            assert not found or "ZeroDivisionError" in str(found), f"{label}: {found}"


def test_no_axes() -> None:
    for call in (
        lambda module, x: module.rearrange(x, "->"),
        lambda module, x: module.rearrange(x, " -> 1 1"),
        lambda module, x: module.rearrange(x, "... -> ... 1"),
        lambda module, x: module.repeat(x, "-> 3"),
        lambda module, x: module.repeat(x, "-> (3 1) k", k=2),
        lambda module, x: module.reduce(x, "->", "sum"),
        lambda module, x: module.reduce(x, "... -> ()", "max"),
    ):
        assert differences(call, lambda: np.array(3.0), facts) == (True, [])


@pytest.mark.parametrize("rank", [16, 17, 31, 32, 33, 64])
def test_many_axes(rank: int) -> None:
    names = [f"a{i}" for i in range(rank)]
    shape = tuple(2 if i % 5 == 0 else 1 for i in range(rank))

    def make() -> Any:
        return np.arange(np.prod(shape) * 1.0).reshape(shape)

    left = " ".join(names)
    for right in (left, " ".join(names[::-1]), f"({left})", f"({' '.join(names[::-1])})", "a0 ..."):
        pattern = f"{left} -> {right}" if right != "a0 ..." else "a0 ... -> ... a0"
        calls = [lambda module, x, pattern=pattern: module.rearrange(x, pattern)]
        if rank < 64:
            calls.append(lambda module, x, pattern=pattern: module.repeat(x, f"{pattern} 2"))
        for call in calls:
            assert differences(call, make, facts) == (True, [])
    for name in ("sum", "max", "mean", "all"):
        pattern = f"{left} -> {' '.join(names[1::2])}"
        succeeds, found = differences(
            lambda module, x, p=pattern, n=name: module.reduce(x, p, n), make, facts
        )
        # einrs reduces in place; the strides of axes of length 1 lead nowhere, and differ.
        assert succeeds
        assert all(difference.startswith("strides") for difference in found)


def test_more_axes_than_numpy_has() -> None:
    for op, right in (("rearrange", "a" + " 1" * 64), ("repeat", "a" + " 1" * 63 + " 2")):
        succeeds, found = differences(
            lambda module, x, op=op, right=right: getattr(module, op)(x, f"a -> {right}"),
            lambda: np.zeros(1),
            facts,
        )
        assert (succeeds, found) == (False, [])


def test_more_elements_than_memory() -> None:
    """A view of a broadcast array costs nothing, however long its axes are."""

    def make() -> Any:
        return np.broadcast_to(np.int8(3), (2**31, 2**30))

    def light(result: Any, tensor: Any) -> dict[str, Any]:
        return {"shape": result.shape, "strides": result.strides, "base": result.base is not None}

    for call in (
        lambda module, x: module.rearrange(x, "a b -> b a"),
        lambda module, x: module.rearrange(x, "a b -> (b a)"),
        lambda module, x: module.rearrange(x, "(a c) b -> c b a", c=2**20),
    ):
        assert differences(call, make, light) == (True, [])


def test_differences_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each fact that einrs could get wrong makes the comparison fail."""
    lies: list[Callable[[Any], Any]] = [
        lambda x: x.reshape(4, 6),
        lambda x: x.T.copy(),
        lambda x: x.T.astype("f4"),
        lambda x: x.T.view(Sub),
        lambda x: np.broadcast_to(x.T, (6, 4)),
        lambda x: x.T + 1,
        lambda x: x.T.tolist(),
    ]
    for lie in lies:

        class Module:
            EinopsError = einrs.EinopsError
            rearrange = staticmethod(lambda x, pattern, lie=lie: lie(x))

        monkeypatch.setattr("sides.einrs", Module)
        _, found = differences(OPERATIONS["rearrange 'a b -> b a' "], numbers, facts)
        assert found
