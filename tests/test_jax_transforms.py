"""Checks einrs under jax's transformations, its exports, and the jaxprs that they leave."""

from collections.abc import Callable
from typing import Any

import einops
import numpy as np
import pytest

import einrs

jax = pytest.importorskip("jax")
pytestmark = pytest.mark.needs_jax
jnp = jax.numpy

Function = Callable[[Any, Any], Any]

# Functions of a module and an array of shape (4, 6).
FUNCTIONS: dict[str, Function] = {
    "transpose": lambda m, x: m.rearrange(x, "a b -> b a"),
    "split": lambda m, x: m.rearrange(x, "(a c) b -> c b a", c=2),
    "merge": lambda m, x: m.rearrange(x, "a b -> (b a)"),
    "same": lambda m, x: m.rearrange(x, "a b -> a b"),
    "sum": lambda m, x: m.reduce(x, "a b -> b", "sum"),
    "mean": lambda m, x: m.reduce(x, "(a 2) b -> b a", "mean"),
    "max": lambda m, x: m.reduce(x, "a (b 3) -> b", "max"),
    "prod": lambda m, x: m.reduce(x, "a (b c) -> b", "prod", c=2),
    "callable": lambda m, x: m.reduce(x, "a b -> b", lambda t, axes: jnp.sort(t, -1).sum(axes)),
    "repeat": lambda m, x: m.repeat(x, "a b -> (a 2) b k", k=3),
    "list": lambda m, x: m.rearrange([x, 2 * x], "k a b -> a (b k)"),
    "length from the shape": lambda m, x: m.rearrange(x, "(a c) b -> c a b", a=x.shape[0] // 2),
}
each_function = pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)


def numbers(*shape: int) -> Any:
    return jax.random.normal(jax.random.key(0), shape or (4, 6))


def bound(function: Function, module: Any) -> Callable[[Any], Any]:
    return lambda x: function(module, x)


def close(ours: Any, theirs: Any) -> None:
    ours, theirs = jax.tree.leaves(ours), jax.tree.leaves(theirs)
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


def squares(f: Any) -> Any:
    return lambda x: (f(x) ** 2).sum()


TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "jit": jax.jit,
    "vmap": lambda f: lambda x: jax.vmap(f)(jnp.stack([x, x + 1])),
    "vmap over the last axis": lambda f: (
        lambda x: jax.vmap(f, in_axes=2, out_axes=-1)(jnp.stack([x, x + 1], -1))
    ),
    "grad": lambda f: jax.grad(squares(f)),
    "jit of grad": lambda f: jax.jit(jax.grad(squares(f))),
    "jvp": lambda f: lambda x: jax.jvp(f, (x,), (x + 1,)),
    "vjp": lambda f: lambda x: jax.vjp(f, x)[0],
    "linearize": lambda f: lambda x: jax.linearize(f, x)[1](x + 1),
    "hessian": lambda f: lambda x: jax.hessian(squares(f))(x)[0, 0],
    "checkpoint": lambda f: jax.grad(squares(jax.checkpoint(f))),
    "scan": lambda f: lambda x: jax.lax.scan(lambda c, y: (c, f(y)), 0, jnp.stack([x, x + 1]))[1],
    "lax.map": lambda f: lambda x: jax.lax.map(f, jnp.stack([x, x + 1])),
    "closed over": lambda f: lambda x: jax.jit(lambda s: f(x) * s)(2.0),
    "eval_shape": lambda f: (
        lambda x: jax.tree.map(lambda s: jnp.zeros(s.shape, s.dtype), jax.eval_shape(f, x))
    ),
}


@each_function
@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms(function: Function, name: str) -> None:
    theirs = TRANSFORMS[name](bound(function, einops))(numbers())
    close(TRANSFORMS[name](bound(function, einrs))(numbers()), theirs)


@each_function
def test_jaxprs(function: Function) -> None:
    """A trace shows the same equations as einops', one equation less for a repeat."""
    texts = [str(jax.make_jaxpr(bound(function, module))(numbers())) for module in (einops, einrs)]
    if "tile" in texts[0] or "broadcast" in texts[0]:
        assert "pjit" not in texts[1].replace("tile", "")
        assert "einrs" not in texts[1]
    else:
        assert texts[1] == texts[0]


