"""Checks what wrong calls say: the error's class, the pattern, the place; and what works after."""

import enum
import operator
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import einrs


class Sub(np.ndarray):
    """An array that goes the readable way."""


def on_numpy(*shape: int) -> Any:
    return np.arange(float(np.prod(shape))).reshape(shape)


def on_subclass(*shape: int) -> Any:
    return on_numpy(*shape).view(Sub)


def on_torch(*shape: int) -> Any:
    import torch

    return torch.from_numpy(on_numpy(*shape))


def on_standard(*shape: int) -> Any:
    import array_api_strict

    return array_api_strict.asarray(on_numpy(*shape))


each_tensor = pytest.mark.parametrize(
    "make",
    [
        on_numpy,
        on_subclass,
        on_standard,
        pytest.param(on_torch, marks=pytest.mark.needs_torch),
    ],
)


@pytest.fixture(autouse=True)
def cold() -> Iterator[None]:
    einrs.cache_clear()
    yield
    einrs.cache_clear()


def refusal(call: Callable[[], Any], pattern: str, *places: str) -> einrs.EinopsError:
    """The error of a call: it repeats the pattern and marks the places in it."""
    with pytest.raises(einrs.EinopsError) as caught:
        call()
    error = caught.value
    assert f'"{pattern}"' in str(error)
    if places:
        assert error.pattern == pattern
        assert tuple(pattern[start:end] for start, end in error.spans) == places
        text, marks = str(error).splitlines()[-2:]
        assert text == f"  {pattern}"
        marked = {i for start, end in error.spans for i in range(start, max(end, start + 1))}
        assert {i - 2 for i, mark in enumerate(marks) if mark == "^"} == marked
    return error


def works_on(tensor: Any) -> None:
    """A right call after a wrong one."""
    assert tuple(einrs.rearrange(tensor, "a b -> b a").shape) == tensor.shape[::-1]


# --- patterns

SYNTAX: list[tuple[str, str, tuple[str, ...]]] = [
    ("", "Empty", ("",)),
    ("  ", "Empty", ("",)),
    ("a b", "NoArrow", ("",)),
    ("a b - > b a", "UnknownCharacter", ("-",)),
    ("a b -> b a -> a b", "TwoArrows", ("->", "->")),
    ("(a b -> b a", "UnclosedBracket", ("(",)),
    ("a b -> b a)", "UnopenedBracket", (")",)),
    ("a b -> ((b) a)", "NestedBracket", ("(", "(")),
    ("a, b -> b a", "UnknownCharacter", (",",)),
    ("a b -> b [a]", "UnknownCharacter", ("[",)),
    ("a b -> b a!", "UnknownCharacter", ("!",)),
    ("a b -> b\x00 a", "UnknownCharacter", ("\x00",)),
    ("a .. -> .. a", "StrayDot", ("..",)),
    ("a ... ... -> a", "SecondEllipsis", ("...", "...")),
    ("_a b -> b _a", "OuterUnderscore", ("_a",)),
    ("1a b -> b 1a", "NotAnIdentifier", ("1a",)),
    ("a a -> a", "Duplicate", ("a", "a")),
    ("a b -> b a b", "Duplicate", ("b", "b")),
]


@each_tensor
@pytest.mark.parametrize("operation", ["rearrange", "repeat", "reduce"])
@pytest.mark.parametrize(("pattern", "kind", "places"), SYNTAX)
def test_text_that_is_no_pattern(
    make: Callable[..., Any], operation: str, pattern: str, kind: str, places: tuple[str, ...]
) -> None:
    tensor, rest = make(2, 3), ["sum"] if operation == "reduce" else []
    for _ in range(2):
        shown = places if pattern.isprintable() else ()
        error = refusal(lambda: getattr(einrs, operation)(tensor, pattern, *rest), pattern, *shown)
        assert error.kind == kind
        assert einrs.cache_info().size == 0
    works_on(tensor)


