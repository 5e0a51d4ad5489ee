"""Checks what the graphs of each operation know, hold, refuse and keep alive, beside einops'."""

import gc
import weakref
from collections.abc import Callable
from typing import Any

import einops
import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")
pytest.importorskip("keras")

from compare import Function, observed  # noqa: E402
from tensorflow_operations import (  # noqa: E402
    FUNCTIONS,
    LAYERS,
    OPERATIONS,
    POOL,
    numbers,
    same,
)

import einrs  # noqa: E402
from einrs.layers import tensorflow as layers  # noqa: E402

SPECS = {
    "known sizes": (3, 6, 4),
    "open batch": (None, 6, 4),
    "open channels": (3, None, 4),
    "open width": (3, 6, None),
    "open batch and channels": (None, None, 4),
    "all sizes open": (None, None, None),
}
IN_GRAPHS = [name for name in FUNCTIONS if name != "asnumpy"]
MIX_NEEDS = "open width", "all sizes open"


def concrete(function: Function, spec: Any) -> Any:
    traced = tf.function(function, autograph=False)
    return traced.get_concrete_function(tf.TensorSpec(spec))


def by(module: Any, operation: str) -> Function:
    row = FUNCTIONS[operation]
    return lambda x: row.call(module, x, row.pattern)


def static_shapes(graph: Any) -> list[list[int | None]]:
    return [leaf.shape.as_list() for leaf in tf.nest.flatten(graph.structured_outputs)]


@pytest.mark.cell("tensorflow", mode="static shapes")
@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("operation", IN_GRAPHS)
def test_static_shapes(operation: str, spec: str) -> None:
    """A size that einops' graph knows, ours knows as well."""
    ours = static_shapes(concrete(by(einrs, operation), SPECS[spec]))
    theirs = observed(lambda f: static_shapes(concrete(f, SPECS[spec])), by(einops, operation))
    if theirs.error is None:
        for one, other in zip(ours, theirs.result, strict=True):
            assert len(one) == len(other)
            known = [pair for pair in zip(one, other, strict=True) if pair[1] is not None]
            assert all(mine == size for mine, size in known), (ours, theirs.result)
    batch = {"open batch": 2, "all sizes open": 2}.get(spec, 3)
    result = tf.nest.flatten(OPERATIONS[operation].hand(numbers(batch)))
    for one, value in zip(ours, result, strict=True):
        assert value.shape.is_compatible_with(one)


def nodes(function: Function, spec: Any) -> int:
    """The nodes of a graph, without those for what goes in and comes out."""
    kinds = [node.type for node in concrete(function, spec).graph.get_operations()]
    return len(kinds) - kinds.count("Placeholder") - kinds.count("Identity")


COUNTED: dict[str, Callable[[Any, Any], Any]] = {
    **{
        name: lambda m, x, name=name: by(m, name)(x)
        for name in ("rearrange", "reduce", "repeat", "einsum", "unpack")
    },
    "reduce by a callable": lambda m, x: m.reduce(x, POOL, tf.reduce_sum, h=2),
    "pack": lambda m, x: m.pack([x, x], "* d"),
    "parse_shape": lambda m, x: m.parse_shape(x, "batch c d"),
}
"""By themselves, without the nodes of other calls in the same row."""

AT_MOST = {"einsum": 1, "pack": 0.7}
"""Parts of einops' nodes, where that is not 0.6. An einsum is one node on both sides; what pack
returns are a reshape of each tensor, their concatenation, and sizes that must be measured."""


@pytest.mark.cell("tensorflow", mode="number of nodes")
@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("operation", COUNTED)
def test_number_of_nodes(operation: str, spec: str) -> None:
    call, shape = COUNTED[operation], SPECS[spec]
    theirs, ours = (nodes(lambda x, m=m: call(m, x), shape) for m in (einops, einrs))
    share = AT_MOST.get(operation, 0.6) if None in shape else 1
    assert ours <= share * theirs, f"{ours} of {theirs}"


@pytest.mark.cell("tensorflow", mode="no graph is kept alive")
@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("operation", [*IN_GRAPHS, *LAYERS])
def test_no_graph_is_kept_alive(operation: str, spec: str) -> None:
    if operation == "EinMix" and SPECS[spec][2] is None:
        # Keras refuses to leave open what the layer has weights for.
        spec = "open batch"
    graph = weakref.ref(concrete(OPERATIONS[operation].ours, SPECS[spec]).graph)
    gc.collect()
    assert graph() is None


