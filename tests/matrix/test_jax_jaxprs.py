"""Checks the equations that a trace of each operation of jax consists of."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

jax = pytest.importorskip("jax")
for name in ("flax", "equinox"):
    pytest.importorskip(name)

from compare import Function  # noqa: E402
from jax_operations import FUNCTIONS, OPERATIONS, numbers, total  # noqa: E402

import einrs  # noqa: E402

pytestmark = pytest.mark.needs_jax
TRACED = [name for name in OPERATIONS if name != "asnumpy"]


def jaxpr(function: Function) -> Any:
    return jax.make_jaxpr(function)(numbers())


def equations(traced: Any) -> Iterator[Any]:
    """All equations, also those within others."""
    for equation in traced.eqns:
        yield equation
        for parameter in jax.tree.leaves(list(equation.params.values())):
            inner = getattr(parameter, "jaxpr", parameter)
            if hasattr(inner, "eqns"):
                yield from equations(inner)


def names(traced: Any) -> list[str]:
    """The functions that are left as one equation each."""
    found = [equation.params.get("name", "") for equation in equations(traced.jaxpr)]
    return [str(name) for name in found if name]


@pytest.mark.cell("jax", mode="make_jaxpr")
@pytest.mark.parametrize("operation", TRACED)
def test_equations(operation: str) -> None:
    """They are einops' own; a repeat has one less, and joins have those of hand-written code."""
    row = OPERATIONS[operation]
    row.ours(numbers())
    ours, theirs = jaxpr(row.ours), jaxpr(row.traced)
    assert not any("einrs" in name for name in names(ours))
    if operation.lower().endswith("repeat"):
        assert [equation.primitive.name for equation in ours.eqns] == [
            "broadcast_in_dim",
            "reshape",
        ]
        assert len(ours.eqns) < len(list(equations(jaxpr(EINOPS_REPEAT).jaxpr)))
    else:
        assert str(ours) == str(theirs)


EINOPS_REPEAT = FUNCTIONS["repeat"].einops


@pytest.mark.cell("jax", mode="make_jaxpr: grad")
@pytest.mark.parametrize("operation", TRACED)
def test_equations_of_gradients(operation: str) -> None:
    row = OPERATIONS[operation]
    ours, theirs = (
        jaxpr(jax.grad(lambda x, f=function: total(f(x)))) for function in (row.ours, row.traced)
    )
    counts = [Counter(e.primitive.name for e in equations(t.jaxpr)) for t in (ours, theirs)]
    if operation.lower().endswith("repeat"):
        assert counts[0].total() < counts[1].total()
    else:
        assert counts[0] == counts[1]
    assert not any("einrs" in name for name in names(ours))


@pytest.mark.cell("jax", mode="make_jaxpr: concrete arrays")
@pytest.mark.parametrize("operation", OPERATIONS)
def test_concrete_arrays_leave_no_function(operation: str) -> None:
    """They are served by compiled functions, which a trace takes apart, or has run already."""
    constant, row = numbers(), OPERATIONS[operation]
    for _ in range(2):
        traced = jaxpr(lambda x: (x, jax.tree.map(lambda y: y * x.sum(), row.ours(constant))))
        assert not any("einrs" in name for name in names(traced))
        einrs.cache_clear()
