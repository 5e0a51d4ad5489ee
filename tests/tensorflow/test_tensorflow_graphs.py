"""Checks einrs inside tf.function: results, static shapes and number of nodes beside einops'."""

import gc
import subprocess
import sys
import weakref
from collections.abc import Callable
from typing import Any

import einops
import numpy as np
import pytest
from test_tensorflow_eager import FEW, SHAPE, numbers
from test_tensorflow_eager import facts as eager_facts

import einrs
from sides import OPERATIONS, differences

tf = pytest.importorskip("tensorflow")

SPECS = [(4, 6), (None, 6), (4, None), (None, None)]


def in_graph(call: Callable[[Any, Any], Any], spec: Any) -> Callable[[Any, Any], Any]:
    """A call made while a graph is built for tensors of some shape, to its value and shape."""

    def traced_call(module: Any, tensor: Any) -> Any:
        shapes = []

        def body(x: Any) -> Any:
            result = call(module, x)
            shapes.append(result.shape.as_list())
            return result

        traced = tf.function(body, autograph=False)
        return traced.get_concrete_function(tf.TensorSpec(spec, tensor.dtype))(tensor), shapes

    return traced_call


def facts(result: Any, tensor: Any) -> dict[str, Any]:
    value, shapes = result
    found = {"static shapes": shapes} | eager_facts(value, tensor)
    del found["same object"]
    return found


@pytest.mark.parametrize("spec", SPECS)
def test_every_way(spec: Any) -> None:
    calls = OPERATIONS if spec == (None, 6) else FEW
    for label, call in calls.items():
        found = differences(in_graph(call, spec), numbers, facts)[1]
        assert not found, f"{label}: {found}"


@pytest.mark.parametrize("shape", [(0, 6), (4, 0), (0, 0), (2, 6)])
def test_sizes_that_are_0_when_the_graph_runs(shape: tuple[int, int]) -> None:
    for spec in ((None, shape[1]), (None, None)):
        for label, call in FEW.items():
            if " min " in label or " max " in label:
                continue
            found = differences(in_graph(call, spec), lambda: tf.zeros(shape), facts)[1]
            assert not found, f"{label}: {found}"


def test_a_0_that_is_known_stays_known() -> None:
    shapes = []

    @tf.function(input_signature=[tf.TensorSpec((None, 0, 3))])
    def traced(x: Any) -> Any:
        shapes.append(einrs.rearrange(x, "a b c -> b (a c)").shape.as_list())
        shapes.append(einrs.repeat(x, "a b c -> a b (k c)", k=2).shape.as_list())
        assert einrs.parse_shape(x, "_ b c") == {"b": 0, "c": 3}
        return einrs.rearrange(x, "a b c -> (a b) c")

    assert traced(tf.zeros((5, 0, 3))).shape == (0, 3)
    assert shapes == [[0, None], [None, 0, 6]]


# A pattern, the shape that a graph is built for, and one that does not fit: where -1 stood for
# the open size, elements would be regrouped.
HAZARDS: dict[str, tuple[str, dict[str, int], tuple[Any, ...], tuple[int, ...]]] = {
    "an axis of given length": ("a b -> (a b)", {"a": 3}, (None, 4), (4, 4)),
    "a group of given length": ("a (b c) -> a b c", {"b": 2, "c": 3}, (None, None), (6, 2)),
    "a group between": ("a (b c) d -> a b c d", {"b": 2, "c": 3}, (4, None, 2), (4, 12, 2)),
    "a given axis next to an open one": ("a b c -> a (b c)", {"a": 2}, (None, None, 4), (4, 3, 4)),
    "a remainder": ("(a b) c -> a b c", {"b": 2}, (None, 3), (3, 3)),
    "a remainder that another axis makes up for": (
        *("c (a b) -> (c a) b", {"b": 2}),
        *((2, None), (2, 3)),
    ),
    "a remainder before a merge": ("(a b) c -> b (a c)", {"b": 2}, (None, 2), (3, 2)),
    "two remainders": ("(a b) (c d) -> a b c d", {"b": 2, "d": 3}, (None, None), (3, 2)),
    "remainders that multiply to none": (
        "(a b) (c d) -> (a c) (b d)",
        {"b": 4, "d": 1},
        *[
            (None, None),
            (2, 2),
        ],
    ),
}