RULES: list[tuple[str, str, dict[str, int], str, tuple[str, ...]]] = [
    ("rearrange", "a b -> a", {}, "OneSided", ("b",)),
    ("rearrange", "a b -> a b c", {}, "OneSided", ("c",)),
    ("rearrange", "a b -> a c", {}, "OneSided", ("b",)),
    ("rearrange", "a 3 -> a 3", {}, "NumberInRearrange", ("3",)),
    ("rearrange", "a (b ...) -> a b ...", {}, "EllipsisInLeftGroup", ("(b ...)",)),
    ("rearrange", "a b -> a b ...", {}, "EllipsisOnlyRight", ("...",)),
    ("rearrange", "(a c) b -> a c b", {}, "TwoUnknown", ("a", "c")),
    ("repeat", "a b -> a", {}, "LostInRepeat", ("b",)),
    ("repeat", "a b -> a b c", {}, "NeedsLength", ("c",)),
    ("repeat", "a b -> a b 0", {}, "ZeroAxis", ("0",)),
    ("reduce", "a b -> a b c", {}, "NewInReduce", ("c",)),
    ("rearrange", "a -> a", {}, "WrongRank", ("a",)),
    ("rearrange", "a b c -> c b a", {}, "WrongRank", ("a b c",)),
    ("reduce", "a b c ... -> a", {}, "WrongRank", ("a b c ...",)),
    ("repeat", "-> 2", {}, "WrongRank", ("",)),
    ("rearrange", "(a c) b -> a c b", {"c": 4}, "NotDivisible", ("(a c)",)),
    ("rearrange", "a b -> b a", {"b": 4}, "Mismatch", ("b",)),
    ("reduce", "a 4 -> a", {}, "Mismatch", ("4",)),
    ("repeat", "a b -> (a k) b", {"k": 2, "a": 3}, "Mismatch", ("a",)),
    ("rearrange", "(a c) b -> a c b", {"c": 0}, "ZeroDivisor", ("(a c)",)),
    ("repeat", "a b -> a b k", {"k": -1}, "NegativeLength", ("k",)),
    ("rearrange", "(a c) b -> a c b", {"c": -2}, "NegativeLength", ("c",)),
    ("rearrange", "(a c) b -> a c b", {"c": -(2**40)}, "NegativeLength", ("c",)),
    ("repeat", "a b -> a (b k n)", {"k": 2**40, "n": 2**40}, "OutputOverflow", ("(b k n)",)),
    ("rearrange", "(a c d) b -> a c d b", {"c": 2**40, "d": 2**40}, "InputOverflow", ("(a c d)",)),
]


@each_tensor
@pytest.mark.parametrize(("operation", "pattern", "lengths", "kind", "places"), RULES)
def test_pattern_that_does_not_fit(
    make: Callable[..., Any],
    operation: str,
    pattern: str,
    lengths: dict[str, int],
    kind: str,
    places: tuple[str, ...],
) -> None:
    tensor, rest = make(2, 3), ["max"] if operation == "reduce" else []

    def call() -> Any:
        return getattr(einrs, operation)(tensor, pattern, *rest, **lengths)

    for _ in range(2):
        error = refusal(call, pattern, *places)
        assert error.kind == kind
        assert type(error) is einrs.EinopsError
        assert f"shape: {tensor.shape}" in str(error)
    works_on(tensor)


@each_tensor
@pytest.mark.parametrize(
    ("lengths", "words"),
    [
        ({"d": 2}, "Axis d is not used"),
        ({"heigth": 2}, "did you mean 'height'"),
        ({"_a": 2}, "Invalid name for an axis: _a"),
        ({"": 2}, "Invalid name for an axis"),
        ({"1": 2}, "Invalid name for an axis: 1"),
        ({"...": 2}, "Invalid name for an axis: ..."),
        ({"a b": 2}, "Invalid name for an axis: a b"),
    ],
)
def test_length_of_no_axis(make: Callable[..., Any], lengths: dict[str, int], words: str) -> None:
    tensor, pattern = make(2, 3), "(a height) b -> a height b"
    error = refusal(lambda: einrs.rearrange(tensor, pattern, a=1, **lengths), pattern)
    assert words in str(error)
    assert einrs.cache_info().size == 0
    assert einrs.rearrange(tensor, pattern, a=1).shape == (1, 2, 3)


