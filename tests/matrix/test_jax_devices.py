"""Checks every operation on four devices, which jax makes of the host in a process of its own."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

jax = pytest.importorskip("jax")
for name in ("flax", "equinox"):
    pytest.importorskip(name)

from jax_operations import EACH, OPERATIONS  # noqa: E402

pytestmark = pytest.mark.needs_jax
PROGRAM = Path(__file__).with_name("jax_devices.py")

MODES = [
    *("pmap", "pmap: psum", "pmap of grad", "shard_map", "shard_map: psum"),
    *("auto mesh: eager", "auto mesh: jit", "auto mesh: grad"),
    *("explicit mesh: first axis, eager", "explicit mesh: first axis, jit"),
    *("explicit mesh: last axis, eager", "explicit mesh: last axis, jit", "explicit mesh: grad"),
    *("with_sharding_constraint", "in_shardings, donated", "another device"),
]
SUMS_OVER_SHARDS = ("explicit mesh: last axis", "explicit mesh: grad")
"""Where the last axis is sharded, over which the einsum sums: jax then asks how to shard that."""


@cache
def outcomes(slow: bool) -> Any:
    """By mode and operation; those that are slow have a process of their own."""
    done = subprocess.run(
        [sys.executable, str(PROGRAM), *[name for name in OPERATIONS if is_slow(name) is slow]],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stderr[-4000:]}"
    found = json.loads(done.stdout)
    assert list(found) == MODES
    return found


def is_slow(operation: str) -> bool:
    return operation not in EACH


@pytest.mark.cell("jax")
@pytest.mark.parametrize("operation", EACH)
@pytest.mark.parametrize("mode", MODES)
def test_modes(mode: str, operation: str, alike: Any) -> None:
    outcome, reason = outcomes(is_slow(operation))[mode][operation]
    assert outcome in ("passes", "alike"), reason
    if outcome == "alike":
        assert operation == "asnumpy" or (
            operation == "einsum" and mode.startswith(SUMS_OVER_SHARDS)
        ), reason
        alike(reason)
