"""Runs the keras models once for each backend, each in a process of its own, as keras wants it."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("keras")

PROGRAM = Path(__file__).with_name("keras_models.py")


@pytest.mark.parametrize("backend", ["tensorflow", "jax", "torch"])
def test_models(backend: str) -> None:
    if find_spec(backend) is None:
        pytest.skip(f"{backend} is not installed")
    done = subprocess.run(
        [sys.executable, str(PROGRAM)],
        env=os.environ | {"KERAS_BACKEND": backend},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
    assert done.stdout == f"{backend} is right\n"
