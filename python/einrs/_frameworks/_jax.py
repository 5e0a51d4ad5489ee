"""jax's arrays: one compiled function per recipe for concrete ones, lax operations for tracers."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache, partial
from types import SimpleNamespace
from typing import Any

from .. import _einrs, _readable
from .._errors import not_floating
from .._readable import Shape

jax = sys.modules["jax"]
jnp = jax.numpy
lax = jax.lax

LEAN = False
"""As einops: what a tracer records is then the same."""

FLOATING = ("float16", "float32", "float64", "float128", "bfloat16")
"""Names of the dtypes that have a mean, as in einops."""

# This module may be loaded by a call inside a trace, where new arrays are tracers.
with jax.ensure_compile_time_eval():
    CONCRETE = type(jnp.zeros(()))


def owns(kind: type) -> bool:
    """Whether a type is a concrete array, a typed key or a tracer."""
    return issubclass(kind, (jax.Array, jax.core.Tracer))


def is_symbol(length: Any) -> bool:
    """Symbolic dimensions of an export, and tracers, whose error is jax's own."""
    return isinstance(length, jax.core.Tracer) or jax.export.is_symbolic_dim(length)


def shape(tensor: Any) -> Shape:
    """The sizes, which may be symbols."""
    return tuple(tensor.shape)


def reshape(tensor: Any, shape: Shape) -> Any:
    """One reshape equation."""
    return lax.reshape(tensor, shape)


def permute(tensor: Any, axes: tuple[int, ...]) -> Any:
    """One transpose equation."""
    return lax.transpose(tensor, axes)


def reduce(tensor: Any, name: str, axes: tuple[int, ...]) -> Any:
    """By the function of `jax.numpy`."""
    if name == "mean" and tensor.dtype not in FLOATING:
        raise not_floating(tensor.dtype)
    return getattr(jnp, name)(tensor, axis=axes)


def expand(tensor: Any, shape: Shape, added: tuple[int, ...]) -> Any:
    """One broadcast equation."""
    kept = tuple([axis for axis in range(len(shape)) if axis not in added])
    return lax.broadcast_in_dim(tensor, shape, kept)


def stack(tensors: list[Any]) -> Any:
    """Along a new first axis."""
    return jnp.stack(tensors)


def concat(tensors: list[Any], axis: int) -> Any:
    """One after the other."""
    return jnp.concatenate(tensors, axis)


def einsum(pattern: str, *tensors: Any) -> Any:
    """By `jnp.einsum`."""
    return jnp.einsum(pattern, *tensors)


def to_numpy(tensor: Any) -> Any:
    """The values, fetched from the device."""
    return sys.modules["numpy"].asarray(tensor)


def fused(function: Callable[..., Any], tensors: tuple[Any, ...], *static: Any) -> Any:
    """One compiled call of `function(framework, tensors, *static)`, if all arrays are concrete."""
    if all(type(tensor) is CONCRETE for tensor in tensors):
        return _compiled(function, static)(*tensors)
    return function(sys.modules[__name__], tensors, *static)


@lru_cache(maxsize=256)
def _compiled(function: Callable[..., Any], static: tuple[Any, ...]) -> Any:
    def body(*tensors: Any) -> Any:
        return function(_COMPILED, tensors, *static)

    body.__name__ = body.__qualname__ = f"einrs_{function.__name__}"
    return _jit(body)


_COMPILED = SimpleNamespace(
    LEAN=True,
    shape=shape,
    reshape=reshape,
    permute=permute,
    reduce=reduce,
    expand=expand,
    stack=stack,
    concat=concat,
    einsum=einsum,
)
"""The same steps for concrete arrays: without a transpose before a reduction XLA moves less."""


def program(
    operation: str,
    pattern: str,
    names: tuple[str, ...],
    lengths: tuple[int, ...],
    reduction: str | None,
    recipe: _einrs.Recipe,  # noqa: ARG001
) -> tuple[list[tuple[Any, None]], tuple[Any, ...]]:
    """One compiled function that does all steps; inlined where it is met inside a trace."""
    given = dict(zip(names, lengths, strict=True))

    def body(tensor: Any) -> Any:
        sizes = shape(tensor)
        return _readable.replay(_COMPILED, operation, tensor, sizes, pattern, reduction, given)

    body.__name__ = body.__qualname__ = f"einrs_{operation}"
    return [(_jit(body), None)], ()


def _jit(function: Callable[[Any], Any]) -> Any:
    try:
        return jax.jit(function, inline=True)
    except TypeError:
        # A jax whose `inline` is no bool: the function then stays one equation of a trace.
        return jax.jit(function)


_einrs.register_steps(
    (CONCRETE,),
    program,
    reduce_in_place=True,
    fold_new_axes=False,
    keyed_by_lengths=True,
)
_einrs.register_joins(
    CONCRETE,
    reshape=None,
    concat=None,
    einsum=lambda letters: (_jit(partial(jnp.einsum, letters)), ()),
    to_numpy=to_numpy,
)
