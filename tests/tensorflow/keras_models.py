"""Runs keras models that einrs makes on the backend of KERAS_BACKEND, beside einops on numpy."""

import tempfile
from collections.abc import Callable
from typing import Any

import einops
import keras
import numpy as np

import einrs

SHAPE = (16, 6)
MODELS: dict[str, Callable[[Any, Any], Any]] = {
    "the batch stays": lambda m, x: m.rearrange(x, "b (h d) c -> b h c d", h=4),
    "the batch moves": lambda m, x: m.rearrange(x, "b h c -> c h b"),
    "the batch is joined": lambda m, x: m.rearrange(x, "b (h d) c -> (b h) c d", h=4),
    "the batch is split": lambda m, x: m.rearrange(x, "(b k) h c -> b h (c k)", k=2),
    "all is one axis": lambda m, x: m.rearrange(x, "b h c -> (c b h)"),
    "an ellipsis": lambda m, x: m.rearrange(x, "... (c k) -> ... k c", k=3),
    "nothing": lambda m, x: m.rearrange(x, "b h c -> b h c"),
    "pooling": lambda m, x: m.reduce(x, "b (h 2) (c 3) -> b h c", "max"),
    "a mean": lambda m, x: m.reduce(x, "b h c -> b 1 c", "mean"),
    "a sum of all": lambda m, x: m.reduce(x, "b h c -> b", "sum"),
    "a product": lambda m, x: m.reduce(x, "b h c -> h b", "prod"),
    "a new axis": lambda m, x: m.repeat(x, "b h c -> b k h c", k=3),
    "a longer axis": lambda m, x: m.repeat(x, "b h c -> b (h k) c", k=2),
    "a longer batch": lambda m, x: m.repeat(x, "b h c -> (k b) h c", k=2),
    "a list": lambda m, x: m.rearrange([x, x], "k b h c -> b (k h) c"),
    "einsum": lambda m, x: m.einsum(x, x, "b first c, b second c -> b first second"),
    "pack": lambda m, x: m.pack([x, x[:, 0], x[:, :2]], "b * c")[0],
    "pack and unpack": lambda m, x: m.unpack(*m.pack([x, x[:, :, 0]], "b *"), "b *")[1],
}


def array(batch: int) -> Any:
    values = np.random.default_rng(batch).normal(size=(batch, *SHAPE))
    return values.astype("float32")


def check_models() -> None:
    for name, call in MODELS.items():
        tensor = keras.Input(SHAPE)
        model = keras.Model(tensor, call(einrs, tensor))
        for batch in (2, 6):
            result = keras.ops.convert_to_numpy(model(array(batch)))
            expected = call(einops, array(batch))
            assert result.shape == expected.shape, name
            assert np.allclose(result, expected, 1e-5, 1e-5), name
        symbolic = model.output.shape
        assert len(symbolic) == len(expected.shape), name
        for known, size in zip(symbolic, expected.shape, strict=True):
            assert known in (None, size), name


def check_training_and_saving() -> None:
    tensor = keras.Input(SHAPE)
    x = einrs.rearrange(tensor, "b (h d) c -> b h (d c)", h=4)
    x = keras.layers.Dense(5)(x)
    model = keras.Model(tensor, einrs.reduce(x, "b h c -> b c", "mean"))
    model.compile("sgd", "mse")
    before = model.get_weights()[0]
    model.fit(array(6), np.zeros((6, 5)), batch_size=4, verbose=0)
    assert not np.allclose(before, model.get_weights()[0])
    with tempfile.TemporaryDirectory() as folder:
        model.save(f"{folder}/model.keras")
        again = keras.models.load_model(f"{folder}/model.keras")
    # Two batches of different size, the second one by the same graph.
    result = again.predict(array(5), batch_size=3, verbose=0)
    expected = keras.ops.convert_to_numpy(model(array(5)))
    assert np.allclose(result, expected, 1e-5, 1e-5)


class Mixed(keras.layers.Layer):
    """A layer that calls einrs on the backend's own tensors."""

    def call(self, x: Any) -> Any:
        x = einrs.rearrange(x, "b t (h c) -> b h t c", h=2)
        return einrs.reduce(x, "b h t c -> b t h", "sum")


def check_a_layer() -> None:
    for shape in (SHAPE, (None, 6)):
        tensor = keras.Input(shape)
        model = keras.Model(tensor, Mixed()(tensor))
        for batch in (2, 5):
            result = keras.ops.convert_to_numpy(model(array(batch)))
            expected = array(batch).reshape(batch, 16, 2, 3).sum(3)
            assert np.allclose(result, expected, 1e-5, 1e-5)


def check_variables() -> None:
    variable = keras.Variable(array(2))
    for name, call in MODELS.items():
        result = keras.ops.convert_to_numpy(call(einrs, variable))
        assert np.allclose(result, call(einops, array(2)), 1e-5, 1e-5), name
    assert np.array_equal(einrs.asnumpy(variable), array(2))
    assert einrs.parse_shape(variable, "b _ c") == {"b": 2, "c": 6}


def refusal(call: Callable[[], Any]) -> str:
    try:
        call()
    except einrs.EinopsError as error:
        return str(error)
    raise AssertionError("there is no error")


def check_what_is_open() -> None:
    tensor = keras.Input((None, 6))
    assert einrs.rearrange(tensor, "b t c -> b c t").shape == (None, 6, None)
    assert einrs.reduce(tensor, "b t c -> b c", "max").shape == (None, 6)
    assert einrs.rearrange(tensor, "b t c -> (b t) c").shape == (None, 6)
    assert einrs.parse_shape(tensor, "b t c") == {"b": None, "t": None, "c": 6}
    for call in (
        lambda: einrs.rearrange(tensor, "b t (h c) -> b t h c", h=2),
        lambda: einrs.rearrange(tensor, "b (t k) c -> b t k c", k=2),
        lambda: einrs.rearrange(tensor, "b t c -> b (t c)"),
        lambda: einrs.rearrange(keras.Input((4, 6)), "(b k) t c -> k (b t) c", k=2),
    ):
        assert "infers one open size" in refusal(call)


def check_errors() -> None:
    tensor = keras.Input(SHAPE)
    assert "xpected 2 dims" in refusal(lambda: einrs.rearrange(tensor, "a b -> b a"))
    assert "no values" in refusal(lambda: einrs.asnumpy(tensor))
    numbers = keras.Input(SHAPE, dtype="int32")
    message = refusal(lambda: einrs.reduce(numbers, "b h c -> b", "mean"))
    assert "not available for non-floating tensors" in message
    model = keras.Model(tensor, einrs.rearrange(tensor, "(b k) h c -> b k h c", k=2))
    try:
        result = model(array(3))
    except Exception:
        return
    raise AssertionError(f"a batch of 3 in chunks of 2 has become {result.shape}")


if __name__ == "__main__":
    check_models()
    check_training_and_saving()
    check_a_layer()
    check_variables()
    check_what_is_open()
    check_errors()
    print(keras.backend.backend(), "is right")
