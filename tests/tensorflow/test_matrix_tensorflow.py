"""Checks every operation in tensorflow's graphs, gradients and pipelines, beside plain code."""

from collections.abc import Callable
from tempfile import TemporaryDirectory
from typing import Any

import pytest

tf = pytest.importorskip("tensorflow")
pytest.importorskip("keras")

from compare import Function, Mode, check, never  # noqa: E402
from tensorflow_operations import MIX, OPERATIONS, numbers, same, total  # noqa: E402

OPEN_BATCH, OPEN = (None, 6, 4), (None, None, None)


def graph(*shape: Any, **options: Any) -> Callable[[Function], Any]:
    """A tf.function of one signature."""
    signature = [tf.TensorSpec(shape or None)]
    return lambda function: tf.function(function, input_signature=signature, **options)


def in_graph(*shape: Any, **options: Any) -> Mode:
    """Results for several batches from one graph."""
    batches = (3,) if shape and shape[0] else (2, 3)

    def run(function: Function) -> Any:
        traced = graph(*shape, **options)(function)
        results = [traced(numbers(batch)) for batch in batches]
        assert traced.experimental_get_tracing_count() == 1
        return results

    return run


def ranked(function: Function) -> Any:
    def f(x: Any) -> Any:
        x.set_shape(OPEN_BATCH)
        return function(x)

    return graph(autograph=False)(f)(numbers())


def variable(shape: Any) -> Mode:
    def run(function: Function) -> Any:
        state = tf.Variable(numbers(), shape=tf.TensorShape(shape))
        results = [function(state)]
        if shape[0] is None:
            state.assign(numbers(5))
            results.append(function(state))
        return results

    return run


def gradient(function: Function, x: Any = None) -> Any:
    x = numbers() if x is None else x
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = total(function(x))
    return tape.gradient(loss, x)


def gradient_of_variable(function: Function) -> Any:
    state = tf.Variable(numbers(), shape=tf.TensorShape(OPEN_BATCH))
    with tf.GradientTape() as tape:
        loss = total(function(state))
    return tf.convert_to_tensor(tape.gradient(loss, state))


def second_gradient(function: Function) -> Any:
    x = numbers()
    with tf.GradientTape() as outer:
        outer.watch(x)
        loss = total(gradient(lambda x: tf.nest.map_structure(tf.sin, function(x)), x))
    return outer.gradient(loss, x)


def jacobian(function: Function) -> Any:
    x = numbers(1)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        results = tf.nest.flatten(function(x))
    # Not by pfor, in which tensorflow's own einsum breaks the memory of the process.
    return [tape.jacobian(result, x, experimental_use_pfor=False) for result in results]


def forward(function: Function) -> Any:
    x = numbers()
    with tf.autodiff.ForwardAccumulator(x, x + 1) as accumulator:
        results = tf.nest.flatten(function(x))
    return [accumulator.jvp(result) for result in results]


def dataset(batched: bool) -> Mode:
    def run(function: Function) -> Any:
        data = tf.data.Dataset.from_tensor_slices(tf.stack([numbers(), numbers() + 1, numbers()]))
        if batched:
            data = data.unbatch().batch(4)
        return list(data.map(function, num_parallel_calls=2))

    return run


def looped(function: Function) -> Any:
    def body(i: Any, sum_of_all: Any) -> Any:
        return i + 1, sum_of_all + total(function(numbers() + tf.cast(i, "float32")))

    return tf.function(lambda: tf.while_loop(lambda i, _: i < 3, body, (0, 0.0)))()


def branches(function: Function) -> Any:
    traced = graph(*OPEN_BATCH)(
        lambda x: tf.cond(tf.shape(x)[0] > 2, lambda: function(x), lambda: function(2 * x))
    )
    return [traced(numbers(batch)) for batch in (2, 3)]


def control_flow(function: Function) -> Any:
    """As AutoGraph makes a graph of it."""

    @tf.function(input_signature=[tf.TensorSpec(OPEN_BATCH)])
    def traced(x: Any) -> Any:
        result = tf.constant(0.0)
        for i in tf.range(3):
            if tf.equal(i, 1):
                result += total(function(x))
            else:
                result += total(function(x * 2))
        return result

    return traced(numbers())


def custom_gradient(function: Function) -> Any:
    @tf.custom_gradient
    def f(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = total(function(x))
        found = tape.gradient(loss, x)

        def back(given: Any, variables: Any = ()) -> Any:
            return (given * found, [None] * len(variables)) if variables else given * found

        return loss, back

    return gradient(f)


def saved(function: Function) -> Any:
    module = tf.Module()
    module.layers = [MIX]
    module.f = graph(*OPEN_BATCH)(function)
    with TemporaryDirectory() as folder:
        tf.saved_model.save(module, folder)
        loaded = tf.saved_model.load(folder)
        return [loaded.f(numbers(batch)) for batch in (1, 5)]


def strategy(function: Function) -> Any:
    def replica(x: Any) -> Any:
        return total(function(x))

    return tf.function(lambda x: tf.distribute.OneDeviceStrategy("/cpu:0").run(replica, (x,)))(
        numbers()
    )


def run_eagerly(function: Function) -> Any:
    tf.config.run_functions_eagerly(True)
    try:
        return tf.function(function)(numbers())
    finally:
        tf.config.run_functions_eagerly(False)


MODES: dict[str, Mode] = {
    "eager": lambda f: [f(numbers(batch)) for batch in (0, 2, 5)],
    "tf.Variable": variable((2, 6, 4)),
    "tf.Variable: open sizes": variable(OPEN_BATCH),
    "tf.function: known sizes": in_graph(3, 6, 4),
    "tf.function: open batch": in_graph(*OPEN_BATCH),
    "tf.function: all sizes open": in_graph(*OPEN),
    "tf.function: unknown rank": in_graph(),
    "tf.function: AutoGraph": control_flow,
    "tf.function: rank set inside": ranked,
    "tf.function: run eagerly": run_eagerly,
    "jit_compile: known sizes": in_graph(3, 6, 4, jit_compile=True),
    "jit_compile: open batch": in_graph(*OPEN_BATCH, jit_compile=True),
    "jit_compile: all sizes open": in_graph(*OPEN, jit_compile=True),
    "GradientTape": gradient,
    "GradientTape: a variable": gradient_of_variable,
    "GradientTape: second order": second_gradient,
    "GradientTape: tf.function": lambda f: graph(*OPEN_BATCH)(lambda x: gradient(f, x))(numbers()),
    "GradientTape: jacobian": jacobian,
    "ForwardAccumulator": forward,
    "custom_gradient": custom_gradient,
    "recompute_grad": lambda f: gradient(tf.recompute_grad(f)),
    "Dataset.map": dataset(batched=False),
    "Dataset.map: batches": dataset(batched=True),
    "vectorized_map": lambda f: tf.vectorized_map(f, tf.stack([numbers(), numbers() + 1])),
    "map_fn": lambda f: [
        tf.map_fn(lambda x: total(f(x)), tf.stack([numbers(), numbers() + 1])),
        tf.function(lambda xs: tf.map_fn(lambda x: total(f(x)), xs))(tf.stack([numbers()] * 2)),
    ],
    "while_loop": looped,
    "cond": branches,
    "distribute": strategy,
    "SavedModel": saved,
}


@pytest.mark.cell("tensorflow")
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("mode", MODES)
def test_modes(mode: str, operation: str, alike: Any) -> None:
    row = OPERATIONS[operation]
    may_fail = operation == "asnumpy" or mode == "tf.function: unknown rank"
    check(MODES[mode], row.ours, row.hand, same, alike if may_fail else never)
