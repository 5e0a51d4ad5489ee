"""Measures what tracing by Dynamo costs, and what the guards of a compiled call cost."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import torch

from contest import Contest, Result, contest
from vit import ByHand, ByPattern, Transformer


def results(packages: Mapping[str, ModuleType], rounds: int) -> list[Result]:
    """Every torch row."""
    ways = {"hand": ByHand(), **{name: ByPattern(package) for name, package in packages.items()}}
    torch.manual_seed(0)
    images = torch.randn(2, 3, 32, 32)
    models = {name: Transformer(way) for name, way in ways.items()}
    compile_once(models["hand"], images, "aot_eager")
    return [
        contest(
            Contest("Dynamo trace of a 12-layer ViT", "s of CPU", 1.4),
            {name: tracer(model, images, "eager") for name, model in models.items()},
            rounds,
        ),
        contest(
            Contest("aot_eager compile of the same", "s of CPU", 1.1),
            {name: tracer(model, images, "aot_eager") for name, model in models.items()},
            max(1, rounds // 2),
        ),
        *guards(ways, rounds),
    ]


def compile_once(model: torch.nn.Module, images: torch.Tensor, backend: str) -> None:
    torch._dynamo.reset()
    with torch.no_grad():
        torch.compile(model, backend=backend, fullgraph=True)(images)


def tracer(model: torch.nn.Module, images: torch.Tensor, backend: str) -> Callable[[], float]:
    """What one compilation takes, in seconds of the processor."""

    def run() -> float:
        start = time.process_time()
        compile_once(model, images, backend)
        return time.process_time() - start

    return run


def guards(ways: Mapping[str, Any], rounds: int) -> list[Result]:
    """Guards of a compiled call: how many there are, and nanoseconds for a call of a tiny graph."""
    x = torch.zeros(2, 3, 8)
    counts, runs = {}, {}
    for name, way in ways.items():
        torch._dynamo.reset()

        def call(x: torch.Tensor, way: Any = way) -> torch.Tensor:
            return way.split(x)

        compiled = torch.compile(call, backend="eager", fullgraph=True)
        with torch.no_grad():
            compiled(x)
        counts[name] = float(guard_count(call))
        runs[name] = caller(compiled, x)
    return [
        Result(Contest("guards of a compiled call", "guards", None), counts),
        contest(Contest("a compiled call of one rearrange", "ns", None), runs, rounds),
    ]


def guard_count(function: Any) -> int:
    """How many leaf guards the one compiled version of a function has."""
    from torch._dynamo.eval_frame import _debug_get_cache_entry_list

    (entry,) = _debug_get_cache_entry_list(function.__code__)

    def leaves(manager: Any) -> int:
        below = sum(leaves(child) for child in manager.get_child_managers())
        return len(manager.get_leaf_guards()) + below

    return leaves(entry.guard_manager.root)


def caller(compiled: Callable[[Any], Any], x: torch.Tensor) -> Callable[[], float]:
    """What a warm call takes, in nanoseconds."""

    def run() -> float:
        calls = 2000
        with torch.no_grad():
            start = time.perf_counter_ns()
            for _ in range(calls):
                compiled(x)
            return (time.perf_counter_ns() - start) / calls

    return run
