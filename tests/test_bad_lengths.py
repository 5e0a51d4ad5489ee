"""Checks lengths of every wrong kind: refused with the pattern and the axis, never remembered."""

import operator
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import einrs
from test_bad_input import each_tensor, refusal

SPLIT, GROW = "(a b) c -> a b c", "b c -> b c a"


@pytest.fixture(autouse=True)
def cold() -> Iterator[None]:
    einrs.cache_clear()
    yield
    einrs.cache_clear()


class Index:
    """What `__index__` returns, raises, or does."""

    def __init__(self, result: Any) -> None:
        self.result = result

    def __repr__(self) -> str:
        return f"Index({self.result!r})"

    def __index__(self) -> Any:
        if isinstance(self.result, BaseException):
            raise self.result
        return self.result() if callable(self.result) else self.result


class Multiplies:
    """A number to `*` and `//` only: no length."""

    def __mul__(self, other: Any) -> Any:
        return self

    __rmul__ = __floordiv__ = __rfloordiv__ = __mul__


def name(length: Any) -> str:
    """No address, since the names of tests must be the same in every process."""
    return repr(length).partition(" at 0x")[0]


def calls(tensor: Any, length: Any) -> list[tuple[str, Callable[[], Any]]]:
    """The two operations that take lengths, once for each way to give them."""
    return [
        (SPLIT, lambda: einrs.rearrange(tensor, SPLIT, a=length)),
        (GROW, lambda: einrs.repeat(tensor, GROW, a=length)),
        (SPLIT, lambda: einrs.reduce(tensor, SPLIT, "sum", a=length)),
        (GROW, lambda: einrs.repeat([tensor[0, :], tensor[1, :]], GROW, a=length)),
        (SPLIT, lambda: einrs.rearrange(tensor=tensor, pattern=SPLIT, a=length)),
    ]


def right_ones_work(tensor: Any) -> None:
    assert einrs.rearrange(tensor, SPLIT, a=2).shape == (2, 2, 3)
    assert einrs.repeat(tensor, GROW, a=2).shape == (4, 3, 2)


WRONG_TYPES = [
    *(2.0, 2.5, float("nan"), float("inf"), 2j, None, "2", b"2"),
    *([2], (2,), {2}, {"a": 2}, object(), int, ..., slice(2), range(2)),
    *(np.float32(2), np.array(2.0), np.array([2]), np.array([2, 2]), np.zeros(0, int)),
    *(Multiplies(), np.datetime64(2, "s"), np.str_("2")),
    *(Index("2"), Index(2.0), Index(None), Index(TypeError("on purpose"))),
]


@each_tensor
@pytest.mark.parametrize("length", WRONG_TYPES, ids=name)
def test_wrong_type(make: Callable[..., Any], length: Any) -> None:
    tensor = make(4, 3)
    for _ in range(2):
        for pattern, call in calls(tensor, length):
            error = refusal(call, pattern, "a")
            assert isinstance(error, einrs.EinopsTypeError)
            assert error.kind == "LengthType"
            assert f"not {type(length).__name__}" in str(error)
        assert einrs.cache_info().size == 0
    right_ones_work(tensor)
    for pattern, call in calls(tensor, length):
        refusal(call, pattern, "a")


@each_tensor
@pytest.mark.parametrize(
    "error", [ValueError("on purpose"), KeyError("on purpose"), ZeroDivisionError("on purpose")]
)
def test_index_that_raises(make: Callable[..., Any], error: Exception) -> None:
    tensor = make(4, 3)
    for pattern, call in calls(tensor, Index(error)):
        refused = refusal(call, pattern)
        assert refused.__cause__ is error
        assert "'a'" in str(refused)
    assert einrs.cache_info().size == 0
    right_ones_work(tensor)


@each_tensor
def test_index_that_stops_the_program(make: Callable[..., Any]) -> None:
    """What is no `Exception` is nobody's to catch."""
    for _, call in calls(make(4, 3), Index(KeyboardInterrupt())):
        with pytest.raises(KeyboardInterrupt):
            call()


@each_tensor
def test_index_that_calls_einrs(make: Callable[..., Any]) -> None:
    tensor = make(4, 3)

    def wrong() -> int:
        return int(einrs.rearrange(tensor, "(x y) z -> x y z", x=3).shape[0])

    def right() -> int:
        return int(einrs.rearrange(tensor, "(x y) z -> x y z", x=2).shape[0])

    assert einrs.rearrange(tensor, SPLIT, a=Index(right)).shape == (2, 2, 3)
    for _, call in calls(tensor, Index(wrong)):
        with pytest.raises(einrs.EinopsError, match="chunks of 3"):
            call()
    right_ones_work(tensor)


