"""Checks what wrong calls about several tensors or a shape say, and what works after."""

from collections.abc import Callable, Iterator
from typing import Any

import einops
import numpy as np
import pytest

import einrs
from test_bad_input import (
    UNKNOWN,
    each_tensor,
    on_numpy,
    on_torch,
    refusal,
    shapeless,
    without_shape,
)

CALLS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "einsum": (lambda tensor: einrs.einsum(tensor, "a b -> b a"), "a b -> b a"),
    "pack": (lambda tensor: einrs.pack([tensor], "a *"), "a *"),
    "unpack": (lambda tensor: einrs.unpack(tensor, [(3,)], "a *"), "a *"),
    "parse_shape": (lambda tensor: einrs.parse_shape(tensor, "a b"), "a b"),
}

each_call = pytest.mark.parametrize(("call", "pattern"), CALLS.values(), ids=list(CALLS))


@pytest.fixture(autouse=True)
def cold() -> Iterator[None]:
    einrs.cache_clear()
    yield
    einrs.cache_clear()


def works_on(tensor: Any) -> None:
    """Right calls after a wrong one."""
    assert tuple(einrs.einsum(tensor, "a b -> b a").shape) == (3, 2)
    packed, shapes = einrs.pack([tensor, tensor], "a *")
    assert [tuple(part.shape) for part in einrs.unpack(packed, shapes, "a *")] == [(2, 3)] * 2
    assert einrs.parse_shape(tensor, "a b") == {"a": 2, "b": 3}


# --- tensors


@pytest.mark.parametrize(("tensor", "words"), UNKNOWN, ids=lambda value: type(value).__name__)
@each_call
def test_unknown_tensor(call: Callable[[Any], Any], pattern: str, tensor: Any, words: str) -> None:
    error = refusal(lambda: call(tensor), pattern)
    assert str(error).startswith("Tensor type unknown to einops")
    assert words.replace("pass a list", "tuple") in str(error) or isinstance(tensor, list)
    works_on(on_numpy(2, 3))


@pytest.mark.parametrize(("tensor", "words"), UNKNOWN, ids=lambda value: type(value).__name__)
def test_unknown_tensor_of_asnumpy(tensor: Any, words: str) -> None:
    with pytest.raises(einrs.EinopsError, match="Tensor type unknown to einops"):
        einrs.asnumpy(tensor)


@pytest.mark.parametrize(
    "name", ["numpy", "standard", pytest.param("torch", marks=pytest.mark.needs_torch)]
)
@pytest.mark.parametrize("operation", ["pack", "unpack", "parse_shape"])
def test_shape_that_raises(name: str, operation: str) -> None:
    call, pattern = CALLS[operation]
    error = refusal(lambda: call(without_shape(name)), pattern)
    assert "no shape today" in f"{error} {error.__cause__}"
    works_on(on_numpy(2, 3))


def test_shape_that_raises_in_einsum() -> None:
    """The einsum of numpy reads no shape, so that nothing is wrong, until something else is."""
    tensor = on_numpy(2, 3).view(shapeless(np.ndarray))
    assert np.asarray(einrs.einsum(tensor, "a b -> b a")).shape == (3, 2)
    for pattern in ("a b c -> c b a", "a -> a", "a b, b -> a", "a b \ud800 -> a"):
        with pytest.raises((einrs.EinopsError, LookupError)):
            einrs.einsum(tensor, pattern)


MIXED: list[tuple[str, Callable[[Any, Any], Any]]] = [
    ("i j, j -> i", lambda one, other: einrs.einsum(one, other, "i j, j -> i")),
    ("a *", lambda one, other: einrs.pack([one, other], "a *")),
    ("* b", lambda one, other: einrs.pack((one, other), "* b")),
]


def error_of(call: Callable[[], Any]) -> Exception | None:
    try:
        call()
    except Exception as error:
        return error
    return None


