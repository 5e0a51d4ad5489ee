"""Runs keras models of each operation on the backend of KERAS_BACKEND, to the outcomes as JSON."""

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import einops
import keras
import numpy as np

import einrs
from einrs.layers.keras import EinMix, Rearrange, Reduce, Repeat

HEADS = "b (h c) d -> b d (c h)"
POOL = "b (h c) d -> b h d"
TILE = "b c d -> b (c k) d"
PAIRS = "b c d, b e d -> b c e"


def logsumexp(x: Any, axes: Any) -> Any:
    if isinstance(x, np.ndarray):
        return np.log(np.exp(x).sum(axes))
    return keras.ops.logsumexp(x, axes)


Build = Callable[[Any], Any]
"""A symbolic input of shape (batch, 6, 4), or an array, to the output."""
OPERATIONS: dict[str, tuple[Build, Build | None]] = {
    "rearrange": (
        lambda x: einrs.rearrange(x, HEADS, h=2),
        lambda x: einops.rearrange(x, HEADS, h=2),
    ),
    "reduce": (
        lambda x: einrs.reduce(x, POOL, "mean", h=2),
        lambda x: einops.reduce(x, POOL, "mean", h=2),
    ),
    "reduce by a callable": (
        lambda x: einrs.reduce(x, POOL, logsumexp, h=2),
        lambda x: einops.reduce(x, POOL, logsumexp, h=2),
    ),
    "repeat": (
        lambda x: einrs.repeat(x, TILE, k=2),
        lambda x: einops.repeat(x, TILE, k=2),
    ),
    "einsum": (lambda x: einrs.einsum(x, x, PAIRS), lambda x: einops.einsum(x, x, PAIRS)),
    "pack": (
        lambda x: einrs.pack([x, x[:, 0]], "b * d")[0],
        lambda x: einops.pack([x, x[:, 0]], "b * d")[0],
    ),
    "unpack": (
        lambda x: einrs.unpack(x, [(2, 2), (-1,)], "b * d")[0],
        lambda x: einops.unpack(x, [(2, 2), (-1,)], "b * d")[0],
    ),
    "parse_shape": (
        lambda x: keras.ops.reshape(x, (-1, einrs.parse_shape(x, "_ c d")["d"], 6)),
        lambda x: x.reshape(-1, 4, 6),
    ),
    "Rearrange": (Rearrange(HEADS, h=2), lambda x: einops.rearrange(x, HEADS, h=2)),
    "Reduce": (Reduce(POOL, "max", h=2), lambda x: einops.reduce(x, POOL, "max", h=2)),
    "Repeat": (Repeat(TILE, k=2), lambda x: einops.repeat(x, TILE, k=2)),
    "EinMix": (EinMix("b c d -> b c e", "d e", "e", d=4, e=3), None),
}


def array(batch: int) -> Any:
    return np.random.default_rng(batch).standard_normal((batch, 6, 4)).astype("float32")


def expected(operation: str, model: Any, x: Any) -> Any:
    """By einops on numpy; an EinMix by its weights."""
    theirs = OPERATIONS[operation][1]
    if theirs is not None:
        return theirs(x)
    weight, bias = (keras.ops.convert_to_numpy(one) for one in model.weights)
    return np.einsum("bcd,de->bce", x, weight) + bias


def model_of(operation: str) -> Any:
    source = keras.Input((6, 4))
    return keras.Model(source, OPERATIONS[operation][0](source))


def agree(call: Callable[[Any], Any], operation: str, model: Any) -> None:
    for batch in (2, 5):
        x = array(batch)
        result = keras.ops.convert_to_numpy(call(x))
        assert result.shape == expected(operation, model, x).shape
        np.testing.assert_allclose(result, expected(operation, model, x), rtol=1e-5, atol=1e-5)
    shape = model.output.shape
    assert all(size in (None, found) for size, found in zip(shape, result.shape, strict=True))


def called(operation: str) -> None:
    model = model_of(operation)
    agree(model, operation, model)


def predicted(operation: str) -> None:
    """Batches of two sizes by one graph, where the backend makes one."""
    model = model_of(operation)
    agree(lambda x: model.predict(x, batch_size=3, verbose=0), operation, model)


def saved(operation: str) -> None:
    model = model_of(operation)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.keras"
        model.save(file)
        again = keras.models.load_model(file)
    agree(again, operation, model)


def from_json(operation: str) -> None:
    model = model_of(operation)
    again = keras.models.model_from_json(model.to_json())
    again.set_weights(model.get_weights())
    agree(again, operation, model)


def cloned(operation: str) -> None:
    model = model_of(operation)
    again = keras.models.clone_model(model)
    again.set_weights(model.get_weights())
    agree(again, operation, model)


def trained(operation: str) -> None:
    """The operation after weights, which its gradient must reach."""
    source = keras.Input((6, 4))
    dense = keras.layers.Dense(4)
    output = keras.layers.Flatten()(OPERATIONS[operation][0](dense(source)))
    model = keras.Model(source, keras.layers.Dense(1)(output))
    model.compile("sgd", "mse")
    before = dense.get_weights()[0]
    model.fit(array(5), np.ones((5, 1)), batch_size=3, verbose=0)
    assert not np.allclose(before, dense.get_weights()[0])


MODES: dict[str, Callable[[str], None]] = {
    "functional model": called,
    "predict": predicted,
    "fit": trained,
    "save and load": saved,
    "to_json and back": from_json,
    "clone_model": cloned,
}


def outcome(mode: Callable[[str], None], operation: str) -> str:
    try:
        mode(operation)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


if __name__ == "__main__":
    outcomes = {
        name: {operation: outcome(mode, operation) for operation in OPERATIONS}
        for name, mode in MODES.items()
    }
    json.dump([keras.backend.backend(), outcomes], sys.stdout)