def test_concrete_arrays_within_a_trace_leave_no_call() -> None:
    constant = numbers()
    einrs.rearrange(constant, "a b -> b a")
    text = str(jax.make_jaxpr(lambda s: einrs.rearrange(constant, "a b -> b a") * s)(2.0))
    assert "einrs" not in text
    assert "jit" not in text


def test_compile_time_values() -> None:
    @jax.jit
    def f(x: Any) -> Any:
        with jax.ensure_compile_time_eval():
            indices = einrs.repeat(jnp.arange(3), "i -> (i 2)")
            assert not isinstance(indices, jax.core.Tracer)
        return x[:, indices]

    close(f(numbers()), numbers()[:, np.repeat(np.arange(3), 2)])


def test_jit_of_the_function_itself() -> None:
    f = jax.jit(einrs.rearrange, static_argnums=1, static_argnames=("c",))
    close(f(numbers(), "(a c) b -> c b a", c=2), FUNCTIONS["split"](einops, numbers()))


def test_length_that_is_traced() -> None:
    def f(x: Any, n: Any) -> Any:
        return einrs.rearrange(x, "(a c) b -> c b a", c=n)

    with pytest.raises(TypeError):
        jax.jit(f)(numbers(), 2)
    close(jax.jit(f, static_argnums=1)(numbers(), 2), FUNCTIONS["split"](einops, numbers()))


def test_errors_within_a_trace() -> None:
    for _ in range(2):
        with pytest.raises(einrs.EinopsError, match="can't divide"):
            jax.jit(lambda x: einrs.rearrange(x, "(a c) b -> c b a", c=3))(numbers())
    with pytest.raises(NotImplementedError, match="non-floating"):
        jax.jit(lambda x: einrs.reduce(x, "a b -> a", "mean"))(jnp.arange(6).reshape(2, 3))


# --- sizes that are symbols

EXPORTED: dict[str, Function] = {
    "flatten": lambda m, x: m.rearrange(x, "b n c -> (b n) c"),
    "split": lambda m, x: m.rearrange(x, "b n (h d) -> b h n d", h=2),
    "split a symbol": lambda m, x: m.rearrange(x, "b (n k) c -> b k n c", k=2),
    "sum": lambda m, x: m.reduce(x, "b n c -> b c", "sum"),
    "pool": lambda m, x: m.reduce(x, "b (n 2) c -> b n c", "max"),
    "repeat": lambda m, x: m.repeat(x, "b n c -> b n (k c)", k=3),
    "length": lambda m, x: m.repeat(x, "b n c -> b n c k", k=x.shape[0]),
    "same": lambda m, x: m.rearrange(x, "b n c -> b n c") + 1,
    "callable": lambda m, x: m.reduce(x, "b n c -> n", lambda t, axes: t.sum(axes)),
}


@pytest.mark.parametrize("function", EXPORTED.values(), ids=EXPORTED)
def test_export(function: Function) -> None:
    from jax import export

    batch, count = export.symbolic_shape("b, 2*n")
    shape = jax.ShapeDtypeStruct((batch, count, 6), "float32")
    exported = [export.export(jax.jit(bound(function, m)))(shape) for m in (einops, einrs)]
    assert str(exported[1].out_avals) == str(exported[0].out_avals)
    for size in ((2, 4, 6), (3, 8, 6)):
        close(exported[1].call(numbers(*size)), function(einops, numbers(*size)))


def test_lengths_without_export() -> None:
    """`jax.export` is a module of its own, which a program need not have imported."""
    import fresh

    program = """
        import jax, numpy, einrs
        x = jax.numpy.zeros((4, 6))
        for length in (jax.numpy.array(2), numpy.int64(2), jax.numpy.array(2.0)):
            try:
                print(einrs.rearrange(x, "(a c) b -> c b a", c=length).shape)
            except einrs.EinopsTypeError:
                print("refused")
    """
    assert fresh.run(program).splitlines() == ["(2, 6, 2)", "(2, 6, 2)", "refused"]
