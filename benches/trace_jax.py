"""Measures what tracing by jax costs: a jaxpr, a jit and a gradient of one rearrangement."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp

from contest import Contest, Result, contest

CALLS = 20


def by_hand(x: Any) -> Any:
    b, n, c = x.shape
    return x.reshape(b, n, 4, c // 4).transpose(0, 2, 1, 3).mean()


def by_pattern(package: ModuleType) -> Callable[[Any], Any]:
    def split(x: Any) -> Any:
        return package.rearrange(x, "b n (h d) -> b h n d", h=4).mean()

    return split


def results(packages: Mapping[str, ModuleType], rounds: int) -> list[Result]:
    """Every jax row, in microseconds for each call that is traced."""
    bodies = {"hand": by_hand, **{name: by_pattern(p) for name, p in packages.items()}}
    x = jnp.zeros((2, 5, 24))

    def many(body: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda x: sum(body(x) for _ in range(CALLS))

    transforms = {
        "make_jaxpr": lambda body: jax.make_jaxpr(many(body))(x),
        "jit, lowered": lambda body: jax.jit(many(body)).lower(x),
        "jaxpr of a gradient": lambda body: jax.make_jaxpr(jax.grad(many(body)))(x),
    }
    return [
        contest(
            Contest(f"{title}, per call", "us of CPU", None),
            {name: timed(transform, body) for name, body in bodies.items()},
            3 * rounds,
        )
        for title, transform in transforms.items()
    ]


def timed(transform: Callable[[Any], Any], body: Callable[[Any], Any]) -> Callable[[], float]:
    def run() -> float:
        start = time.process_time()
        # A fresh function each time: jax remembers what it has traced by the function.
        transform(lambda x: body(x))
        return (time.process_time() - start) * 1e6 / CALLS

    return run