@pytest.mark.parametrize(("pattern", "lengths", "spec", "shape"), HAZARDS.values(), ids=HAZARDS)
def test_a_wrong_size_fails(
    pattern: str, lengths: dict[str, int], spec: Any, shape: tuple[int, ...]
) -> None:
    for module in (einops, einrs):
        traced = tf.function(
            lambda x, module=module: module.rearrange(x, pattern, **lengths),
            input_signature=[tf.TensorSpec(spec)],
            autograph=False,
        )
        with pytest.raises(tf.errors.InvalidArgumentError):
            traced(tf.zeros(shape))


@pytest.mark.parametrize("given", ["tensor", "another tensor's size"])
def test_a_wrong_length_that_the_graph_computes_fails(given: str) -> None:
    @tf.function(
        input_signature=[tf.TensorSpec((None, 6)), tf.TensorSpec((None,))], autograph=False
    )
    def traced(x: Any, other: Any) -> Any:
        sizes = {"tensor": tf.size(other), "another tensor's size": None}
        length = sizes[given]
        if length is None:
            length = einrs.parse_shape(other, "length")["length"]
        return einrs.rearrange(x, "(b c) d -> b c d", b=length, c=4)

    x = tf.reshape(tf.range(48.0), (8, 6))
    assert traced(x, tf.zeros(2)).shape == (2, 4, 6)
    for wrong in (1, 3, 4):
        with pytest.raises(tf.errors.InvalidArgumentError):
            traced(x, tf.zeros(wrong))


LENGTHS: dict[str, Callable[[], Any]] = {
    "a tensor": lambda: tf.constant(2),
    "a long tensor": lambda: tf.cast(tf.constant(2), "int64"),
    "a variable": lambda: TWO,
}
TWO = tf.Variable(2)


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("length", LENGTHS.values(), ids=LENGTHS)
def test_lengths_that_the_graph_computes(length: Callable[[], Any], spec: Any) -> None:
    for call in (
        lambda m, x: m.rearrange(x, "(a c) b -> c b a", c=length()),
        lambda m, x: m.rearrange(x, "a (b c) -> (a b) c", c=length()),
        lambda m, x: m.repeat(x, "a b -> (a k) b", k=length()),
        lambda m, x: m.reduce(x, "(a c) b -> c a", "max", c=length()),
    ):

        def value(m: Any, x: Any, call: Any = call) -> Any:
            return tf.function(lambda t: call(m, t), autograph=False).get_concrete_function(
                tf.TensorSpec(spec)
            )(x)

        ours = value(einrs, numbers())
        theirs = call(einops, numbers())
        assert ours.numpy().tolist() == theirs.numpy().tolist()


def nodes(call: Callable[[Any, Any], Any], module: Any, spec: Any) -> int:
    traced = tf.function(lambda x: call(module, x), autograph=False)
    return len(traced.get_concrete_function(tf.TensorSpec(spec)).graph.get_operations())


@pytest.mark.parametrize("spec", SPECS)
def test_the_number_of_nodes(spec: Any) -> None:
    for label, call in FEW.items():
        if " any " in label or " all " in label:
            continue
        theirs, ours = (nodes(call, module, spec) for module in (einops, einrs))
        assert ours <= (0.6 * theirs if None in spec else theirs), f"{label}: {ours} of {theirs}"


def test_what_only_moves_asks_for_no_size() -> None:
    # The input, the axes, the transpose and what the function returns.
    assert nodes(lambda m, x: m.rearrange(x, "a b c -> c a b"), einrs, (None, None, None)) == 4
    assert nodes(lambda m, x: m.rearrange(x, "a b c -> a b c"), einrs, (None, None, None)) == 2


