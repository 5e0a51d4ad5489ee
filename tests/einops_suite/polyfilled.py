"""A pytest plugin that calls what Dynamo traces in place of the builtins, and lets it trace it.

EINRS_POLYFILLS says how: `eager` runs the code as it stands, `compile` by torch.compile.
"""

import os
from collections.abc import Callable
from functools import wraps
from typing import Any

import torch

import einrs
from einrs import _dynamo, _einrs, _polyfills

# Dynamo must know the builtins themselves before their names mean something else.
import torch._dynamo  # isort: skip


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Traces each call on its own, so that no limit of recompiles is met."""

    @wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        # Within a trace there is nothing to compile: torch refuses it.
        if torch.compiler.is_compiling() or torch.jit.is_tracing():
            return function(*arguments, **keywords)
        traced = torch.compile(function, backend="eager", dynamic=False)
        try:
            return traced(*arguments, **keywords)
        finally:
            torch._dynamo.reset()

    return call


for name in _dynamo.TRACED:
    twin = getattr(_polyfills, name)
    if os.environ["EINRS_POLYFILLS"] == "compile":
        twin = compiled(twin)
    for module in (_einrs, einrs):
        if hasattr(module, name):
            setattr(module, name, twin)
