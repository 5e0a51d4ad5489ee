"""Measures what tracing by tensorflow costs: time, and nodes of the graph, with open sizes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import tensorflow as tf
from contest import Contest, Result, contest

CALLS = 10
SPEC = tf.TensorSpec((None, 5, 24), tf.float32)


def by_hand(x: Any) -> Any:
    return tf.transpose(tf.reshape(x, (-1, 5, 4, 6)), (0, 2, 1, 3))


def by_pattern(package: ModuleType) -> Callable[[Any], Any]:
    def split(x: Any) -> Any:
        return package.rearrange(x, "b n (h d) -> b h n d", h=4)

    return split


def traced(body: Callable[[Any], Any]) -> Any:
    @tf.function(input_signature=[SPEC])
    def several(x: Any) -> Any:
        return [body(x) for _ in range(CALLS)]

    return several.get_concrete_function().graph


def results(packages: Mapping[str, ModuleType], rounds: int) -> list[Result]:
    """Every tensorflow row."""
    bodies = {"hand": by_hand, **{name: by_pattern(p) for name, p in packages.items()}}
    nodes = {name: len(traced(body).get_operations()) / CALLS for name, body in bodies.items()}

    def timed(body: Callable[[Any], Any]) -> Callable[[], float]:
        def run() -> float:
            start = time.process_time()
            traced(body)
            return (time.process_time() - start) * 1e3 / CALLS

        return run

    return [
        contest(
            Contest("tf.function trace with an open batch, per call", "ms of CPU", None),
            {name: timed(body) for name, body in bodies.items()},
            rounds,
        ),
        Result(Contest("nodes of the same, per call", "nodes", None), nodes),
    ]
