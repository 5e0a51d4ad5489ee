"""Calls to the types that a checker must give their results; never run."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
import torch
from typing_extensions import assert_type

import einrs
from einrs import asnumpy, einsum, pack, parse_shape, rearrange, reduce, repeat, unpack

Grid = np.ndarray[tuple[int, int], np.dtype[np.float32]]
Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.int8]
Bools = npt.NDArray[np.bool_]
Shapes = list[tuple[int, ...]]


def torch_tensors(x: torch.Tensor, xs: list[torch.Tensor], p: torch.nn.Parameter) -> None:
    assert_type(rearrange(x, "a b -> b a"), torch.Tensor)
    assert_type(rearrange(xs, "n a b -> n b a"), torch.Tensor)
    assert_type(rearrange([p, p], "n a b -> n b a"), torch.nn.Parameter)
    assert_type(reduce(x, "a b -> a", "mean"), torch.Tensor)
    assert_type(reduce(xs, "n a b -> a", "any"), torch.Tensor)
    assert_type(reduce(x, "a b -> a", torch.logsumexp), torch.Tensor)
    assert_type(reduce(x, "a b -> a", lambda y, axes: y.amax(dim=axes)), torch.Tensor)
    assert_type(repeat(x, "a -> a b", b=2), torch.Tensor)
    assert_type(repeat(xs, "n a -> n a b", b=2), torch.Tensor)
    assert_type(einsum(x, "a b -> a"), torch.Tensor)
    assert_type(einsum(x, x, "a b, b c -> a c"), torch.Tensor)
    assert_type(einsum(x, x, x, x, "a, a, a, a -> a"), torch.Tensor)
    assert_type(einsum(*xs, "a b, b c -> a c"), torch.Tensor)
    assert_type(einsum(x, *xs, "a, b, c -> a b c"), torch.Tensor)
    assert_type(pack(xs, "* a"), tuple[torch.Tensor, Shapes])
    assert_type(pack((x, x), "* a"), tuple[torch.Tensor, Shapes])
    assert_type(pack((y for y in xs), "* a"), tuple[torch.Tensor, Shapes])
    packed, shapes = pack(xs, "* a")
    assert_type(unpack(packed, shapes, "* a"), list[torch.Tensor])
    assert_type(unpack(x, [[3], [-1]], "* a"), list[torch.Tensor])
    assert_type(unpack(x, (y.shape for y in xs), "* a"), list[torch.Tensor])
    assert_type(parse_shape(x, "a b"), dict[str, int])
    assert_type(asnumpy(x), npt.NDArray[Any])


def arrays_of_any_rank(x: Grid, xs: list[Grid], loose: np.ndarray) -> None:
    assert_type(rearrange(x, "a b -> (a b)"), Floats)
    assert_type(rearrange(xs, "n a b -> (n a b)"), Floats)
    assert_type(rearrange(loose, "a b -> (a b)"), npt.NDArray[Any])
    assert_type(repeat(x, "a b -> a b c", c=2), Floats)
    assert_type(repeat(xs, "n a b -> n a b c", c=2), Floats)
    assert_type(einsum(x, "a b -> a"), Floats)
    assert_type(einsum(x, x, "a b, b c -> a c"), Floats)
    assert_type(einsum(x, x, x, "a b, b c, c d -> a d"), Floats)
    assert_type(einsum(*xs, "a b, b c -> a c"), Floats)
    assert_type(pack(xs, "* a"), tuple[Floats, Shapes])
    assert_type(unpack(x, [(), (3,)], "* a"), list[Floats])
    assert_type(parse_shape(x, "a b"), dict[str, int])
    assert_type(asnumpy(x), Grid)


def dtypes_of_reductions(x: Grid, n: Bytes, loose: npt.NDArray[Any]) -> None:
    assert_type(reduce(x, "a b -> a", "max"), Floats)
    assert_type(reduce(n, "a b -> a", "min"), Bytes)
    assert_type(reduce(x, "a b -> a", "sum"), Floats)
    assert_type(reduce(x, "a b -> a", "mean"), Floats)
    # numpy adds and multiplies small integers as long ones.
    assert_type(reduce(n, "a b -> a", "sum"), npt.NDArray[Any])
    assert_type(reduce([n, n], "m a b -> a", "prod"), npt.NDArray[Any])
    assert_type(reduce(n, "a b -> a", "any"), Bools)
    assert_type(reduce(loose, "a b -> a", "max"), npt.NDArray[Any])
    by_callable: npt.NDArray[np.float64] = reduce(x, "a b -> a", np.median)
    by_lambda: Floats = reduce(x, "a b -> a", lambda y, axes: y.max(axis=axes))
    assert_type(rearrange(by_callable, "a -> a 1"), npt.NDArray[np.float64])
    assert_type(rearrange(by_lambda, "a -> a 1"), Floats)


def jax_arrays(x: jax.Array) -> None:
    assert_type(rearrange(x, "a b -> b a"), jax.Array)
    assert_type(rearrange([x, x], "n a b -> n b a"), jax.Array)
    assert_type(reduce(x, "a b -> a", "all"), jax.Array)
    assert_type(reduce(x, "a b -> a", jnp.max), jax.Array)
    assert_type(reduce(x, "a b -> a", jax.nn.logsumexp), jax.Array)
    assert_type(repeat(x, "a -> a b", b=2), jax.Array)
    assert_type(einsum(x, x, "a b, b c -> a c"), jax.Array)
    assert_type(pack([x, x], "* a"), tuple[jax.Array, Shapes])
    assert_type(unpack(x, [(), (3,)], "* a"), list[jax.Array])
    assert_type(parse_shape(x, "a b"), dict[str, int])
    assert_type(asnumpy(x), npt.NDArray[Any])


def several_frameworks(x: torch.Tensor | Floats) -> None:
    assert_type(rearrange(x, "a b -> b a"), torch.Tensor | Floats)
    assert_type(repeat(x, "a -> a b", b=2), torch.Tensor | Floats)


def values_without_a_type(x: Any, xs: list[Any], module: torch.nn.Module) -> None:
    assert_type(rearrange(x, "a b -> b a"), Any)
    assert_type(rearrange(xs, "n a b -> n b a"), Any)
    assert_type(rearrange(module(x), "a b -> b a"), Any)
    assert_type(reduce(x, "a b -> a", "max"), Any)
    assert_type(reduce(xs, "n a b -> a", "sum"), Any)
    assert_type(reduce(x, "a b -> a", x), Any)
    assert_type(repeat(x, "a -> a b", b=x), Any)
    assert_type(einsum(x, "a b -> a"), Any)
    assert_type(einsum(x, x, "a b, b c -> a c"), Any)
    assert_type(einsum(*xs, "a b, b c -> a c"), Any)
    assert_type(pack(xs, "* a")[0], Any)
    assert_type(unpack(x, x, "* a"), list[Any])
    assert_type(parse_shape(x, "a b"), dict[str, int])
    assert_type(asnumpy(x), Any)


def lengths(x: torch.Tensor, n: int, symbol: torch.SymInt, one: jax.Array) -> None:
    repeat(x, "a -> a b", b=n)
    repeat(x, "a -> a b", b=True)
    repeat(x, "a -> a b", b=np.int64(3))
    repeat(x, "a -> a b", b=symbol)
    repeat(x, "a -> a b", b=x[0])
    repeat(x, "a -> a b", b=one)
    repeat(x, "a -> a b", **dict(b=n))  # noqa: C408
    repeat(x, "a -> a b", **parse_shape(x, "b"))


def arguments_by_name(x: torch.Tensor) -> None:
    assert_type(rearrange(tensor=x, pattern="a b -> b a"), torch.Tensor)
    assert_type(reduce(tensor=x, pattern="a b -> b", reduction="max"), torch.Tensor)
    assert_type(pack(tensors=[x], pattern="*"), tuple[torch.Tensor, Shapes])
    assert_type(unpack(tensor=x, packed_shapes=[()], pattern="*"), list[torch.Tensor])
    assert_type(parse_shape(x=x, pattern="a"), dict[str, int])


def the_cache() -> None:
    assert_type(einrs.cache_info().hits, int)