# --- sizes that do not fit when a graph runs

Case = tuple[Callable[[Any], Any], Any, tuple[int, ...], list[tuple[int, ...]]]
BAD: dict[str, Case] = {
    "rearrange": (
        *(lambda x: einrs.rearrange(x, "(a b) c -> b (a c)", b=2), (None, None)),
        *((4, 6), [(3, 2), (5, 4)]),
    ),
    "rearrange: all lengths given": (
        *(lambda x: einrs.rearrange(x, "a (b c) -> (a c) b", b=2, c=3), (None, None)),
        *((4, 6), [(4, 3), (1, 12), (6, 2)]),
    ),
    "rearrange: a unit axis": (
        *(lambda x: einrs.rearrange(x, "a 1 b -> (b a)"), (None, None, None)),
        *((4, 1, 6), [(4, 2, 6), (4, 0, 6)]),
    ),
    "reduce": (
        *(lambda x: einrs.reduce(x, "(a 2) b -> b", "sum"), (None, None)),
        *((4, 6), [(3, 2), (5, 4)]),
    ),
    "reduce by a callable": (
        *(lambda x: einrs.reduce(x, "a (b c) -> a c", tf.reduce_sum, c=4), (3, None)),
        *((3, 8), [(3, 6), (3, 2)]),
    ),
    "repeat": (
        *(lambda x: einrs.repeat(x, "(a c) b -> (a k c) b", c=2, k=4), (None, 3)),
        *((4, 3), [(3, 3), (1, 3)]),
    ),
    "einsum": (
        *(lambda x: einrs.einsum(x, x, "a b, b c -> a c"), (None, None)),
        *((3, 3), [(3, 4)]),
    ),
    "pack": (
        *(lambda x: einrs.pack([x, x[:2]], "a *")[0], (None, None)),
        *((2, 6), [(3, 6)]),
    ),
    "unpack": (
        *(lambda x: einrs.unpack(x, [(2,), (6,)], "* b"), (None, 6)),
        *((8, 6), [(9, 6), (7, 6), (1, 6)]),
    ),
    "unpack: one piece": (
        *(lambda x: einrs.unpack(x, [(8,)], "* b"), (None, 6)),
        *((8, 6), [(9, 6), (7, 6)]),
    ),
    "unpack: a split piece": (
        *(lambda x: einrs.unpack(x, [(2, 3), (2,)], "a *"), (None, None)),
        *((3, 8), [(3, 9), (4, 6)]),
    ),
    "unpack: -1": (
        *(lambda x: einrs.unpack(x, [(2,), (-1,), (3,)], "* b"), (None, None)),
        *((8, 6), [(1, 6), (4, 6)]),
    ),
    "unpack: -1 in a split piece": (
        *(lambda x: einrs.unpack(x, [(2,), (-1, 3)], "* b"), (None, 6)),
        *((8, 6), [(9, 6), (1, 6)]),
    ),
    "unpack: lengths that the graph measures": (
        *(lambda x: einrs.unpack(x, [(tf.shape(x)[1],), (2,)], "* b"), (None, None)),
        *((8, 6), [(9, 6), (8, 5), (6, 6)]),
    ),
    "unpack: one length that the graph measures": (
        *(lambda x: einrs.unpack(x, [(tf.shape(x)[1],)], "* b"), (8, None)),
        *((8, 8), [(8, 6), (8, 9)]),
    ),
    "parse_shape": (
        lambda x: einrs.rearrange(x, "(a b) c -> a b c", a=einrs.parse_shape(x, "_ c")["c"], b=2),
        *((None, None), (8, 4), [(8, 3), (6, 4)]),
    ),
    "Rearrange": (
        *(lambda x: layers.Rearrange("(a b) c -> b (a c)", b=2)(x), (None, None)),
        *((4, 6), [(3, 2), (5, 4)]),
    ),
    "Reduce": (
        *(lambda x: layers.Reduce("(a 2) b -> b", "max")(x), (None, None)),
        *((4, 6), [(3, 2), (5, 4)]),
    ),
    "Repeat": (
        *(lambda x: layers.Repeat("(a c) b -> (a k c) b", c=2, k=4)(x), (None, 3)),
        *((4, 3), [(3, 3), (1, 3)]),
    ),
}


