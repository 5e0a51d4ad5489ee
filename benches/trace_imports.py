"""Measures what `import einrs` takes, and what it adds to the import of torch's Dynamo."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType

from contest import Contest, Result, contest

IMPORT = """
import time
start = time.perf_counter()
import {name}
print((time.perf_counter() - start) * 1e3)
"""

REGISTER = """
import time
import torch
from einrs import _dynamo
register, took = _dynamo.register, []
def timed():
    start = time.perf_counter()
    register()
    took.append((time.perf_counter() - start) * 1e3)
_dynamo.register = timed
import torch._dynamo
print(sum(took))
"""


def results(_packages: Mapping[str, ModuleType], rounds: int) -> list[Result]:
    """Every row; each run is a new process."""
    return [
        contest(
            Contest("import, without any framework", "ms", 10.0),
            {name: process(IMPORT.format(name=name)) for name in ("einops", "einrs")},
            2 * rounds,
        ),
        contest(
            Contest("added to `import torch._dynamo`", "ms", 1.0),
            {"einrs": process(REGISTER)},
            rounds,
        ),
    ]


def process(code: str) -> Callable[[], float]:
    """What a program prints that runs in a new process, with compiled modules kept on disk."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    kept |= {"PYTHONPYCACHEPREFIX": str(Path(tempfile.gettempdir()) / "einrs-trace-imports")}

    def run() -> float:
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, env=kept, capture_output=True, text=True, check=True)
        return float(done.stdout)

    return run
