"""Turns snippets of Python into nanoseconds per call, timed in turns to be compared."""

from __future__ import annotations

import gc
import os
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle, islice
from time import perf_counter_ns
from typing import Any

ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "JAX_PLATFORMS": "cpu",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
}
EMPTY = "empty loop"
MOST_CALLS = 100_000
FUNCTIONS = """
def once(x):
    {first}
    return {last}

def batch(values, clock):
    start = clock()
    for x in values:
        {first}
        {last}
    return clock() - start
"""


def pin() -> int | None:
    """Keep this process to one thread on one core; frameworks must be imported after it.

    Returns the core, or None where the system offers no way to choose one.
    """
    os.environ.update(ONE_THREAD)
    if not hasattr(os, "sched_setaffinity"):
        return None
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    return core


@dataclass(frozen=True)
class Effort:
    """How much to measure: sweeps over all rows, rounds in a sweep, length of a batch.

    `passes` is how often the rows whose inputs change every time go over all of them.
    """

    sweeps: int
    rounds: int
    batch_ns: int
    passes: int = 1

    @classmethod
    def usual(cls) -> Effort:
        return cls(sweeps=4, rounds=200, batch_ns=60_000, passes=40)

    @classmethod
    def quick(cls) -> Effort:
        return cls(sweeps=1, rounds=3, batch_ns=10_000)


@dataclass(frozen=True)
class Cost:
    """Nanoseconds per call: the lowest batch and the median batch, empty loop subtracted."""

    low: float
    median: float


def ratio(over: Cost, under: Cost) -> float:
    """Divide the lowest times; a cost under a picosecond counts as one."""
    return over.low / max(under.low, 1e-3)


class Snippet:
    """Code as a user writes it, compiled into a loop: functions are globals, `x` is a local.

    The code is statements joined by `; `, the last one an expression. `x` takes the given values in
    turn, going round for ever.
    """

    def __init__(self, code: str, names: Mapping[str, Any], values: Sequence[Any]) -> None:
        first, _, last = code.rpartition("; ")
        space = dict(names)
        exec(FUNCTIONS.format(first=first or "pass", last=last), space)
        self.once: Callable[[Any], Any] = space["once"]
        self._batch: Callable[[Iterator[Any], Callable[[], int]], int] = space["batch"]
        self._values = cycle(values)

    def time(self, calls: int) -> float:
        """Run the code `calls` times and return nanoseconds per call, loop included."""
        return self._batch(islice(self._values, calls), perf_counter_ns) / calls


class Race:
    """Snippets timed in turns, in an order that rotates and turns back.

    `calls` says how many calls of a snippet make one batch.
    """

    def __init__(self, snippets: Mapping[Any, Snippet], calls: Callable[[Snippet], int]) -> None:
        self.snippets = {**snippets, EMPTY: Snippet("None", {}, [None])}
        self.samples: dict[Any, list[float]] = {name: [] for name in self.snippets}
        self.calls = {name: calls(snippet) for name, snippet in self.snippets.items()}

    def run(self, rounds: int) -> None:
        names = list(self.snippets)
        with collector_off():
            for turn in range(rounds):
                start = turn // 2 % len(names)
                order = names[start:] + names[:start]
                for name in order if turn % 2 else reversed(order):
                    self.samples[name].append(self.snippets[name].time(self.calls[name]))

    def costs(self) -> dict[Any, Cost]:
        empty = self.samples[EMPTY]
        low, middle = min(empty), statistics.median(empty)
        return {
            name: Cost(max(0.0, min(ns) - low), max(0.0, statistics.median(ns) - middle))
            for name, ns in self.samples.items()
            if name != EMPTY
        }


def calibrate(snippet: Snippet, batch_ns: int) -> int:
    """Find how many calls of a warm snippet fill one batch."""
    once = max(1.0, min(snippet.time(1) for _ in range(3)))
    few = min(max(1, int(batch_ns / once)), 100)
    each = max(1.0, snippet.time(few))
    return min(max(1, int(batch_ns / each)), MOST_CALLS)


def first_calls(
    functions: Mapping[str, Callable[[Any, str], Any]],
    tensor: Any,
    patterns: Iterator[str],
    count: int,
) -> dict[str, float]:
    """Time `count` calls of every function in turns, each on the next pattern.

    Returns the median nanoseconds, the clock's own subtracted.
    """
    samples: dict[str, list[int]] = {name: [] for name in functions}
    clock: list[int] = []
    with collector_off():
        for _ in range(count):
            start = perf_counter_ns()
            clock.append(perf_counter_ns() - start)
            for name, function in functions.items():
                pattern = next(patterns)
                start = perf_counter_ns()
                function(tensor, pattern)
                samples[name].append(perf_counter_ns() - start)
    own = statistics.median(clock)
    return {name: statistics.median(ns) - own for name, ns in samples.items()}


@contextmanager
def collector_off() -> Iterator[None]:
    """Collect once, then keep the collector out of the timed region."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
