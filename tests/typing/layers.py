"""Layers to the types that a checker must give what they are called with; never run."""

import jax
import mlx.core as mx
import torch
from flax import nnx as flax_nnx
from typing_extensions import assert_type

from einrs.layers import equinox, flax, mlx, nnx
from einrs.layers.torch import EinMix, Rearrange, Reduce, Repeat


def torch_modules(x: torch.Tensor) -> None:
    assert_type(Rearrange("a b -> b a", a=2)(x), torch.Tensor)
    assert_type(Repeat("a -> a b", b=2)(x), torch.Tensor)
    assert_type(Reduce("a b -> a", "max")([x]), torch.Tensor)
    assert_type(Reduce("a b -> a", torch.amax)(x), torch.Tensor)
    assert_type(EinMix("a -> b", "a b", "b", a=1, b=2, dtype=torch.float16)(x), torch.Tensor)
    torch.nn.Sequential(Rearrange("a b -> b a"), torch.nn.Linear(2, 3))


def flax_modules(x: jax.Array) -> None:
    assert_type(flax.Rearrange("a b -> b a", a=2)(x), jax.Array)
    assert_type(flax.Rearrange("a b -> b a", sizes={"a": 2})(x), jax.Array)
    assert_type(flax.Repeat("a -> a b", b=2, name="wide")(x), jax.Array)
    assert_type(flax.Reduce("a b -> a", "max")([x]), jax.Array)
    assert_type(flax.EinMix("a -> b", "a b", "b", a=1, b=2)(x), jax.Array)


def nnx_modules(x: jax.Array, rngs: flax_nnx.Rngs) -> None:
    assert_type(nnx.Rearrange("a b -> b a", a=2)(x), jax.Array)
    assert_type(nnx.Repeat("a -> a b", b=2)(x), jax.Array)
    assert_type(nnx.Reduce("a b -> a", "max")([x]), jax.Array)
    assert_type(nnx.EinMix("a -> b", "a b", "b", a=1, b=2, rngs=rngs)(x), jax.Array)


def equinox_modules(x: jax.Array, key: jax.Array) -> None:
    assert_type(equinox.Rearrange("a b -> b a", a=2)(x), jax.Array)
    assert_type(equinox.Repeat("a -> a b", b=2)(x, key=key), jax.Array)
    assert_type(equinox.Reduce("a b -> a", "max")([x]), jax.Array)
    assert_type(equinox.EinMix("a -> b", "a b", "b", a=1, b=2, key=key)(x), jax.Array)


def mlx_modules(x: mx.array) -> None:
    assert_type(mlx.Rearrange("a b -> b a", a=2)(x), mx.array)
    assert_type(mlx.Repeat("a -> a b", b=2)(x), mx.array)
    assert_type(mlx.Reduce("a b -> a", "max")([x]), mx.array)
    assert_type(mlx.EinMix("a -> b", "a b", "b", a=1, b=2)(x), mx.array)


def mistakes() -> None:
    Reduce("a b -> a", "median")  # type: ignore[arg-type] # pyright: ignore
    Repeat("a -> a b", b=2.0)  # type: ignore[arg-type] # pyright: ignore
    flax.Reduce("a b -> a", "median")  # type: ignore[arg-type] # pyright: ignore
    nnx.Reduce("a b -> a", "median")  # type: ignore[arg-type] # pyright: ignore
    equinox.Reduce("a b -> a", "median")  # type: ignore[arg-type] # pyright: ignore
    mlx.Reduce("a b -> a", "median")  # type: ignore[arg-type] # pyright: ignore