@pytest.mark.parametrize("spec", [(None, 6), (None, None)])
def test_no_graph_is_kept_alive(spec: Any) -> None:
    def build() -> weakref.ref[Any]:
        @tf.function(input_signature=[tf.TensorSpec(spec)], autograph=False)
        def traced(x: Any) -> Any:
            sizes = einrs.parse_shape(x, "a b")
            x = einrs.rearrange(x, "(a c) b -> c a b", c=2)
            packed, shapes = einrs.pack([x, x], "* b")
            x, _ = einrs.unpack(packed, shapes, "* b")
            return einrs.repeat(x, "c a b -> (a c) b k", k=sizes["b"])

        assert traced(numbers()).shape == (4, 6, 6)
        return weakref.ref(traced.get_concrete_function().graph)

    graph = build()
    gc.collect()
    assert graph() is None


@pytest.mark.parametrize("spec", SPECS)
def test_compiled_by_xla(spec: Any) -> None:
    def body(x: Any) -> Any:
        x = einrs.rearrange(x, "(a c) (b d) -> b (a d) c", c=2, d=2)
        return einrs.repeat(einrs.reduce(x, "b a c -> b a", "sum"), "b a -> (a k) b", k=2)

    traced = tf.function(body, jit_compile=True, input_signature=[tf.TensorSpec(spec)])
    assert np.allclose(traced(numbers()).numpy(), body(numbers()).numpy())


def test_gradients_through_a_graph() -> None:
    for spec in SPECS:
        traced = tf.function(
            lambda x: einrs.reduce(x, "(a c) b -> b a", "sum", c=2) ** 2,
            input_signature=[tf.TensorSpec(spec)],
            autograph=False,
        )
        tensor = numbers()
        with tf.GradientTape() as tape:
            tape.watch(tensor)
            loss = tf.reduce_sum(traced(tensor))
        pairs = tensor.numpy().reshape(2, 2, 6).sum(1, keepdims=True).repeat(2, 1)
        assert np.allclose(tape.gradient(loss, tensor).numpy(), 2 * pairs.reshape(SHAPE))


def test_a_data_set() -> None:
    batches = tf.data.Dataset.from_tensor_slices(tf.reshape(tf.range(60.0), (10, 6))).batch(4)
    assert batches.element_spec.shape.as_list() == [None, 6]
    mapped = batches.map(lambda x: einrs.rearrange(x, "n (h w) -> n w h", h=2))
    shapes = [tuple(batch.shape) for batch in mapped]
    assert shapes == [(4, 3, 2), (4, 3, 2), (2, 3, 2)]


def test_maps() -> None:
    tensor = tf.reshape(tf.range(24.0), (2, 3, 4))
    body = lambda x: einrs.rearrange(x, "a (b c) -> c (a b)", c=2)  # noqa: E731
    expected = tf.stack([body(tensor[0]), body(tensor[1])]).numpy().tolist()
    assert tf.map_fn(body, tensor).numpy().tolist() == expected
    assert tf.vectorized_map(body, tensor).numpy().tolist() == expected


def test_a_branch() -> None:
    @tf.function(input_signature=[tf.TensorSpec((None, None)), tf.TensorSpec((), tf.bool)])
    def traced(x: Any, turned: Any) -> Any:
        sizes = einrs.parse_shape(x, "a b")
        if turned:
            result = einrs.rearrange(x, "(a c) b -> c (b a)", c=2)
        else:
            result = einrs.rearrange(x, "a b -> (a b)")[None]
        return result, sizes["a"] * sizes["b"]

    for turned, shape in ((True, (2, 12)), (False, (1, 24))):
        result, size = traced(numbers(), tf.constant(turned))
        assert (tuple(result.shape), int(size)) == (shape, 24)


def test_eager_tensors_and_variables_that_a_graph_meets() -> None:
    constant, variable = numbers(), tf.Variable(numbers())

    @tf.function
    def traced() -> Any:
        return [einrs.rearrange(x, "(a c) b -> c b a", c=2) for x in (constant, variable)]

    for result in traced():
        assert (
            result.numpy().tolist() == constant.numpy().reshape(2, 2, 6).transpose(1, 2, 0).tolist()
        )
    assert len(traced.get_concrete_function().graph.captures) == 2