@each_tensor
@pytest.mark.parametrize("pattern", [None, b"a b -> b a", 3, ["a b", "b a"], ("a b -> b a",), str])
def test_pattern_that_is_no_text(make: Callable[..., Any], pattern: Any) -> None:
    tensor = make(2, 3)
    for call in (
        lambda: einrs.rearrange(tensor, pattern),
        lambda: einrs.repeat(tensor, pattern, k=2),
        lambda: einrs.reduce(tensor, pattern, "sum"),
        lambda: einrs.reduce(tensor, pattern, np.sum),
        lambda: einrs.rearrange(tensor, pattern=pattern),
        lambda: einrs.rearrange([tensor], pattern),
    ):
        with pytest.raises(einrs.EinopsTypeError, match="must be a str") as caught:
            call()
        assert repr(pattern) in str(caught.value)
        assert type(pattern).__name__ in str(caught.value)
    works_on(tensor)


@each_tensor
def test_lone_surrogates(make: Callable[..., Any]) -> None:
    """Such text has no UTF-8, and still is refused like any other."""
    tensor = make(2, 3)
    pattern = "a b\ud800 -> b\ud800 a"
    with pytest.raises(einrs.EinopsError, match="ud800") as caught:
        einrs.rearrange(tensor, pattern)
    assert caught.value.spans[0] in {(2, 4), (3, 4)}
    with pytest.raises(einrs.EinopsError, match="->"):
        einrs.rearrange(tensor, "a b -> b a", **{"\ud800": 2})
    with pytest.raises(einrs.EinopsError, match="->"):
        einrs.reduce(tensor, "a b -> b", "\ud800")
    assert einrs.cache_info().size == 0
    works_on(tensor)


# --- reductions


@each_tensor
@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("maxx", "max"),
        ("mx", "max"),
        ("mena", "mean"),
        ("meann", "mean"),
        ("su", "sum"),
        ("product", None),
        ("average", None),
        ("SUM", None),
        ("", None),
        ("max ", "max"),
    ],
)
def test_unknown_reduction(make: Callable[..., Any], name: str, meant: str | None) -> None:
    tensor, pattern = make(2, 3), "a b -> a"
    error = refusal(lambda: einrs.reduce(tensor, pattern, name), pattern)
    assert error.kind == "UnknownReduction"
    suggestion = re.search("did you mean '(.*)'", str(error))
    assert (suggestion and suggestion[1]) == meant
    for known in ("min", "max", "sum", "mean", "prod", "any", "all"):
        assert f"'{known}'" in str(error)
    assert einrs.cache_info().size == 0
    assert einrs.reduce(tensor, pattern, meant or "sum").shape == (2,)


@each_tensor
@pytest.mark.parametrize("reduction", [None, 3, b"sum", ["sum"], ("sum", "max")])
def test_reduction_of_a_wrong_type(make: Callable[..., Any], reduction: Any) -> None:
    tensor, pattern = make(2, 3), "a b -> a"
    error = refusal(lambda: einrs.reduce(tensor, pattern, reduction), pattern)
    assert isinstance(error, einrs.EinopsTypeError)
    assert repr(reduction) in str(error)
    assert einrs.reduce(tensor, pattern, "sum").shape == (2,)


# --- tensors


def shapeless(base: type[Any]) -> type[Any]:
    class Shapeless(base):  # type: ignore[misc]
        @property
        def shape(self) -> Any:
            raise LookupError("no shape today")

    return Shapeless


class Standard:
    """The least that an object of the array API is."""

    def __array_namespace__(self, **_: Any) -> Any:
        return np

    shape: Any = (2, 3)


def without_shape(name: str) -> Any:
    if name == "numpy":
        return on_numpy(2, 3).view(shapeless(np.ndarray))
    if name == "torch":
        import torch

        return on_torch(2, 3).as_subclass(shapeless(torch.Tensor))
    return shapeless(Standard)()


