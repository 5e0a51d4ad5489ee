"""Checks programs that tensorflow saves and converts: SavedModel, TFLite, frozen graphs."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")

from compare import Function, check, never  # noqa: E402
from tensorflow.python.framework import convert_to_constants  # noqa: E402
from tensorflow_operations import OPERATIONS, numbers, same  # noqa: E402

import einrs  # noqa: E402
from einrs.layers.keras import EinMix, Rearrange, Reduce, Repeat  # noqa: E402

# Keras reads its variables in a way that numpy 2 deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept a copy")
BATCHES = (1, 5)


def concrete(function: Function, *shape: int | None) -> Any:
    traced = tf.function(function, autograph=False)
    return traced.get_concrete_function(tf.TensorSpec(shape or (None, 6, 4)))


def converted(function: Function, *shape: int | None) -> bytes:
    # The weights become constants, whatever module they belong to.
    graphs = [concrete(function, *shape)]
    model: bytes = tf.lite.TFLiteConverter.from_concrete_functions(graphs, tf.Module()).convert()
    return model


def interpreted(model: bytes, inputs: list[Any]) -> list[list[Any]]:
    """What TFLite computes for inputs of several shapes."""
    with warnings.catch_warnings():
        # It has moved to a package of its own, which is not needed to convert.
        warnings.filterwarnings("ignore", ".*tf.lite.Interpreter is deprecated")
        interpreter = tf.lite.Interpreter(model_content=model)
    (source,), results = interpreter.get_input_details(), []
    for values in inputs:
        interpreter.resize_tensor_input(source["index"], values.shape)
        interpreter.allocate_tensors()
        interpreter.set_tensor(source["index"], values)
        interpreter.invoke()
        found = [interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()]
        results.append(sorted(found, key=lambda array: (array.ndim, array.shape)))
    return results


def in_lite(function: Function) -> Any:
    results = interpreted(converted(function), [numbers(batch).numpy() for batch in BATCHES])
    return [[tf.constant(array) for array in arrays] for arrays in results]


def frozen(function: Function) -> Any:
    constant = convert_to_constants.convert_variables_to_constants_v2(concrete(function))
    assert not constant.variables
    return [constant(numbers(batch)) for batch in BATCHES]


MODES: dict[str, Callable[[Function], Any]] = {"TFLite": in_lite, "frozen graph": frozen}


@pytest.mark.cell("tensorflow")
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("mode", MODES)
def test_modes(mode: str, operation: str, alike: Any) -> None:
    row = OPERATIONS[operation]
    check(MODES[mode], row.ours, row.hand, same, alike if operation == "asnumpy" else never)


@pytest.mark.cell("tensorflow", mode="TFLite", operation="unpack")
def test_pieces_of_an_open_axis() -> None:
    """The check that they fill it is converted as well."""
    model = converted(lambda x: einrs.unpack(x, [(2,), (2, 3)], "* c"), None, 4)
    values = np.arange(32, dtype="float32").reshape(8, 4)
    ((first, second),) = interpreted(model, [values])
    assert first.tolist() == values[:2].tolist()
    assert second.tolist() == values[2:].reshape(2, 3, 4).tolist()
    with pytest.raises((RuntimeError, ValueError)):
        interpreted(model, [np.zeros((9, 4), "float32")])


def model() -> Any:
    """All four layers; the number of tokens is open as well as the batch."""
    return keras.Sequential(
        [
            keras.Input((None, 6)),
            Rearrange("b n (h d) -> b h n d", h=2),
            EinMix("b h n d -> b n (h e)", "h d e", "h e", h=2, d=3, e=4),
            Repeat("b n d -> b n d r", r=2),
            Reduce("b n d r -> b n", "mean"),
        ]
    )


def inputs() -> list[Any]:
    draw = np.random.default_rng(0).standard_normal
    return [draw((batch, tokens, 6)).astype("float32") for batch, tokens in ((1, 4), (3, 7))]


def lite_of_keras(layers: Any, folder: Path) -> Function:
    data = tf.lite.TFLiteConverter.from_keras_model(layers).convert()
    return lambda x: interpreted(data, [x])[0][0]


def lite_of_saved(layers: Any, folder: Path) -> Function:
    layers.export(folder, verbose=False)
    data = tf.lite.TFLiteConverter.from_saved_model(str(folder)).convert()
    return lambda x: interpreted(data, [x])[0][0]


def saved_model(layers: Any, folder: Path) -> Function:
    tf.saved_model.save(layers, str(folder))
    call = tf.saved_model.load(str(folder)).signatures["serving_default"]
    return lambda x: next(iter(call(tf.constant(x)).values())).numpy()


def exported(layers: Any, folder: Path) -> Function:
    layers.export(folder, verbose=False)
    again = tf.saved_model.load(str(folder))
    return lambda x: again.serve(x).numpy()


def loaded(layers: Any, folder: Path) -> Function:
    layers.save(folder / "model.keras")
    again = keras.models.load_model(folder / "model.keras")
    return lambda x: again.predict(x, verbose=0)


def compiled(layers: Any, folder: Path) -> Function:
    layers.compile("sgd", "mse", jit_compile=True)
    return lambda x: layers.predict(x, verbose=0)


WAYS: dict[str, Callable[[Any, Path], Function]] = {
    "TFLite: keras model": lite_of_keras,
    "TFLite: exported model": lite_of_saved,
    "SavedModel: keras model": saved_model,
    "keras: export": exported,
    "keras: save and load": loaded,
    "keras: jit_compile": compiled,
}


@pytest.mark.cell("tensorflow", operation="every layer")
@pytest.mark.parametrize("mode", WAYS)
def test_models(mode: str, tmp_path: Path) -> None:
    layers = model()
    call = WAYS[mode](layers, tmp_path)
    for x in inputs():
        expected = keras.ops.convert_to_numpy(layers(x))
        np.testing.assert_allclose(call(x), expected, rtol=1e-5, atol=1e-6)
