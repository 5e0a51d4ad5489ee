"""Checks every operation in jax's transformations and settings, beside hand-written code."""

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import pytest

jax = pytest.importorskip("jax")
for name in ("flax", "equinox"):
    pytest.importorskip(name)
jnp = jax.numpy

from compare import Function, Mode, check, never  # noqa: E402
from jax.experimental import pallas  # noqa: E402
from jax_operations import EACH, FUNCTIONS, HEADS, JOIN, OPERATIONS, POOL, numbers, same, total  # noqa: E402

import einrs  # noqa: E402

pytestmark = pytest.mark.needs_jax


def pairs() -> Any:
    return jnp.stack([numbers(), numbers() + 1])


def loss(function: Function) -> Function:
    return lambda x: total(function(x))


def carried(function: Function) -> Any:
    def body(carry: Any, x: Any) -> Any:
        return carry + 1, function(x)

    return jax.lax.scan(body, 0, pairs())


def looped(function: Function) -> Any:
    both = pairs()

    def body(i: Any, sum_of_all: Any) -> Any:
        return sum_of_all + total(function(both[i]))

    return jax.lax.fori_loop(0, 2, body, 0.0)


def branches(function: Function) -> Any:
    def choose(turned: Any, x: Any) -> Any:
        return jax.lax.cond(turned, function, lambda x: function(x * 2), x)

    return [jax.jit(choose)(turned, numbers()) for turned in (True, False)]


def switched(function: Function) -> Any:
    choices = [function, lambda x: function(x + 1)]
    return jax.jit(lambda i, x: jax.lax.switch(i, choices, x))(1, numbers())


def own_derivative(function: Function) -> Any:
    @jax.custom_vjp
    def f(x: Any) -> Any:
        return function(x)

    f.defvjp(lambda x: jax.vjp(function, x), lambda back, given: back(given))
    return jax.grad(loss(f))(numbers())


def donated(function: Function) -> Any:
    x = numbers()
    result = jax.jit(function, donate_argnums=0)(x)
    return result, x.is_deleted()


def donated_after(function: Function) -> Any:
    """What einrs gives for a concrete array may be donated."""
    return jax.jit(lambda y: jax.tree.map(jnp.sin, y), donate_argnums=0)(function(numbers()))


def as_a_kernel(function: Function) -> Any:
    results, tree = jax.tree.flatten(jax.eval_shape(function, numbers()))

    # A kernel closes over no arrays, such as weights: it is given them.
    traced = jax.make_jaxpr(function)(numbers())
    constants = traced.consts

    def body(x: Any, *given: Any) -> Any:
        return jax.core.eval_jaxpr(traced.jaxpr, given, x) if constants else function(x)

    def kernel(source: Any, *others: Any) -> None:
        given, targets = others[: len(constants)], others[len(constants) :]
        values = jax.tree.leaves(body(source[...], *[one[...] for one in given]))
        for target, value in zip(targets, values, strict=True):
            target[...] = value

    call = pallas.pallas_call(kernel, out_shape=results, interpret=True)
    return jax.tree.unflatten(tree, call(numbers(), *constants))


def weak(function: Function) -> Any:
    x = jnp.broadcast_to(jnp.asarray(2.0), (2, 6, 4))
    assert x.weak_type
    return function(x), jax.jit(function)(x)


def keys(function: Function) -> Any:
    many = jax.random.split(jax.random.key(0), (2, 6, 4))
    return function(many), jax.jit(function)(many), jax.vmap(function)(many[None])


def of_dtype(*dtypes: str) -> Mode:
    def run(function: Function) -> Any:
        return [jax.jit(function)(numbers(2).astype(dtype)) for dtype in dtypes]

    return run


def with_settings(*settings: Callable[[], AbstractContextManager[Any]]) -> Mode:
    def run(function: Function) -> Any:
        with ExitStack() as stack:
            for setting in settings:
                stack.enter_context(setting())
            return function(numbers()), jax.jit(jax.value_and_grad(loss(function)))(numbers())

    return run


def in_64_bits(function: Function) -> Any:
    with jax.enable_x64(True):
        x = numbers(dtype="float64")
        return function(x), jax.jit(function)(x), jax.grad(loss(function))(x)


def at_compile_time(function: Function) -> Any:
    constant = numbers()

    def f(scale: Any) -> Any:
        with jax.ensure_compile_time_eval():
            values = function(constant)
        assert not any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(values))
        return jax.tree.map(lambda leaf: leaf * scale, values)

    return jax.jit(f)(2.0)


def closed_over(function: Function) -> Any:
    constant = numbers()
    return jax.jit(lambda scale: jax.tree.map(lambda y: y * scale, function(constant)))(2.0)


def ahead_of_time(function: Function) -> Any:
    lowered = jax.jit(function).lower(jax.ShapeDtypeStruct((2, 6, 4), "float32"))
    return lowered.compile()(numbers()), jax.tree.structure(lowered.out_info)


def called_back(function: Function) -> Any:
    """On the arrays that a host callback is given."""
    shapes = jax.eval_shape(function, numbers())
    return jax.jit(lambda x: jax.pure_callback(function, shapes, x))(numbers())


