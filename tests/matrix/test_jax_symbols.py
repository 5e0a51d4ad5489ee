"""Checks jax.export of every operation for symbolic sizes and lengths, at several real ones."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")
for name in ("flax", "equinox"):
    pytest.importorskip(name)

from compare import Function, Mode, check, never, observed  # noqa: E402
from jax import export  # noqa: E402
from jax_operations import EACH, FUNCTIONS, OPERATIONS, numbers, same, same_values, total  # noqa: E402

import einrs  # noqa: E402

pytestmark = pytest.mark.needs_jax
TAKE_LENGTHS = ["rearrange", "reduce", "reduce by a callable", "repeat", "pack", "unpack"]


def symbols(text: str, *constraints: str) -> Any:
    return jax.ShapeDtypeStruct(export.symbolic_shape(text, constraints=constraints), "float32")


def exported(function: Function, text: str, *constraints: str) -> Any:
    return export.export(jax.jit(function))(symbols(text, *constraints))


def array(*shape: int) -> Any:
    return jax.numpy.asarray(np.random.default_rng(0).standard_normal(shape), "float32")


def at(text: str, *shapes: tuple[int, ...], constraints: tuple[str, ...] = ()) -> Mode:
    """The shapes that an export promises, and results at real ones."""

    def run(function: Function) -> Any:
        graph = exported(function, text, *constraints)
        return str(graph.out_avals), [graph.call(array(*shape)) for shape in shapes]

    return run


def saved(function: Function) -> Any:
    data = exported(function, "b, 6, 4").serialize()
    graph = export.deserialize(data)
    return [graph.call(numbers(batch)) for batch in (1, 5)]


def differentiated(function: Function) -> Any:
    graph = export.export(jax.jit(lambda x: total(function(x))))(symbols("b, 6, 4"))
    again = export.deserialize(graph.serialize(vjp_order=1))
    return jax.grad(again.call)(numbers(5))


def by_a_symbolic_length(function: Function) -> Any:
    """The number of heads is a size; that of channels is one as well, so that jax can find both."""

    def f(x: Any, heads: Any, _: Any) -> Any:
        return function(x, heads.shape[0])

    *shape, n, c = export.symbolic_shape("b, n*c, 4, n, c", constraints=("c*n >= 2*n",))
    shapes = [jax.ShapeDtypeStruct(one, "float32") for one in (shape, (n,), (c,))]
    graph = export.export(jax.jit(f))(*shapes)
    sizes = ((3, 2, 3), (2, 3, 4))
    return [graph.call(array(b, n * c, 4), array(n), array(c)) for b, n, c in sizes]


def shapes_alone(function: Function) -> Any:
    return str(jax.eval_shape(function, symbols("b, 2*c, 4", "c >= 2")))


MODES: dict[str, Mode] = {
    "export": lambda f: export.export(jax.jit(f))(numbers()).call(numbers()),
    "export: symbolic batch": at("b, 6, 4", (1, 6, 4), (5, 6, 4)),
    "export: symbolic sizes": at("b, 2*c, 4", (3, 6, 4), (1, 8, 4), constraints=("c >= 2",)),
    "export: saved": saved,
    "export: gradients": differentiated,
    "eval_shape: symbolic sizes": shapes_alone,
}


@pytest.mark.cell("jax")
@pytest.mark.parametrize("operation", EACH)
@pytest.mark.parametrize("mode", MODES)
def test_modes(mode: str, operation: str, alike: Any) -> None:
    row = OPERATIONS[operation]
    may_fail = operation == "asnumpy"
    check(MODES[mode], row.ours, row.hand, same, alike if may_fail else never)


@pytest.mark.cell("jax", mode="export: symbolic lengths")
@pytest.mark.parametrize("operation", TAKE_LENGTHS)
def test_symbolic_lengths(operation: str) -> None:
    row = OPERATIONS[operation]
    check(by_a_symbolic_length, row.ours, row.hand, same, never)


# --- an export for symbolic sizes never regroups the data of a size that does not fit

Case = tuple[Callable[[Any], Any], str, tuple[int, ...], list[tuple[int, ...]]]
BAD: dict[str, Case] = {
    "split": (lambda x: einrs.rearrange(x, "(a c) b -> c a b", c=4), "m, n", (8, 6), [(6, 6)]),
    "split, both lengths": (
        *(lambda x: einrs.rearrange(x, "(a c) b -> c a b", a=2, c=4), "m, 6"),
        *((8, 6), [(12, 6), (4, 6), (16, 6)]),
    ),
    "split between": (
        *(lambda x: einrs.rearrange(x, "a (b c) d -> a b c d", b=2, c=3), "4, m, 2"),
        *((4, 6, 2), [(4, 12, 2), (4, 3, 2)]),
    ),
    "a remainder before a merge": (
        *(lambda x: einrs.rearrange(x, "c (a b) -> (c a) b", b=2), "m, n"),
        *((2, 4), [(2, 3), (4, 5)]),
    ),
    "two remainders": (
        *(lambda x: einrs.rearrange(x, "(a b) (c d) -> (a c) (b d)", b=4, d=1), "m, n"),
        *((8, 2), [(2, 2), (6, 2)]),
    ),
    "given length": (lambda x: einrs.rearrange(x, "a b -> (a b)", a=3), "m, 4", (3, 4), [(4, 4)]),
    "unit axis": (lambda x: einrs.rearrange(x, "a 1 b -> b a"), "a, m, b", (4, 1, 6), [(4, 2, 6)]),
    "reduced unit": (lambda x: einrs.reduce(x, "a 1 -> a", "sum"), "a, m", (4, 1), [(4, 2)]),
    "pool": (lambda x: einrs.reduce(x, "(a 2) b -> a b", "max"), "m, n", (8, 6), [(7, 6)]),
    "repeat": (
        *(lambda x: einrs.repeat(x, "(a 2) b -> a b 2 k", k=2), "m, n"),
        *((8, 6), [(7, 6)]),
    ),
    "unpack": (
        *(lambda x: einrs.unpack(x, [(2,), (6,)], "* b"), "m, n"),
        *((8, 6), [(9, 6), (7, 6), (1, 6)]),
    ),
    "unpack, open": (
        *(lambda x: einrs.unpack(x, [(2,), (-1,), (3,)], "* b"), "m, n"),
        *((8, 6), [(1, 6), (4, 6)]),
    ),
    "unpack, open and split": (
        *(lambda x: einrs.unpack(x, [(2,), (-1, 3)], "* b"), "m, n"),
        *((8, 6), [(9, 6), (1, 6)]),
    ),
    "pack": (lambda x: einrs.pack([x, x[:2]], "a *")[0], "m, n", (2, 6), [(3, 6)]),
    "einsum": (lambda x: einrs.einsum(x, x, "a b, b a -> a"), "m, n", (6, 6), [(3, 6)]),
}


@pytest.mark.cell("jax", mode="export: sizes that do not fit", operation="every function")
@pytest.mark.parametrize("case", BAD)
def test_sizes_that_do_not_fit(case: str) -> None:
    """What eager code refuses, the export refuses: when it is made, or when it is called."""
    function, text, good, bad = BAD[case]
    made = observed(lambda f: exported(f, text), function)
    if made.error is None:
        jax.tree.map(same_values, made.result.call(array(*good)), function(array(*good)))
    for shape in bad:
        with pytest.raises(einrs.EinopsError):
            function(array(*shape))
        if made.error is None:
            assert observed(lambda f, s=shape: f(array(*s)), made.result.call).error is not None


@pytest.mark.cell("jax", mode="export: wrong patterns")
@pytest.mark.parametrize("operation", [name for name in FUNCTIONS if FUNCTIONS[name].wrong])
def test_wrong_patterns(operation: str) -> None:
    row = FUNCTIONS[operation]
    found = observed(lambda f: exported(f, "b, 6, 4"), lambda x: row.call(einrs, x, row.wrong, 2))
    eager = observed(lambda f: f(numbers()), lambda x: row.call(einrs, x, row.wrong, 2))
    assert isinstance(found.error, einrs.EinopsError)
    ours, expected = (str(error).splitlines() for error in (found.error, eager.error))
    # The line that shows the shape names its symbols.
    assert [line for line in ours if "b, " not in line] == [
        line for line in expected if "(2, " not in line
    ]
