"""Checks the table of compiled calls: exact keys, a bound, clearing, and nothing kept alive."""

import contextlib
import gc
import itertools
import random
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import einops
import numpy as np
import pytest

import einrs
import fresh

LIMIT = einrs.cache_info().limit


@pytest.fixture(autouse=True)
def cold() -> Iterator[None]:
    einrs.cache_clear()
    yield
    einrs.cache_clear()


def on_numpy(*shape: int) -> Any:
    return np.arange(float(np.prod(shape))).reshape(shape)


def on_torch(*shape: int) -> Any:
    import torch

    return torch.from_numpy(on_numpy(*shape))


def on_jax(*shape: int) -> Any:
    import jax.numpy

    return jax.numpy.asarray(on_numpy(*shape), "float32")


each_framework = pytest.mark.parametrize(
    "make",
    [
        on_numpy,
        pytest.param(on_torch, marks=pytest.mark.needs_torch),
        pytest.param(on_jax, marks=pytest.mark.needs_jax),
    ],
)


class Index:
    """An integer only through `__index__`."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


class Text(str):
    """A string by inheritance."""


# --- exact keys

# Equal numbers, all of one hash, and what a split of 6 by them must give.
THREES = [(3, (3, 2)), (3.0, None), (np.int64(3), (3, 2)), (Index(3), (3, 2))]
ONES = [(1, (1, 6)), (1.0, None), (True, (1, 6)), (np.uint8(1), (1, 6))]


@each_framework
@pytest.mark.parametrize("values", [THREES, ONES], ids=["3", "1"])
def test_equal_lengths_of_other_types(make: Callable[..., Any], values: list[Any]) -> None:
    tensor = make(6)
    for order in itertools.permutations(values):
        einrs.cache_clear()
        # Twice, since a wrong entry shows when it is found.
        for length, shape in (*order, *order):
            if shape is None:
                with pytest.raises(einrs.EinopsTypeError):
                    einrs.rearrange(tensor, "(a b) -> a b", a=length)
            else:
                assert einrs.rearrange(tensor, "(a b) -> a b", a=length).shape == shape


@each_framework
@pytest.mark.parametrize("length", [3.0, True, np.int64(3), np.array(3), Index(3), 2**70])
def test_only_exact_integers_are_keys(make: Callable[..., Any], length: Any) -> None:
    with contextlib.suppress(einrs.EinopsError):
        einrs.repeat(make(2), "a -> a k", k=length)
    assert einrs.cache_info().size == 0


@each_framework
def test_equal_text_in_other_objects_is_found(make: Callable[..., Any]) -> None:
    tensor, parts = make(2, 3), ["a b", "->", "b a"]
    first, second = " ".join(parts), " ".join(parts)
    assert first is not second
    einrs.rearrange(tensor, first)
    before = einrs.cache_info()
    einrs.rearrange(tensor, second)
    after = einrs.cache_info()
    assert (after.hits - before.hits, after.misses, after.size) == (1, before.misses, before.size)


@each_framework
def test_names_in_other_objects_are_found(make: Callable[..., Any]) -> None:
    tensor, names = make(12), ["".join(["wi", "dth"]), "".join(["wid", "th"])]
    assert names[0] is not names[1]
    for name in names:
        assert einrs.rearrange(tensor, "(width a) -> a width", **{name: 3}).shape == (4, 3)
    assert einrs.cache_info().size == 1


@each_framework
def test_strings_by_inheritance(make: Callable[..., Any]) -> None:
    tensor = make(12)
    for _ in range(2):
        result = einrs.rearrange(tensor, Text("(h w) -> w h"), **{Text("h"): 3})
        assert result.shape == (4, 3)
        assert einrs.rearrange(tensor, "(h w) -> w h", **{Text("w"): 3}).shape == (3, 4)
        assert einrs.rearrange(tensor, "(h w) -> w h", h=3).shape == (4, 3)
        assert einrs.reduce(tensor, Text("a ->"), Text("sum")).shape == ()


def test_a_string_that_lies_about_its_hash() -> None:
    class Liar(str):
        def __hash__(self) -> int:
            return hash("a b -> b a")

        def __eq__(self, other: object) -> bool:
            return True

    tensor = on_numpy(2, 3)
    assert einrs.rearrange(tensor, "a b -> b a").shape == (3, 2)
    for _ in range(2):
        assert einrs.rearrange(tensor, Liar("a b -> a b 1")).shape == (2, 3, 1)
    assert einrs.rearrange(tensor, "a b -> b a").shape == (3, 2)


@each_framework
def test_order_of_keywords(make: Callable[..., Any]) -> None:
    tensor = make(24)
    for _ in range(2):
        assert einrs.rearrange(tensor, "(a b c) -> a b c", a=2, b=3).shape == (2, 3, 4)
        assert einrs.rearrange(tensor, "(a b c) -> a b c", b=3, a=2).shape == (2, 3, 4)
        assert einrs.rearrange(tensor, "(a b c) -> a b c", a=3, b=2).shape == (3, 2, 4)
        assert einrs.rearrange(tensor, "(a b c) -> a b c", c=3, b=2).shape == (4, 2, 3)


NEIGHBOURS: list[tuple[Any, ...]] = [
    ("rearrange", (2, 3), "a b -> b a", {}),
    ("rearrange", (2, 3), "a b -> b  a", {}),
    ("rearrange", (2, 3), "a ... -> ... a", {}),
    ("rearrange", (2, 3, 4), "a ... -> ... a", {}),
    ("rearrange", (2,), "a ... -> ... a", {}),
    ("repeat", (2, 3), "a b -> b a", {}),
    ("repeat", (2, 3), "a b -> b a 2", {}),
    ("repeat", (2, 3), "a b -> b a c", {"c": 2}),
    ("repeat", (2, 3), "a b -> b a c", {"c": 1}),
    ("repeat", (2, 3), "a b -> b a c", {"c": 2, "a": 2}),
    ("rearrange", (6, 4), "(a b) c -> a b c", {"a": 2}),
    ("rearrange", (6, 4), "(a b) c -> a b c", {"b": 2}),
    ("rearrange", (6, 4), "(a b) c -> a b c", {"a": 3}),
    ("rearrange", (6, 4), "(a b) c -> a b c", {"a": 6}),
    *(("reduce", (2, 3), "a b -> a", {}, name) for name in ("min", "max", "sum", "mean", "prod")),
    *(("reduce", (2, 3), "a b -> a", {}, name) for name in ("any", "all", np.sum, np.max)),
    ("reduce", (2, 3), "a b -> b", {}, "sum"),
    ("reduce", (2, 3), "a b -> b a", {}, "sum"),
    ("reduce", (2, 3), "a b -> b a", {}, "max"),
]


def apply(module: Any, tensor: Any, row: tuple[Any, ...]) -> Any:
    op, _, pattern, lengths, *reduction = row
    return getattr(module, op)(tensor, pattern, *reduction, **lengths)


@pytest.mark.parametrize("make", [on_numpy, pytest.param(on_torch, marks=pytest.mark.needs_torch)])
def test_neighbours_share_nothing(make: Callable[..., Any]) -> None:
    def reduction_fits(row: tuple[Any, ...]) -> bool:
        return make is on_numpy or not callable(row[-1])

    rows = [row for row in NEIGHBOURS if reduction_fits(row)]
    expected = [np.asarray(apply(einops, make(*row[1]), row)) for row in rows]
    order = random.Random(0)
    for _ in range(20):
        for i in order.sample(range(len(rows)), len(rows)):
            result = np.asarray(apply(einrs, make(*rows[i][1]), rows[i]))
            assert result.dtype == expected[i].dtype, rows[i]
            np.testing.assert_array_equal(result, expected[i], str(rows[i]))


@pytest.mark.needs_torch
@pytest.mark.needs_jax
def test_frameworks_share_nothing() -> None:
    for make in (on_numpy, on_torch, on_jax, on_numpy, on_jax, on_torch):
        tensor = make(2, 6)
        for name in ("sum", "max"):
            result = einrs.reduce(tensor, "a (b c) -> c a", name, b=3)
            assert type(result) is type(tensor)
            expected = einops.reduce(on_numpy(2, 6), "a (b c) -> c a", name, b=3)
            np.testing.assert_array_equal(np.asarray(result), expected)


# --- a bound on the size


def test_a_million_shapes_are_one_entry() -> None:
    """The shape is no part of a key: what grows with the shapes would show in the memory too."""
    program = """
        import os, numpy as np, einrs

        def memory():
            if not os.path.exists("/proc/self/statm"):
                return 0
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

        def rotate(heights):
            for i in heights:
                for j in range(1000):
                    x = np.empty((i, j, 0))
                    assert einrs.rearrange(x, "a b c -> c b a").shape == (0, j, i)

        rotate(range(2))
        before = memory()
        rotate(range(1000))
        info = einrs.cache_info()
        print(info.size, info.misses, info.hits >= 1_000_000, memory() - before < 16_000_000)
    """
    assert fresh.run(program).split() == ["1", "1", "True", "True"]


@pytest.mark.parametrize("make", [on_numpy, pytest.param(on_torch, marks=pytest.mark.needs_torch)])
def test_lengths_are_no_keys_where_they_are_bound(make: Callable[..., Any]) -> None:
    tensor = make(0)
    for length in range(2 * LIMIT):
        assert einrs.repeat(tensor, "a -> a k", k=length).shape == (0, length)
    assert einrs.cache_info().size == 1


def patterns(count: int) -> list[str]:
    return [f"a{i} b -> b a{i}" for i in range(count)]


def test_growth_over_patterns_ends() -> None:
    tensor, many = on_numpy(2, 3), patterns(3 * LIMIT)
    for pattern in many:
        assert einrs.rearrange(tensor, pattern).shape == (3, 2)
        assert einrs.cache_info().size <= LIMIT
    # Who came last is still there, and who came first is not.
    misses = einrs.cache_info().misses
    for pattern in many[-LIMIT // 2 :]:
        einrs.rearrange(tensor, pattern)
    assert einrs.cache_info().misses == misses
    einrs.rearrange(tensor, many[0])
    assert einrs.cache_info().misses == misses + 1


def test_growth_ends_for_patterns_that_are_all_in_use() -> None:
    """A program that goes through all its patterns before each new one."""
    tensor, many = on_numpy(2, 3), patterns(LIMIT + 200)
    for pattern in many[:LIMIT]:
        einrs.rearrange(tensor, pattern)
    for count in range(LIMIT, len(many), 10):
        for pattern in many[: count + 10]:
            einrs.rearrange(tensor, pattern)
        assert einrs.cache_info().size <= LIMIT


def test_what_is_used_stays() -> None:
    tensor = on_numpy(2, 3)
    for i, pattern in enumerate(patterns(3 * LIMIT)):
        einrs.rearrange(tensor, pattern)
        if i % 1000 == 0:
            einrs.rearrange(tensor, "often used -> used often")
    misses = einrs.cache_info().misses
    einrs.rearrange(tensor, "often used -> used often")
    assert einrs.cache_info().misses == misses


def test_mistakes_are_not_kept() -> None:
    tensor = on_numpy(2, 3)
    for pattern in patterns(100):
        with pytest.raises(einrs.EinopsError):
            einrs.rearrange(tensor, pattern + " c")
    assert einrs.cache_info().size == 0


# --- clearing


@each_framework
def test_clear_forgets_and_resets(make: Callable[..., Any]) -> None:
    tensor = make(6)
    for _ in range(3):
        einrs.rearrange(tensor, "(a b) -> b a", a=2)
    assert einrs.cache_info() == (2, 1, 1, LIMIT)
    einrs.cache_clear()
    assert einrs.cache_info() == (0, 0, 0, LIMIT)
    assert einrs.rearrange(tensor, "(a b) -> b a", a=2).shape == (3, 2)
    assert einrs.cache_info() == (0, 1, 1, LIMIT)


@pytest.mark.needs_jax
def test_clear_frees_what_jax_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    tensor = on_jax(6)
    einrs.rearrange(tensor, "(a b) -> b a", a=2)
    from einrs._frameworks import _jax

    made: list[weakref.ref[Any]] = []

    def recorded(function: Any, jit: Any = _jax._jit) -> Any:
        made.append(weakref.ref(function))
        return jit(function)

    monkeypatch.setattr(_jax, "_jit", recorded)
    einrs.rearrange(tensor, "(a b) -> b a", a=3)
    (body,) = made
    gc.collect()
    assert body() is not None
    einrs.cache_clear()
    gc.collect()
    assert body() is None


# --- callables


class Failing:
    """A reduction that fails, or one that cannot be hashed."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error

    def __call__(self, tensor: Any, axes: tuple[int, ...]) -> Any:
        if self.error is not None:
            raise self.error
        return tensor.sum(axes)


@each_framework
@pytest.mark.parametrize("error", [None, LookupError("on purpose")])
def test_callables_are_not_kept(make: Callable[..., Any], error: Exception | None) -> None:
    tensor, reduction = make(2, 3), Failing(error)
    alive, count = weakref.ref(reduction), sys.getrefcount(reduction)
    for _ in range(10):
        with contextlib.suppress(LookupError):
            assert einrs.reduce(tensor, "a b -> a", reduction).shape == (2,)
            assert error is None
        if error is not None:
            error.__traceback__ = None
    assert sys.getrefcount(reduction) == count
    assert einrs.cache_info().size == 0
    del reduction
    assert alive() is None


@each_framework
def test_a_call_after_a_failing_callable(make: Callable[..., Any]) -> None:
    tensor = make(2, 3)
    with pytest.raises(LookupError):
        einrs.reduce(tensor, "a b -> b", Failing(LookupError()))
    expected = on_numpy(2, 3).sum(0)
    for reduction in (Failing(), "sum", Failing()):
        result = einrs.reduce(tensor, "a b -> b", reduction)
        np.testing.assert_array_equal(np.asarray(result), expected)