@pytest.mark.needs_torch
@pytest.mark.parametrize("other", [3, "text", None, [1.0, 2.0, 3.0], object()])
@pytest.mark.parametrize(("pattern", "call"), MIXED)
@pytest.mark.parametrize("make", [on_numpy, on_torch])
def test_foreign_second_tensor(
    make: Callable[..., Any], pattern: str, call: Callable[[Any, Any], Any], other: Any
) -> None:
    """Refused with the pattern, unless the framework itself takes it (numpy's einsum does)."""
    error = error_of(lambda: call(make(2, 3), other))
    assert error is None or isinstance(error, einrs.EinopsError)
    assert error is None or f'"{pattern}"' in str(error)
    works_on(make(2, 3))


BY_EINOPS: dict[str, Callable[[Any, Any], Any]] = {
    "i j, j -> i": lambda one, other: einops.einsum(one, other, "i j, j -> i"),
    "a *": lambda one, other: einops.pack([one, other], "a *"),
    "* b": lambda one, other: einops.pack((one, other), "* b"),
}


@pytest.mark.needs_torch
@pytest.mark.parametrize("makes", [(on_torch, on_numpy), (on_numpy, on_torch)])
@pytest.mark.parametrize(("pattern", "call"), MIXED)
def test_tensors_of_two_frameworks(
    makes: Any, pattern: str, call: Callable[[Any, Any], Any]
) -> None:
    """The framework of the first takes both or refuses; whoever catches its error catches ours."""
    tensors = makes[0](2, 3), makes[1](*((3,) if "->" in pattern else (2, 3)))
    wanted = error_of(lambda: BY_EINOPS[pattern](*tensors))
    if wanted is None:
        ours, theirs = call(*tensors), BY_EINOPS[pattern](*tensors)
        pairs = zip(ours, theirs, strict=True) if isinstance(theirs, tuple) else [(ours, theirs)]
        assert all(np.array_equal(one, other) for one, other in pairs)
        return
    error = refusal(lambda: call(*tensors), pattern)
    assert isinstance(error, type(wanted))
    assert str(wanted) in str(error)


# --- patterns


@each_tensor
@pytest.mark.parametrize("pattern", [None, b"a b", 3, ["a b"], ("a b",), str])
def test_pattern_that_is_no_text(make: Callable[..., Any], pattern: Any) -> None:
    tensor = make(2, 3)
    calls: list[Callable[[], Any]] = [
        lambda: einrs.pack([tensor], pattern),
        lambda: einrs.unpack(tensor, [(3,)], pattern),
        lambda: einrs.parse_shape(tensor, pattern),
    ]
    for wrong in calls:
        with pytest.raises(einrs.EinopsTypeError, match="must be a str") as caught:
            wrong()
        assert repr(pattern) in str(caught.value)
    with pytest.raises(einrs.EinopsValueError, match="must be a string"):
        einrs.einsum(tensor, pattern)
    works_on(tensor)


@each_tensor
def test_lone_surrogates(make: Callable[..., Any]) -> None:
    tensor = make(2, 3)
    for call in (
        lambda: einrs.einsum(tensor, "a b\ud800 -> a"),
        lambda: einrs.pack([tensor], "a\ud800 *"),
        lambda: einrs.unpack(tensor, [(3,)], "a\ud800 *"),
        lambda: einrs.parse_shape(tensor, "a b\ud800"),
    ):
        with pytest.raises(einrs.EinopsError, match="half of a surrogate pair") as caught:
            call()
        assert caught.value.kind == "UnknownCharacter"
        assert caught.value.spans
    assert einrs.cache_info().size == 0
    works_on(tensor)


class Text(str):
    """A string by inheritance."""


@each_tensor
def test_pattern_by_inheritance_is_a_pattern(make: Callable[..., Any]) -> None:
    tensor = make(2, 3)
    assert einrs.einsum(tensor, Text("a b -> b a")).shape == (3, 2)
    assert einrs.parse_shape(tensor, Text("a b")) == {"a": 2, "b": 3}
    assert einrs.pack([tensor], Text("a *"))[1] == [(3,)]
    assert len(einrs.unpack(tensor, [(1,), (2,)], Text("a *"))) == 2


