"""The rows of the matrix of tensorflow: each public function and layer, with its hand-written twin.

Every call takes a tensor of shape (any batch, 6, 4).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import einrs
import tensorflow as tf
from einrs.layers.tensorflow import EinMix, Rearrange, Reduce, Repeat

HEADS = "b (h c) d -> (b h) d c"
POOL = "b (h c) d -> b h d"
TILE = "b c d -> b (c k) d"
PAIRS = "batch c d, batch e d -> batch c e"
JOIN = "b * d"
NAMES = "batch c d"


class Operation(NamedTuple):
    """A call of einrs, and what somebody would write in its place."""

    call: Callable[[Any, Any, str], Any]
    """Of a module such as einops, a tensor and the pattern."""
    hand: Callable[[Any], Any]
    pattern: str = ""
    """A layer keeps its own."""
    wrong: str = ""
    """A pattern that is refused for the tensor."""

    def ours(self, x: Any) -> Any:
        return self.call(einrs, x, self.pattern)


def sizes(x: Any) -> list[Any]:
    """Numbers where they are known, and else what the graph measures."""
    static = tf.convert_to_tensor(x).shape.as_list()
    return [tf.shape(x)[i] if size is None else size for i, size in enumerate(static)]


def split_heads(x: Any) -> Any:
    batch, channels, width = sizes(x)
    split = tf.transpose(tf.reshape(x, (batch, 2, channels // 2, width)), (0, 1, 3, 2))
    return tf.reshape(split, (batch * 2, width, channels // 2))


def halves(x: Any) -> Any:
    batch, channels, width = sizes(x)
    return tf.reshape(x, (batch, 2, channels // 2, width))


def tiled(x: Any) -> Any:
    batch, channels, width = sizes(x)
    spread = tf.tile(tf.expand_dims(x, 2), (1, 1, 2, 1))
    return tf.reshape(spread, (batch, channels * 2, width))


def packed(x: Any) -> Any:
    return tf.concat([tf.reshape(halves(x), sizes(x)), tf.expand_dims(x[:, 0], 1)], 1)


def pieces(x: Any) -> list[Any]:
    batch, _, width = sizes(x)
    return [tf.reshape(x[:, :4], (batch, 2, 2, width)), x[:, 4:]]


def flat(x: Any) -> Any:
    batch, channels, width = sizes(x)
    return tf.reshape(x, (batch * channels, width))


def flat_by_names(module: Any, x: Any, pattern: str) -> Any:
    named = module.parse_shape(x, pattern)
    return tf.reshape(x, (named["batch"] * named["c"], named["d"]))


FUNCTIONS = {
    "rearrange": Operation(
        lambda m, x, p: m.rearrange(x, p, h=2), split_heads, HEADS, "b (h c) d e -> b h c d e"
    ),
    "reduce": Operation(
        lambda m, x, p: m.reduce(x, p, "sum", h=2),
        lambda x: tf.reduce_sum(halves(x), 2),
        POOL,
        "b (h c) -> b h",
    ),
    "reduce by a callable": Operation(
        lambda m, x, p: m.reduce(x, p, tf.reduce_logsumexp, h=2),
        lambda x: tf.reduce_logsumexp(halves(x), 2),
        POOL,
        "b (h c) d",
    ),
    "repeat": Operation(lambda m, x, p: m.repeat(x, p, k=2), tiled, TILE, "b c d -> b (c k)"),
    "einsum": Operation(
        lambda m, x, p: m.einsum(x, x, p),
        lambda x: tf.einsum("bcd,bed->bce", x, x),
        PAIRS,
        "batch c d, batch e d -> batch f",
    ),
    "pack": Operation(lambda m, x, p: m.pack([halves(x), x[:, 0]], p)[0], packed, JOIN, "b * * d"),
    "unpack": Operation(lambda m, x, p: m.unpack(x, [(2, 2), (2,)], p), pieces, JOIN, "b c d *"),
    "parse_shape": Operation(flat_by_names, flat, NAMES, "batch c d e"),
    "asnumpy": Operation(
        lambda m, x, p: tf.constant(m.asnumpy(x) + 1), lambda x: tf.constant(x.numpy() + 1)
    ),
}

MIX = EinMix("b c d -> b c e", "d e", "e", d=4, e=3)
MIX.build((None, 6, 4))
POOLED, HEADED, TILED = Reduce(POOL, "sum", h=2), Rearrange(HEADS, h=2), Repeat(TILE, k=2)


def mixed(x: Any) -> Any:
    weight, bias = (tf.convert_to_tensor(w) for w in MIX.weights)
    return tf.einsum("bcd,de->bce", x, weight) + bias


LAYERS = {
    "Rearrange": Operation(lambda m, x, p: HEADED(x), split_heads),
    "Reduce": Operation(lambda m, x, p: POOLED(x), FUNCTIONS["reduce"].hand),
    "Repeat": Operation(lambda m, x, p: TILED(x), tiled),
    "EinMix": Operation(lambda m, x, p: MIX(x), mixed),
}
OPERATIONS = FUNCTIONS | LAYERS


def numbers(batch: int = 2) -> Any:
    """A tensor that every operation takes."""
    values = np.random.default_rng(batch).standard_normal((batch, 6, 4))
    return tf.constant(values.astype("float32"))


def same(ours: Any, theirs: Any) -> None:
    """Asserts equal structure, dtypes and shapes, and values equal but for rounding."""
    tf.nest.assert_same_structure(ours, theirs)
    for one, other in zip(tf.nest.flatten(ours), tf.nest.flatten(theirs), strict=True):
        if not tf.is_tensor(other):
            assert one == other
            continue
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-5, atol=1e-5)


def total(tree: Any) -> Any:
    """A number that depends on all elements of a result."""
    return tf.add_n([tf.reduce_sum(leaf * leaf) for leaf in tf.nest.flatten(tree)])