@each_tensor
def test_index_that_changes_its_mind(make: Callable[..., Any]) -> None:
    """Each length is asked once, so that the sizes of one call agree with each other."""
    asked: list[int] = []

    def next_answer() -> int:
        asked.append(len(asked) + 1)
        return asked[-1]

    assert einrs.rearrange(make(4, 3), SPLIT, a=Index(next_answer)).shape == (1, 4, 3)
    assert einrs.rearrange(make(4, 3), SPLIT, a=Index(next_answer)).shape == (2, 2, 3)
    refusal(lambda: einrs.rearrange(make(4, 3), SPLIT, a=Index(next_answer)), SPLIT)
    assert einrs.rearrange(make(4, 3), SPLIT, a=Index(next_answer)).shape == (4, 1, 3)
    assert asked == [1, 2, 3, 4]


@each_tensor
def test_index_that_returns_a_bool(make: Callable[..., Any]) -> None:
    """Python deprecates it and takes it; so does every function that takes an integer."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert einrs.rearrange(make(4, 3), SPLIT, a=Index(True)).shape == (1, 4, 3)


HUGE = [2**63, 2**64, 2**70, -(2**63) - 1, -(2**70), 10**100]


@each_tensor
@pytest.mark.parametrize("length", [*HUGE, Index(2**70), np.uint64(2**63)], ids=repr)
def test_more_than_64_bits(make: Callable[..., Any], length: Any) -> None:
    tensor = make(4, 3)
    for pattern, call in calls(tensor, length):
        error = refusal(call, pattern)
        assert type(error) is einrs.EinopsError
    right_ones_work(tensor)


@each_tensor
@pytest.mark.parametrize("length", [-1, -2, -(2**62), 1 - 2**63, np.int64(-1), Index(-2)], ids=repr)
def test_negative(make: Callable[..., Any], length: Any) -> None:
    tensor = make(4, 3)
    for pattern, call in calls(tensor, length):
        error = refusal(call, pattern, "a")
        assert error.kind == "NegativeLength"
        assert f"given as {operator.index(length)}" in str(error)
    right_ones_work(tensor)


@each_tensor
@pytest.mark.parametrize("length", [0, False, np.int64(0), np.array(0), Index(0)], ids=repr)
def test_zero(make: Callable[..., Any], length: Any) -> None:
    tensor = make(4, 3)
    error = refusal(lambda: einrs.rearrange(tensor, SPLIT, a=length), SPLIT, "(a b)")
    assert error.kind == "ZeroDivisor"
    # With nothing to be found out, zero is a length like any other.
    assert einrs.repeat(tensor, GROW, a=length).shape == (4, 3, 0)
    assert einrs.rearrange(make(0, 3), SPLIT, a=length, b=2).shape == (0, 2, 3)
    refusal(lambda: einrs.rearrange(make(0, 3), SPLIT, a=length), SPLIT, "(a b)")
    right_ones_work(tensor)


@each_tensor
@pytest.mark.parametrize("length", [3, 5, 8, np.int64(3), np.array(3), Index(3)], ids=repr)
def test_no_divisor(make: Callable[..., Any], length: Any) -> None:
    tensor = make(4, 3)
    for _ in range(2):
        error = refusal(lambda: einrs.rearrange(tensor, SPLIT, a=length), SPLIT, "(a b)")
        assert error.kind == "NotDivisible"
        assert einrs.rearrange(tensor, SPLIT, a=4).shape == (4, 1, 3)


# --- lengths that a framework made


def torch_lengths() -> Any:
    import torch

    return {
        "right": torch.tensor(2),
        "wrong": torch.tensor(3),
        "zero": torch.tensor(0),
        "negative": torch.tensor(-1),
        "floating": torch.tensor(2.0),
        "many": torch.tensor([2, 2]),
    }


def jax_lengths() -> Any:
    import jax.numpy as jnp

    return {
        "right": jnp.array(2),
        "wrong": jnp.array(3),
        "zero": jnp.array(0),
        "negative": jnp.array(-1),
        "floating": jnp.array(2.0),
        "many": jnp.array([2, 2]),
    }


each_maker_of_lengths = pytest.mark.parametrize(
    "lengths",
    [
        pytest.param(torch_lengths, marks=pytest.mark.needs_torch),
        pytest.param(jax_lengths, marks=pytest.mark.needs_jax),
    ],
)


@each_tensor
@each_maker_of_lengths
def test_tensors_as_lengths(make: Callable[..., Any], lengths: Callable[[], Any]) -> None:
    """Integers without axes are lengths; outside of a trace they are checked like any other."""
    tensor, given = make(4, 3), lengths()
    assert einrs.rearrange(tensor, SPLIT, a=given["right"]).shape == (2, 2, 3)
    assert einrs.repeat(tensor, GROW, a=given["right"]).shape == (4, 3, 2)
    kinds = {"wrong": "NotDivisible", "zero": "ZeroDivisor", "negative": "NegativeLength"}
    for name, kind in kinds.items():
        error = refusal(lambda name=name: einrs.rearrange(tensor, SPLIT, a=given[name]), SPLIT)
        assert error.kind == kind
    for name in ("floating", "many"):
        error = refusal(lambda name=name: einrs.repeat(tensor, GROW, a=given[name]), GROW, "a")
        assert isinstance(error, einrs.EinopsTypeError)
    right_ones_work(tensor)