# --- arguments

ARGUMENTS: list[tuple[type[Exception], Callable[[Any], Any]]] = [
    (ValueError, lambda _: einrs.einsum()),
    (ValueError, lambda _: einrs.einsum("a -> a")),
    (ValueError, lambda x: einrs.einsum(x)),
    (ValueError, lambda x: einrs.einsum("a b -> b a", x)),
    (TypeError, lambda x: einrs.einsum(x, "a b -> b a", optimize=True)),
    (TypeError, lambda x: einrs.einsum(x, pattern="a b -> b a")),
    (TypeError, lambda _: einrs.pack()),
    (TypeError, lambda x: einrs.pack([x])),
    (TypeError, lambda x: einrs.pack([x], "a *", 3)),
    (TypeError, lambda x: einrs.pack([x], "a *", pattern="a *")),
    (TypeError, lambda x: einrs.unpack(x, [(3,)])),
    (TypeError, lambda x: einrs.unpack(x, [(3,)], "a *", 3)),
    (TypeError, lambda x: einrs.unpack(x, pattern="a *")),
    (TypeError, lambda x: einrs.parse_shape(x)),
    (TypeError, lambda x: einrs.parse_shape(x, "a b", a=2)),
    (TypeError, lambda _: einrs.asnumpy()),
    (TypeError, lambda x: einrs.asnumpy(x, x)),
]


@each_tensor
@pytest.mark.parametrize("place", range(len(ARGUMENTS)))
def test_arguments_that_are_too_many_or_too_few(make: Callable[..., Any], place: int) -> None:
    kind, call = ARGUMENTS[place]
    with pytest.raises(kind):
        call(make(2, 3))
    works_on(make(2, 3))


@each_tensor
def test_arguments_by_keyword(make: Callable[..., Any]) -> None:
    """The names of parameters are those of einops."""
    x = make(2, 3)
    packed, shapes = einrs.pack(tensors=[x], pattern="a *")
    (part,) = einrs.unpack(tensor=packed, packed_shapes=shapes, pattern="a *")
    assert part.shape == x.shape
    assert einrs.parse_shape(x=x, pattern="a b") == einrs.parse_shape(x, pattern="a b")
    assert np.array_equal(einrs.asnumpy(tensor=x), einrs.asnumpy(x))


# --- what is iterated over

NO_LISTS = [3, None, np.sum, object(), np.array(3.0)]


@pytest.mark.parametrize("tensors", NO_LISTS, ids=lambda value: type(value).__name__)
def test_tensors_that_are_no_list(tensors: Any) -> None:
    error = refusal(lambda: einrs.pack(tensors, "a *"), "a *")
    assert isinstance(error, TypeError)
    assert type(tensors).__name__ in str(error)


@each_tensor
@pytest.mark.parametrize("shapes", [3, None, [3], [(2,), 1], [(2.0,), (1,)], [("2",), (1,)], "ab"])
def test_shapes_that_are_no_shapes(make: Callable[..., Any], shapes: Any) -> None:
    error = refusal(lambda: einrs.unpack(make(2, 3), shapes, "a *"), "a *")
    assert isinstance(error, TypeError)
    assert repr(shapes) in str(error)
    works_on(make(2, 3))


class Stop(Exception):  # noqa: N818
    """An error of the caller's own."""


def stopping(items: list[Any], error: BaseException) -> Iterator[Any]:
    yield from items
    raise error


