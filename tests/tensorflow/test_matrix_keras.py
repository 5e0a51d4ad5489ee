"""Checks keras models of every operation on each backend, each in a process of its own."""

import json
import os
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("keras")

PROGRAM = Path(__file__).with_name("keras_matrix.py")
BACKENDS = ("tensorflow", "jax", "torch")
MODES = ("functional model", "predict", "fit", "save and load", "to_json and back", "clone_model")
OPERATIONS = [
    *("rearrange", "reduce", "reduce by a callable", "repeat", "einsum", "pack", "unpack"),
    *("parse_shape", "Rearrange", "Reduce", "Repeat", "EinMix"),
]
MODES_ON = [(backend, mode, f"{mode}, {backend}") for mode in MODES for backend in BACKENDS]


@cache
def outcomes(backend: str) -> dict[str, dict[str, str]]:
    """What went wrong, by mode and operation; empty where nothing did."""
    done = subprocess.run(
        [sys.executable, str(PROGRAM)],
        env=os.environ | {"KERAS_BACKEND": backend},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stderr[-4000:]}"
    used, found = json.loads(done.stdout)
    assert used == backend
    assert [list(found), list(found[MODES[0]])] == [list(MODES), OPERATIONS]
    return dict(found)


@pytest.mark.cell("keras")
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(("backend", "name", "mode"), MODES_ON, ids=[mode for *_, mode in MODES_ON])
def test_models(backend: str, name: str, mode: str, operation: str) -> None:
    if find_spec(backend) is None:
        pytest.skip(f"{backend} is not installed")
    assert outcomes(backend)[name][operation] == ""