MODES: dict[str, Mode] = {
    "eager": lambda f: [f(numbers(batch)) for batch in (2, 5)],
    "jit": lambda f: [jax.jit(f)(numbers(batch)) for batch in (2, 5)],
    "jit: static length": lambda f: jax.jit(f, static_argnums=1)(numbers(), 2),
    "jit: nested": lambda f: jax.jit(jax.jit(f))(numbers()),
    "lower and compile": ahead_of_time,
    "vmap": lambda f: jax.vmap(f)(pairs()),
    "vmap: last axis": lambda f: jax.vmap(f, 3, -1)(jnp.moveaxis(pairs(), 0, 3)),
    "vmap: nested": lambda f: jax.jit(jax.vmap(jax.vmap(f)))(pairs()[None]),
    "vmap of grad": lambda f: jax.vmap(jax.grad(loss(f)))(pairs()),
    "grad": lambda f: jax.grad(loss(f))(numbers()),
    "grad of grad": lambda f: jax.grad(lambda x: total(jax.grad(loss(f))(x)))(numbers()),
    "value_and_grad under jit": lambda f: jax.jit(jax.value_and_grad(loss(f)))(numbers()),
    "jvp": lambda f: jax.jvp(f, (numbers(),), (numbers() + 1,)),
    "vjp": lambda f: jax.vjp(loss(f), numbers())[1](1.0),
    "linearize": lambda f: jax.linearize(f, numbers())[1](numbers() + 1),
    "hessian": lambda f: jax.hessian(loss(f))(numbers(1)),
    "jacfwd and jacrev": lambda f: (jax.jacfwd(f)(numbers(1)), jax.jacrev(f)(numbers(1))),
    "checkpoint": lambda f: jax.grad(loss(jax.checkpoint(f)))(numbers()),
    "custom_vjp": own_derivative,
    "scan": carried,
    "grad of scan": lambda f: jax.grad(
        lambda s: total(jax.lax.scan(lambda c, x: (c, f(x * s)), 0, pairs())[1])
    )(2.0),
    "fori_loop": looped,
    "cond": branches,
    "switch": switched,
    "lax.map": lambda f: jax.lax.map(f, pairs()),
    "lax.map: batches": lambda f: jax.lax.map(f, pairs(), batch_size=2),
    "eval_shape": lambda f: jax.tree.map(repr, jax.eval_shape(f, numbers())),
    "ensure_compile_time_eval": at_compile_time,
    "closed over": closed_over,
    "pure_callback": called_back,
    "donated": donated,
    "donated results": donated_after,
    "pallas, interpreted": as_a_kernel,
    "weak types": weak,
    "random keys": keys,
    "half precision": of_dtype("float16", "bfloat16"),
    "integers and bools": of_dtype("int32", "uint8", "bool"),
    "complex numbers": of_dtype("complex64"),
    "enable_x64": in_64_bits,
    "debug_nans": with_settings(lambda: jax.debug_nans(True), lambda: jax.debug_infs(True)),
    "checking_leaks": with_settings(jax.checking_leaks),
    "disable_jit": with_settings(jax.disable_jit),
    "strict promotions": with_settings(
        lambda: jax.numpy_rank_promotion("raise"), lambda: jax.numpy_dtype_promotion("strict")
    ),
    "transfer_guard": with_settings(lambda: jax.transfer_guard_device_to_device("disallow")),
}


@pytest.mark.cell("jax")
@pytest.mark.parametrize("operation", EACH)
@pytest.mark.parametrize("mode", MODES)
def test_modes(mode: str, operation: str, alike: Any) -> None:
    row = OPERATIONS[operation]
    may_fail = operation == "asnumpy" or (mode == "random keys" and computes(operation))
    check(MODES[mode], row.ours, row.hand, same, alike if may_fail else never)


def computes(operation: str) -> bool:
    """Whether it does more than to move elements."""
    return any(part in operation.lower() for part in ("reduce", "einsum", "einmix"))


# --- what is refused is refused in a trace by the same words

TRACES: dict[str, Mode] = {
    "jit": lambda f: jax.jit(f)(numbers()),
    "vmap": lambda f: jax.vmap(f)(pairs()),
    "grad": lambda f: jax.grad(loss(f))(numbers()),
    "jvp": lambda f: jax.jvp(f, (numbers(),), (numbers(),)),
    "linearize": lambda f: jax.linearize(f, numbers()),
    "checkpoint": lambda f: jax.checkpoint(f)(numbers()),
    "scan": carried,
    "cond": branches,
    "lax.map": lambda f: jax.lax.map(f, pairs()),
    "eval_shape": lambda f: jax.eval_shape(f, numbers()),
    "pallas, interpreted": as_a_kernel,
}


def refused(mode: Mode, function: Function) -> tuple[type, list[str]]:
    with pytest.raises(einrs.EinopsError) as caught:
        mode(function)
    return type(caught.value), str(caught.value).splitlines()


WRONG_LENGTHS: dict[str, Function] = {
    "rearrange": lambda x: einrs.rearrange(x, HEADS, h=4),
    "reduce": lambda x: einrs.reduce(x, POOL, "sum", h=4),
    "reduce by a callable": lambda x: einrs.reduce(x, POOL, jax.numpy.max, h=4),
    "repeat": lambda x: einrs.repeat(x, "b c d -> b c (d k)", k=2, d=3),
    "einsum": lambda x: einrs.einsum(x, x, "a b c, a c b -> a"),
    "pack": lambda x: einrs.pack([x, x[:, :, 1:]], JOIN),
    "unpack": lambda x: einrs.unpack(x, [(2,), (3,)], JOIN),
    "parse_shape": lambda x: einrs.parse_shape(x, "batch 7 d"),
}


@pytest.mark.cell("jax")
@pytest.mark.parametrize("operation", [name for name in FUNCTIONS if FUNCTIONS[name].wrong])
@pytest.mark.parametrize("trace", TRACES)
@pytest.mark.parametrize("mode", ["wrong patterns and lengths"])
def test_errors(mode: str, trace: str, operation: str) -> None:
    row = FUNCTIONS[operation]
    for fault in (lambda x: row.call(einrs, x, row.wrong, 2), WRONG_LENGTHS[operation]):
        eagerly = refused(lambda f: f(numbers()), fault)
        for _ in range(2):
            assert refused(TRACES[trace], fault) == eagerly