@pytest.mark.parametrize(
    "name", ["numpy", "standard", pytest.param("torch", marks=pytest.mark.needs_torch)]
)
@pytest.mark.parametrize("pattern", ["a b -> b a", "a b -> (a b)"])
def test_shape_that_raises(name: str, pattern: str) -> None:
    tensor = without_shape(name)
    error = refusal(lambda: einrs.rearrange(tensor, pattern), pattern)
    assert "no shape today" in f"{error} {error.__cause__}"
    error = refusal(lambda: einrs.reduce(tensor, pattern, "sum"), pattern)
    assert isinstance(error.__cause__, LookupError)
    works_on(on_numpy(2, 3))


UNKNOWN = [
    ((1, 2), "pass a list"),
    ((np.zeros(2), np.zeros(2)), "pass a list"),
    (None, "forget to return"),
    (3, "int"),
    (3.0, "float"),
    ("text", "str"),
    ({1: 2}, "dict"),
    (object(), "object"),
    (np.ndarray, "type"),
    (np, "module"),
    (np.float32(3), "numpy.float32"),
    ([[1, 2], [3, 4]], "list"),
    ([(1, 2)], "tuple"),
    ([3.0], "float"),
    ([None], "NoneType"),
    ((i for i in range(2)), "generator"),
    (range(2), "range"),
]


@pytest.mark.parametrize(("tensor", "words"), UNKNOWN, ids=lambda value: type(value).__name__)
def test_unknown_tensor(tensor: Any, words: str) -> None:
    for call, pattern in (
        (lambda: einrs.rearrange(tensor, "a ... -> ... a"), "a ... -> ... a"),
        (lambda: einrs.repeat(tensor, "... -> ... k", k=2), "... -> ... k"),
        (lambda: einrs.reduce(tensor, "... ->", "sum"), "... ->"),
        (lambda: einrs.reduce(tensor, "... ->", np.sum), "... ->"),
    ):
        error = refusal(call, pattern)
        assert str(error).startswith("Tensor type unknown to einops")
        assert words in str(error)
    works_on(on_numpy(2, 3))


def test_empty_list() -> None:
    for call, pattern in (
        (lambda: einrs.rearrange([], "a b -> b a"), "a b -> b a"),
        (lambda: einrs.repeat([], "a -> a k", k=2), "a -> a k"),
        (lambda: einrs.reduce([], "a -> ", "sum"), "a -> "),
    ):
        error = refusal(call, pattern)
        assert isinstance(error, einrs.EinopsTypeError)
        assert "can't be applied to an empty list" in str(error)


@pytest.mark.needs_torch
@pytest.mark.parametrize("other", [3, "text", None, on_numpy(2), [1.0, 2.0], (1.0, 2.0)])
def test_mixed_list(other: Any) -> None:
    """The framework of the first tensor stacks; what it cannot stack is told with the pattern."""
    pattern, tensor = "k a -> a k", on_torch(2)
    error = refusal(lambda: einrs.rearrange([tensor, other], pattern), pattern)
    assert isinstance(error, einrs.EinopsTypeError)
    assert type(other).__name__ in str(error)
    assert einrs.rearrange([tensor, tensor], pattern).shape == (2, 2)


# --- lengths: the tables are in test_bad_lengths.py


class Number(enum.IntEnum):
    TWO = 2


class IntBySubclass(int):
    pass


@each_tensor
@pytest.mark.parametrize(
    "length", [2, Number.TWO, IntBySubclass(2), np.int8(2), np.uint64(2), np.array(2)]
)
def test_lengths_that_are_right(make: Callable[..., Any], length: Any) -> None:
    assert operator.index(length) == 2
    for _ in range(2):
        assert einrs.rearrange(make(4, 3), "(a b) c -> a b c", a=length).shape == (2, 2, 3)
        assert einrs.repeat(make(4, 3), "a c -> a c k", k=length).shape == (4, 3, 2)
