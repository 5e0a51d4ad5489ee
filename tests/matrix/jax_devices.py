"""Runs operations on arrays that lie on several devices, beside hand-written code, to JSON.

The arguments are the names of the operations.
"""

import json
import os
import sys
from collections.abc import Callable
from typing import Any

# jax reads them when it is first imported.
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
from compare import Function, Mode, check
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P
from jax_operations import OPERATIONS, numbers, same_values, total

DEVICES = 4


def same(ours: Any, theirs: Any) -> None:
    """Asserts equal values that lie on the same devices in the same way."""
    assert jax.tree.structure(ours) == jax.tree.structure(theirs)
    for one, other in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        assert jax.typeof(one) == jax.typeof(other)
        assert one.committed == other.committed
        assert one.sharding.is_equivalent_to(other.sharding, one.ndim)
        same_values(one, other)


def mesh(kind: AxisType) -> Any:
    return jax.make_mesh((2, 2), ("x", "y"), axis_types=(kind, kind))


def loss(function: Function) -> Function:
    return lambda x: total(function(x))


def placed(kind: AxisType, *axes: str | None) -> Any:
    return jax.device_put(numbers(DEVICES), NamedSharding(mesh(kind), P(*axes)))


def on_mesh(kind: AxisType, wrap: Callable[[Function], Function], *axes: str | None) -> Mode:
    def run(function: Function) -> Any:
        with jax.set_mesh(mesh(kind)):
            return wrap(function)(placed(kind, *axes))

    return run


def mapped_over_shards(function: Function) -> Any:
    over = jax.shard_map(function, mesh=mesh(AxisType.Auto), in_specs=P("x"), out_specs=P("x"))
    return jax.jit(over)(numbers(DEVICES)), jax.grad(loss(over))(numbers(DEVICES))


def collected(function: Function) -> Any:
    def shard(x: Any) -> Any:
        return jax.tree.map(lambda leaf: jax.lax.psum(leaf, "x"), function(x))

    return jax.shard_map(shard, mesh=mesh(AxisType.Auto), in_specs=P("x"), out_specs=P())(
        numbers(DEVICES)
    )


def parts() -> Any:
    return jnp.stack([numbers(2) + i for i in range(DEVICES)])


def summed(function: Function) -> Function:
    return lambda x: jax.tree.map(lambda leaf: jax.lax.psum(leaf, "i"), function(x))


def constrained(function: Function) -> Any:
    rows = NamedSharding(mesh(AxisType.Auto), P("x"))

    def f(x: Any) -> Any:
        held = jax.lax.with_sharding_constraint(x, rows)
        return jax.lax.with_sharding_constraint(function(held), rows)

    return jax.jit(f)(numbers(DEVICES))


def elsewhere(function: Function) -> Any:
    x = jax.device_put(numbers(), jax.devices()[2])
    return function(x), jax.jit(function)(x), function(x)


def laid_out(function: Function) -> Any:
    rows = NamedSharding(mesh(AxisType.Auto), P("x"))
    f = jax.jit(function, in_shardings=rows, out_shardings=rows, donate_argnums=0)
    return f(jax.device_put(numbers(DEVICES), rows))


def computed_eagerly(function: Function) -> Any:
    """By values alone: XLA chooses where results lie, for one step or for all at once."""
    x = placed(AxisType.Auto, "x", None, "y")
    return [jax.device_put(jax.device_get(function(x)), jax.devices()[0]) for _ in range(2)]


AUTO, EXPLICIT = AxisType.Auto, AxisType.Explicit
MODES: dict[str, Mode] = {
    "pmap": lambda f: jax.pmap(f)(parts()),
    "pmap: psum": lambda f: jax.pmap(summed(f), axis_name="i")(parts()),
    "pmap of grad": lambda f: jax.pmap(jax.grad(loss(f)))(parts()),
    "shard_map": mapped_over_shards,
    "shard_map: psum": collected,
    "auto mesh: eager": computed_eagerly,
    "auto mesh: jit": on_mesh(AUTO, jax.jit, "x", None, "y"),
    "auto mesh: grad": on_mesh(AUTO, lambda f: jax.jit(jax.grad(loss(f))), "x"),
    "explicit mesh: first axis, eager": on_mesh(EXPLICIT, lambda f: f, "x"),
    "explicit mesh: first axis, jit": on_mesh(EXPLICIT, jax.jit, "x"),
    "explicit mesh: last axis, eager": on_mesh(EXPLICIT, lambda f: f, None, None, "y"),
    "explicit mesh: last axis, jit": on_mesh(EXPLICIT, jax.jit, None, None, "y"),
    "explicit mesh: grad": on_mesh(EXPLICIT, lambda f: jax.grad(loss(f)), "x", None, "y"),
    "with_sharding_constraint": constrained,
    "in_shardings, donated": laid_out,
    "another device": elsewhere,
}


def outcome(mode: Mode, operation: str) -> list[str]:
    """What a cell says, and why."""
    row, reasons = OPERATIONS[operation], []
    try:
        check(mode, row.ours, row.hand, same, reasons.append)
    except Exception as error:
        return ["fails", f"{type(error).__name__}: {error}"]
    return ["alike", reasons[0]] if reasons else ["passes", ""]


if __name__ == "__main__":
    assert len(jax.devices()) == DEVICES
    json.dump(
        {name: {row: outcome(mode, row) for row in sys.argv[1:]} for name, mode in MODES.items()},
        sys.stdout,
    )