@each_tensor
@pytest.mark.parametrize(
    "error", [Stop("mine"), MemoryError("mine"), KeyboardInterrupt("mine"), GeneratorExit("mine")]
)
def test_generator_that_raises(make: Callable[..., Any], error: BaseException) -> None:
    """What a caller's own generator raises is the caller's, interrupts among it."""
    tensor = make(2, 3)
    for call in (
        lambda: einrs.pack(stopping([tensor], error), "a *"),
        lambda: einrs.unpack(tensor, stopping([(1,)], error), "a *"),
        lambda: einrs.unpack(tensor, [(1,), stopping([2], error)], "a *"),
    ):
        with pytest.raises(type(error), match="mine"):
            call()
    works_on(tensor)


@each_tensor
def test_generator_that_raises_a_type_error(make: Callable[..., Any]) -> None:
    """It is not lost where it could be taken for a missing `__iter__`."""
    with pytest.raises(TypeError, match="mine"):
        einrs.pack(stopping([make(2, 3)], TypeError("mine")), "a *")
    with pytest.raises(TypeError) as caught:
        einrs.unpack(make(2, 3), stopping([(1,)], TypeError("mine")), "a *")
    assert "mine" in f"{caught.value} {caught.value.__cause__}"


@each_tensor
def test_any_iterable_will_do(make: Callable[..., Any]) -> None:
    one, other = make(2, 3), make(2)
    packed, shapes = einrs.pack([one, other], "a *")
    for tensors in ((one, other), iter([one, other]), {0: one, 1: other}.values()):
        again, same = einrs.pack(tensors, "a *")
        assert np.array_equal(np.asarray(again), np.asarray(packed))
        assert same == shapes
    for given in (tuple(shapes), iter(shapes), map(list, shapes), [list(s) for s in shapes]):
        assert [p.shape for p in einrs.unpack(packed, given, "a *")] == [one.shape, other.shape]


# --- sizes

HUGE: list[list[tuple[Any, ...]]] = [
    [(2**63,)],
    [(2**63 - 1, 2)],
    [(2**62, 4, 0), (3,)],
    [(-(2**70),), (3,)],
    [(10**5000,)],
    [(-1, 2**64)],
]


@each_tensor
@pytest.mark.parametrize("place", range(len(HUGE)))
def test_huge_sizes(make: Callable[..., Any], place: int) -> None:
    error = refusal(lambda: einrs.unpack(make(2, 3), HUGE[place], "a *"), "a *")
    assert error.kind in ("ShapeOverflow", "CannotSplit", "NegativeInShape", "UnknownNotDivisible")
    works_on(make(2, 3))


@each_tensor
def test_huge_sizes_beside_one_of_0(make: Callable[..., Any]) -> None:
    """They make no elements; what cannot have such a shape says so."""
    shapes = [(0, 2**31, 2**31, 2**31), (3,)]
    error = error_of(lambda: einrs.unpack(make(2, 3), shapes, "a *"))
    assert error is None or isinstance(error, einrs.EinopsError)
    works_on(make(2, 3))


class Index:
    """An integer only through `__index__`."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __index__(self) -> int:
        if isinstance(self.value, BaseException):
            raise self.value
        return self.value  # type: ignore[no-any-return]


@each_tensor
@pytest.mark.parametrize("two", [2, np.int64(2), np.uint8(2), Index(2), np.array(2)])
def test_sizes_that_are_right(make: Callable[..., Any], two: Any) -> None:
    for _ in range(2):
        parts = einrs.unpack(make(2, 3), [(two,), (True,)], "a *")
        assert [tuple(part.shape) for part in parts] == [(2, 2), (2, 1)]
        parts = einrs.unpack(make(2, 4), [(two, -1)], "a *")
        assert [tuple(part.shape) for part in parts] == [(2, 2, 2)]


@each_tensor
@pytest.mark.parametrize("error", [Stop("mine"), KeyboardInterrupt("mine"), MemoryError("mine")])
def test_size_that_raises(make: Callable[..., Any], error: BaseException) -> None:
    with pytest.raises(type(error), match="mine"):
        einrs.unpack(make(2, 3), [(Index(error),)], "a *")
    works_on(make(2, 3))
