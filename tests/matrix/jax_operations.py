"""The rows of the matrix of jax: each public function and layer, with its hand-written twin.

Every call takes an array of shape (any batch, 6, 4).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import einops
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

import einrs
from einrs.layers import equinox as equinox_layers
from einrs.layers import flax as linen_layers
from einrs.layers import nnx as nnx_layers

HEADS = "b (h c) d -> (b h) d c"
POOL = "b (h c) d -> b h d"
TILE = "b c d -> b (c k) d"
PAIRS = "batch c d, batch e d -> batch c e"
JOIN = "b * d"
NAMES = "batch c d"


class Operation(NamedTuple):
    """A call of einrs, and what somebody would write in its place."""

    call: Callable[[Any, Any, str, Any], Any]
    """Of a module such as einops, an array, the pattern and a length."""
    hand: Callable[..., Any]
    """Of an array and a length, which is 2."""
    pattern: str = ""
    """A layer keeps its own."""
    wrong: str = ""
    """A pattern that is refused for the array."""
    twin: Callable[[Any], Any] | None = None
    """What leaves the same equations in a trace, where hand-written code does not."""

    def ours(self, x: Any, n: Any = 2) -> Any:
        return self.call(einrs, x, self.pattern, n)

    def einops(self, x: Any) -> Any:
        return self.call(einops, x, self.pattern, 2)

    def traced(self, x: Any) -> Any:
        """A call whose equations are those of ours."""
        return (self.twin or self.hand)(x)


def split_heads(x: Any, n: Any = 2) -> Any:
    batch, channels, width = x.shape
    split = x.reshape(batch, n, channels // n, width)
    return split.transpose(0, 1, 3, 2).reshape(batch * n, width, channels // n)


def pooled(x: Any, n: Any = 2) -> Any:
    batch, channels, width = x.shape
    return x.reshape(batch, n, channels // n, width).sum(2)


def extremes(x: Any, axes: Any) -> Any:
    return x.max(axes) + x.min(axes)


def reduced_by_callable(x: Any, n: Any = 2) -> Any:
    batch, channels, width = x.shape
    return extremes(x.reshape(batch, n, channels // n, width), 2)


def tiled(x: Any, n: Any = 2) -> Any:
    batch, channels, width = x.shape
    spread = jnp.broadcast_to(x[:, :, None], (batch, channels, n, width))
    return spread.reshape(batch, channels * n, width)


def mixed(x: Any, weight: Any, bias: Any) -> Any:
    return jnp.einsum("bcd,de->bce", x, weight) + bias


def split_for_pack(x: Any, n: Any) -> Any:
    batch, channels, width = x.shape
    return x.reshape(batch, n, channels // n, width)


def packed(x: Any, n: Any = 2) -> Any:
    batch, channels, width = x.shape
    split, first = split_for_pack(x, n), x[:, 0]
    flat = split.reshape(batch, channels, width), first.reshape(batch, 1, width)
    return jnp.concatenate(flat, 1)


def joined(module: Any, x: Any, pattern: str, n: Any) -> Any:
    return module.pack([split_for_pack(x, n), x[:, 0]], pattern)[0]


def shapes_of_pieces(x: Any, n: Any) -> list[tuple[Any, ...]]:
    return [(n, 2), (x.shape[1] - n * 2,)]


def pieces(x: Any, n: Any = 2) -> list[Any]:
    batch, _, width = x.shape
    return [x[:, : n * 2].reshape(batch, n, 2, width), x[:, n * 2 :]]


def flat_by_names(module: Any, x: Any, pattern: str, n: Any) -> Any:
    sizes = module.parse_shape(x, pattern)
    return x.reshape(sizes["batch"] * sizes["c"], sizes["d"])


def by_einops(function: str, *arguments: Any, **lengths: Any) -> Callable[[Any], Any]:
    return lambda x: getattr(einops, function)(x, *arguments, **lengths)


FUNCTIONS = {
    "rearrange": Operation(
        lambda m, x, p, n: m.rearrange(x, p, h=n),
        split_heads,
        HEADS,
        "b (h c) d e -> b h c d e",
        by_einops("rearrange", HEADS, h=2),
    ),
    "reduce": Operation(
        lambda m, x, p, n: m.reduce(x, p, "sum", h=n),
        pooled,
        POOL,
        "b (h c) -> b h",
        by_einops("reduce", POOL, "sum", h=2),
    ),
    "reduce by a callable": Operation(
        lambda m, x, p, n: m.reduce(x, p, extremes, h=n),
        reduced_by_callable,
        POOL,
        "b (h c) d",
        by_einops("reduce", POOL, extremes, h=2),
    ),
    "repeat": Operation(lambda m, x, p, n: m.repeat(x, p, k=n), tiled, TILE, "b c d -> b (c k)"),
    "einsum": Operation(
        lambda m, x, p, n: m.einsum(x, x, p),
        lambda x, n=2: jnp.einsum("bcd,bed->bce", x, x),
        PAIRS,
        "batch c d, batch e d -> batch f",
    ),
    "pack": Operation(joined, packed, JOIN, "b * * d"),
    "unpack": Operation(
        lambda m, x, p, n: m.unpack(x, shapes_of_pieces(x, n), p), pieces, JOIN, "b c d *"
    ),
    "parse_shape": Operation(
        flat_by_names,
        lambda x, n=2: x.reshape(x.shape[0] * x.shape[1], x.shape[2]),
        NAMES,
        "batch c d e",
    ),
    "asnumpy": Operation(
        lambda m, x, p, n: jnp.asarray(m.asnumpy(x) + 1),
        lambda x, n=2: jnp.asarray(np.asarray(x) + 1),
    ),
}
"""By name; a call of a wrong pattern takes the place of the pattern."""

WEIGHTS = ("b c d -> b c e", "d e", "e"), {"d": 4, "e": 3}
KEY = jax.random.key(7)


def numbers(batch: int = 2, dtype: Any = "float32") -> Any:
    """An array that every operation takes."""
    # By numpy: jax would compile its random numbers anew under many a setting.
    values = np.random.default_rng(batch).standard_normal((batch, 6, 4))
    return jnp.asarray(values, dtype)


class Layers(NamedTuple):
    """The layers of a library: how to build one, and what to call then."""

    layers: Any
    keys: dict[str, Any]
    """What EinMix is given for its weights."""
    bind: Callable[[Any], Callable[[Any], Any]]
    weights: Callable[[Any], tuple[Any, Any]]


def bound(module: Any) -> Callable[[Any], Any]:
    variables = module.init(KEY, jnp.zeros((1, 6, 4)))
    return lambda x: module.apply(variables, x)


LIBRARIES = {
    "linen": Layers(
        linen_layers,
        {},
        bound,
        lambda m: tuple(m.init(KEY, jnp.zeros((1, 6, 4)))["params"][n] for n in ("weight", "bias")),
    ),
    "nnx": Layers(
        nnx_layers,
        {"rngs": nnx.Rngs(0)},
        lambda m: m,
        lambda m: (m.weight[...], m.bias[...]),
    ),
    "equinox": Layers(equinox_layers, {"key": KEY}, lambda m: m, lambda m: (m.weight, m.bias)),
}


def layers_of(library: Layers) -> dict[str, Operation]:
    """The layers of one library as operations."""

    def operation(kind: str, *texts: Any, like: str, **lengths: Any) -> Operation:
        module = library.bind(getattr(library.layers, kind)(*texts, **lengths))
        twin = FUNCTIONS[like]
        return Operation(lambda m, x, p, n: module(x), twin.hand, "", "", twin.twin)

    texts, lengths = WEIGHTS
    mix = library.layers.EinMix(*texts, **lengths, **library.keys)
    call, (weight, bias) = library.bind(mix), library.weights(mix)
    return {
        "Rearrange": operation("Rearrange", HEADS, like="rearrange", h=2),
        "Reduce": operation("Reduce", POOL, "sum", like="reduce", h=2),
        "Reduce by a callable": operation(
            "Reduce", POOL, extremes, like="reduce by a callable", h=2
        ),
        "Repeat": operation("Repeat", TILE, like="repeat", k=2),
        "EinMix": Operation(lambda m, x, p, n: call(x), lambda x, n=2: mixed(x, weight, bias)),
    }


OPERATIONS = FUNCTIONS | {
    f"{name}.{kind}": operation
    for name, library in LIBRARIES.items()
    for kind, operation in layers_of(library).items()
}


EACH = [
    name
    if name in FUNCTIONS or name == "linen.EinMix"
    else pytest.param(name, marks=pytest.mark.slow_trace)
    for name in OPERATIONS
]
"""For parametrize. All layers leave the same equations as the functions, as one test shows, so that
in transformations that are not of their own library one of them will often do."""


def same(ours: Any, theirs: Any) -> None:
    """Asserts equal structure, dtypes and shapes, and values equal but for rounding."""
    assert jax.tree.structure(ours) == jax.tree.structure(theirs)
    for one, other in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        same_leaf(one, other)


def same_leaf(one: Any, other: Any) -> None:
    if not isinstance(other, jax.Array):
        assert one == other
        return
    assert isinstance(one, jax.Array)
    assert jax.typeof(one) == jax.typeof(other)
    assert one.committed == other.committed
    # A key has no such type.
    assert getattr(one, "weak_type", None) == getattr(other, "weak_type", None)
    same_values(one, other)


def same_values(one: Any, other: Any) -> None:
    """Asserts numbers that are equal but for rounding."""
    if jnp.issubdtype(other.dtype, jax.dtypes.prng_key):
        one, other = jax.random.key_data(one), jax.random.key_data(other)
    np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


def total(tree: Any) -> Any:
    """A number that depends on all elements of a result."""
    return sum((leaf**2).sum() for leaf in jax.tree.leaves(tree))
