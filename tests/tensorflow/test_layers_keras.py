"""Turns a table of layers into those of Keras, which do what einops does, also in saved models."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import einrs
from layer_cases import MISTAKES, MIXES, OPERATIONS, WIDE, Case, check_spread, check_weights, mix

keras = pytest.importorskip("keras")
pytest.importorskip("tensorflow")

from einrs.layers import keras as layers  # noqa: E402

# Keras reads its variables in a way that numpy 2 deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept a copy")

TRACED = [case for case in OPERATIONS if case.shape]


def arrays(layer: Any) -> list[Any]:
    return [np.array(weight) for weight in layer.get_weights()]


@pytest.mark.parametrize("case", OPERATIONS, ids=repr)
def test_an_operation_does_what_einops_does(case: Case) -> None:
    layer = case.build(layers)
    expected = case.expected(case.input())
    for other in (layer, pickle.loads(pickle.dumps(layer)), rebuilt(layer)):
        np.testing.assert_allclose(other(case.input()), expected, rtol=1e-5)
        assert repr(other) == repr(layer)
        assert other.name == layer.name
    if case.shape:
        np.testing.assert_allclose(layer(list(case.input())), expected, rtol=1e-5)


def rebuilt(layer: Any) -> Any:
    return type(layer).from_config(layer.get_config())


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("case", [*TRACED, *MIXES], ids=repr)
def test_a_model_with_open_sizes(case: Case, known: bool) -> None:
    layer = case.build(layers)
    source = keras.Input(batch_shape=case.shape if known else (None,) * len(case.shape))
    model = keras.Model(source, layer(source))
    x = case.input()
    np.testing.assert_allclose(model(x), layer(x), rtol=1e-5, atol=1e-6)
    sizes = zip(model.output.shape, layer(x).shape, strict=True)
    assert all(size == concrete or (size is None and not known) for size, concrete in sizes)


@pytest.mark.parametrize("case", MIXES, ids=repr)
def test_einmix_does_what_einops_does(case: Case) -> None:
    layer = case.build(layers)
    output = layer(case.input())
    weight, bias = (*arrays(layer), None)[:2]
    check_weights(case, weight, bias)
    expected = mix(case)(case.input(), weight, bias)
    np.testing.assert_allclose(output, expected, rtol=1e-4, atol=1e-5)
    other = rebuilt(layer)
    other.build(case.shape)
    other.set_weights(layer.get_weights())
    np.testing.assert_array_equal(other(case.input()), output)


def test_the_weights_fill_their_ranges_on_both_sides_of_zero() -> None:
    layer = WIDE.build(layers)
    layer.build(WIDE.shape)
    check_spread(*arrays(layer))


def model() -> Any:
    return keras.Sequential(
        [
            keras.Input((4, 6)),
            layers.Rearrange("b n (h d) -> b h n d", h=2, name="heads"),
            layers.EinMix("b h n d -> b n (h e)", "h d e", "h e", h=2, d=3, e=4),
            layers.Repeat("b n d -> b n d r", r=2),
            layers.Reduce("b n d r -> b n", "mean"),
        ]
    )


@pytest.mark.parametrize("ending", ["keras", "h5"])
@pytest.mark.parametrize("objects", [None, layers.keras_custom_objects])
def test_a_saved_model_is_loaded(ending: str, objects: Any, tmp_path: Path) -> None:
    saved, x = model(), np.random.default_rng(0).standard_normal((5, 4, 6))
    saved.save(tmp_path / f"model.{ending}")
    loaded = keras.models.load_model(tmp_path / f"model.{ending}", custom_objects=objects)
    np.testing.assert_array_equal(loaded(x), saved(x))
    assert [layer.name for layer in loaded.layers] == [layer.name for layer in saved.layers]


def test_a_model_from_json_takes_weights(tmp_path: Path) -> None:
    saved, x = model(), np.ones((5, 4, 6))
    loaded = keras.models.model_from_json(saved.to_json())
    saved.save_weights(tmp_path / "model.weights.h5")
    loaded.load_weights(tmp_path / "model.weights.h5")
    np.testing.assert_array_equal(loaded(x), saved(x))


def test_a_model_that_einops_saved_is_loaded(tmp_path: Path) -> None:
    einops_layers = pytest.importorskip("einops.layers.keras")
    saved = keras.Sequential(
        [
            keras.Input((4, 6)),
            einops_layers.Rearrange("b n (h d) -> b h n d", h=2),
            einops_layers.EinMix("b h n d -> b n (h e)", "h d e", "h e", h=2, d=3, e=4),
            einops_layers.Reduce("b n d -> b", "max"),
        ]
    )
    saved.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(
        tmp_path / "model.keras", custom_objects=layers.keras_custom_objects
    )
    assert [type(layer) for layer in loaded.layers] == [
        layers.Rearrange,
        layers.EinMix,
        layers.Reduce,
    ]
    x = np.random.default_rng(0).standard_normal((5, 4, 6))
    np.testing.assert_allclose(loaded(x), saved(x), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("kind", "texts", "lengths", "message"), MISTAKES)
def test_a_layer_that_serves_no_input_is_not_built(
    kind: str, texts: Any, lengths: Any, message: str
) -> None:
    with pytest.raises(einrs.EinopsError, match=f"^ Error while preparing {kind}") as caught:
        getattr(layers, kind)(*texts, **lengths)
    assert message in str(caught.value)


def test_a_wrong_input() -> None:
    with pytest.raises(einrs.EinopsError, match="expected 2 dims"):
        layers.Rearrange("a b -> b a")(np.ones(3))
    with pytest.raises(einrs.EinopsError, match="axis 'b'"):
        layers.EinMix("a b -> a c", "b c", b=2, c=3)(np.ones((5, 4)))


def test_keras_own_arguments() -> None:
    layer = layers.Reduce("a b -> a", "sum", name="sums", dtype="float64", trainable=False)
    assert (layer.name, layer.dtype, layer.trainable) == ("sums", "float64", False)
    assert layer.axes_lengths == {}
    assert layer(np.ones((2, 3))).dtype == "float64"


def test_training() -> None:
    trained = model()
    trained.compile("sgd", "mse")
    x = np.random.default_rng(0).standard_normal((8, 4, 6))
    first = trained.evaluate(x, np.ones((8, 4)), verbose=0)
    trained.fit(x, np.ones((8, 4)), epochs=3, verbose=0)
    assert trained.evaluate(x, np.ones((8, 4)), verbose=0) < first


def test_the_layers_of_tensorflow_are_these() -> None:
    from einrs.layers import tensorflow as same

    for name in layers.keras_custom_objects:
        assert getattr(same, name) is getattr(layers, name)


OTHER_BACKEND = """
import keras, numpy as np
from einrs.layers.keras import EinMix, Rearrange, Reduce

source = keras.Input((None, None, 3))
x = Rearrange("b (h h2) (w w2) c -> b h w (h2 w2 c)", h2=2, w2=3)(source)
x = EinMix("b h w (p c) -> b h (w d)", "p c d", "d", p=6, c=3, d=5)(x)
x = Reduce("b h wd -> b wd", "max")(x)
model = keras.Model(source, x)
print(keras.backend.backend(), model.output.shape, model(np.ones((2, 4, 6, 3))).shape)
"""


@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_another_backend_of_keras(backend: str) -> None:
    # Not imported here: torch beside tensorflow would end the process.
    if find_spec(backend) is None:
        pytest.skip(f"{backend} is not installed")
    environment = os.environ | {"KERAS_BACKEND": backend, "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-c", OTHER_BACKEND]
    finished = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr[-4000:]
    printed = finished.stdout.replace("torch.Size([2, 10])", "(2, 10)")
    assert printed == f"{backend} (None, None) (2, 10)\n"
