"""Calls to the types that they have also where no framework is installed; never run."""
# pyright: basic, reportUnnecessaryTypeIgnoreComment=true
# Where numpy is missing, strict mode would complain that its types are unknown.

from typing import Any

from typing_extensions import assert_type

from einrs import EinopsError, asnumpy, einsum, pack, parse_shape, rearrange, reduce, repeat, unpack

Shapes = list[tuple[int, ...]]


class Tensor:
    """A type that numpy does not know."""

    shape: tuple[int, ...]


class Special(Tensor):
    """Comes back as itself."""


def tensors(x: Tensor, xs: list[Tensor], special: Special) -> None:
    assert_type(rearrange(x, "a b -> b a"), Tensor)
    assert_type(rearrange(xs, "n a b -> n b a"), Tensor)
    assert_type(rearrange([special], "n a b -> n b a"), Special)
    assert_type(reduce(x, "a b -> a", "mean"), Tensor)
    assert_type(reduce(xs, "n a b -> a", lambda y, axes: y), Tensor)
    assert_type(repeat(x, "a -> a b", b=2), Tensor)
    assert_type(einsum(x, x, x, "a, b, c -> a b c"), Tensor)
    assert_type(pack([x, x], "* a"), tuple[Tensor, Shapes])
    assert_type(unpack(x, [(), (3,)], "* a"), list[Tensor])
    assert_type(parse_shape(x, "a b"), dict[str, int])
    asnumpy(x)


def values_without_a_type(x: Any) -> None:
    assert_type(rearrange(x, "a b -> b a"), Any)
    assert_type(unpack(x, [()], "*"), list[Any])


def mistakes(x: Tensor) -> None:
    rearrange((x, x), "n a -> a n")  # type: ignore[call-overload] # pyright: ignore
    reduce(x, "a b -> a", "median")  # type: ignore[call-overload] # pyright: ignore
    repeat(x, "a -> a b", b=2.0)  # type: ignore[call-overload] # pyright: ignore


def errors(error: EinopsError) -> None:
    assert_type(error.kind, str | None)
    assert_type(error.spans, tuple[tuple[int, int], ...])