def in_dataset(function: Function, spec: Any) -> Function:
    def run(x: Any) -> Any:
        data = tf.data.Dataset.from_tensors(x)
        # As of an unknown length, so that the graph knows no more than the spec.
        shape = tf.TensorShape(spec)
        data = data.map(
            lambda x: tf.ensure_shape(tf.numpy_function(np.copy, [x], "float32"), shape)
        )
        return next(iter(data.map(function)))

    return run


TRACERS: dict[str, Callable[[Function, Any], Function]] = {
    "tf.function": lambda f, spec: concrete(f, spec),
    "jit_compile": lambda f, spec: tf.function(
        f, input_signature=[tf.TensorSpec(spec)], autograph=False, jit_compile=True
    ),
    "Dataset.map": in_dataset,
}


@pytest.mark.cell("tensorflow")
@pytest.mark.parametrize("mode", [f"sizes that do not fit: {tracer}" for tracer in TRACERS])
@pytest.mark.parametrize(("operation", "case"), [(case.split(":")[0], case) for case in BAD])
def test_sizes_that_do_not_fit(mode: str, operation: str, case: str, alike: Any) -> None:
    """What eager code refuses, the graph refuses when it runs; for no size is data regrouped."""
    tracer = mode.rpartition(": ")[2]
    function, spec, good, bad = BAD[case]
    traced = TRACERS[tracer](function, spec)
    values = tf.reshape(tf.range(float(np.prod(good))), good)
    # A Dataset makes tuples of lists.
    same(tf.nest.flatten(traced(values)), tf.nest.flatten(function(values)))
    if (operation, tracer) == ("einsum", "jit_compile"):
        return alike("tf.einsum compiled by XLA compares no sizes")
    for shape in bad:
        x = tf.zeros(shape)
        with pytest.raises((einrs.EinopsError, tf.errors.InvalidArgumentError)):
            function(x)
        with pytest.raises((einrs.EinopsError, tf.errors.InvalidArgumentError, ValueError)):
            traced(x)
    return None


# --- what is refused while a graph is built

TRACES: dict[str, Callable[[Function], Any]] = {
    "tf.function": lambda f: tf.function(f, autograph=False)(numbers()),
    "tf.function: open batch": lambda f: concrete(f, (None, 6, 4)),
    "Dataset.map": lambda f: tf.data.Dataset.from_tensors(numbers()).map(
        tf.autograph.experimental.do_not_convert(f)
    ),
    "cond": lambda f: tf.function(
        lambda x: tf.cond(x[0, 0, 0] > 0, lambda: f(x), lambda: f(x)), autograph=False
    )(numbers()),
    "GradientTape": lambda f: tf.function(lambda x: tf.recompute_grad(f)(x), autograph=False)(
        numbers()
    ),
    "jit_compile": lambda f: tf.function(f, autograph=False, jit_compile=True)(numbers()),
}


def refused(mode: Callable[[Function], Any], function: Function) -> list[str]:
    with pytest.raises(einrs.EinopsError) as caught:
        mode(function)
    return str(caught.value).replace("None, ", "2, ").splitlines()


@pytest.mark.cell("tensorflow", mode="wrong patterns")
@pytest.mark.parametrize("operation", [name for name in FUNCTIONS if FUNCTIONS[name].wrong])
@pytest.mark.parametrize("trace", TRACES)
def test_errors(trace: str, operation: str) -> None:
    row = FUNCTIONS[operation]

    def function(x: Any) -> Any:
        return row.call(einrs, x, row.wrong)

    assert refused(TRACES[trace], function) == refused(lambda f: f(numbers()), function)


@pytest.mark.cell("tensorflow", mode="wrong patterns")
@pytest.mark.parametrize("operation", [name for name in FUNCTIONS if FUNCTIONS[name].wrong])
def test_errors_that_autograph_wraps(operation: str) -> None:
    """It shows every line in an error of its own, as for any class that it does not know."""
    row = FUNCTIONS[operation]

    def function(x: Any) -> Any:
        return row.call(einrs, x, row.wrong)

    with pytest.raises(Exception, match="EinopsError") as caught:
        tf.function(function)(numbers())
    wrapped = [line.strip() for line in str(caught.value).splitlines()]
    first, *others = [line.strip() for line in refused(lambda f: f(numbers()), function)]
    start = next(i for i, line in enumerate(wrapped) if line.endswith(first))
    assert wrapped[start + 1 :][: len(others)] == others