def test_a_repeat_is_a_tile_in_graphs() -> None:
    """Programs that convert graphs know it; an eager tensor that a graph meets is no exception."""
    constant = numbers()
    assert einrs.repeat(constant, "a b -> a (b k)", k=2).shape == (4, 12)
    traced = tf.function(lambda: einrs.repeat(constant, "a b -> a (b k)", k=2), autograph=False)
    kinds = {node.type for node in traced.get_concrete_function().graph.get_operations()}
    assert "Tile" in kinds
    assert "BroadcastTo" not in kinds


VERSION_1 = """
import einops, numpy as np, tensorflow as tf, einrs

tf.compat.v1.disable_eager_execution()
x = tf.compat.v1.placeholder(tf.float32, (None, 6))
results = []
for module in (einops, einrs):
    length = module.parse_shape(x, "a b")["a"] // 2
    results.append(module.rearrange(x, "(a c) b -> c b a", c=length))
    results.append(module.repeat(x, "a b -> (a k) b", k=tf.constant(2)))
    results.append(module.reduce(x, "(a 2) b -> a b", "sum"))
with tf.compat.v1.Session() as session:
    values = session.run(results, {x: np.arange(24).reshape(4, 6)})
for theirs, ours in zip(values[:3], values[3:], strict=True):
    assert theirs.tolist() == ours.tolist()
print("right")
"""


def test_graphs_of_version_1() -> None:
    program = [sys.executable, "-c", VERSION_1]
    done = subprocess.run(program, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout == "right\n", done.stderr


def test_einsum_pack_and_unpack() -> None:
    @tf.function(input_signature=[tf.TensorSpec((None, None, 3)), tf.TensorSpec((None, 3))])
    def traced(x: Any, y: Any) -> Any:
        packed, shapes = einrs.pack([x, y], "* c")
        assert all(tf.is_tensor(size) for shape in shapes for size in shape)
        first, second = einrs.unpack(packed, shapes, "* c")
        again = einrs.unpack(packed, [(2, -1), (5,)], "* c")
        return packed, first, second, *again, einrs.einsum(x, y, "a b c, d c -> a b d")

    x, y = tf.random.normal((2, 4, 3)), tf.random.normal((5, 3))
    packed, first, second, third, fourth, product = traced(x, y)
    assert packed.shape == (13, 3)
    for ours, theirs in ((first, x), (second, y), (third, x), (fourth, y)):
        assert ours.numpy().tolist() == theirs.numpy().tolist()
    assert np.allclose(product.numpy(), x.numpy() @ y.numpy().T)


WRONG: dict[str, tuple[Callable[[Any], Any], Any, str]] = {
    "the rank": (lambda x: einrs.rearrange(x, "a b c -> b c a"), (None, 6), "xpected 3 dims"),
    "a known size": (
        lambda x: einrs.rearrange(x, "a (b c) -> a b c", c=4),
        (None, 6),
        r"sizes \(None, 6\)|in chunks of 4",
    ),
    "no rank": (lambda x: einrs.rearrange(x, "a b -> b a"), None, "rank is unknown"),
    "no values": (einrs.asnumpy, (4, 6), "no values"),
    "a float": (
        lambda x: einrs.rearrange(x, "(a b) c -> a b c", b=tf.reduce_sum(x)),
        (None, 6),
        "must be an integer",
    ),
}


@pytest.mark.parametrize(("call", "spec", "message"), WRONG.values(), ids=WRONG)
def test_errors_while_a_graph_is_built(call: Callable[[Any], Any], spec: Any, message: str) -> None:
    with pytest.raises(einrs.EinopsError, match=message):
        tf.function(call, autograph=False).get_concrete_function(tf.TensorSpec(spec))


def test_ragged_tensors_are_refused() -> None:
    @tf.function(autograph=False)
    def traced(x: Any) -> Any:
        return einrs.rearrange(x, "a b -> b a")

    with pytest.raises(RuntimeError, match="Tensor type unknown to einops"):
        traced(tf.ragged.constant([[1], [2, 3]]))
