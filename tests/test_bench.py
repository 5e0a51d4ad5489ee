"""Runs the benchmark of the operations in its short form and reads what it reports."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parent.parent / "benches" / "ops.py"
KEYS = {"machine", "rows", "rotations", "first_call", "geometric_means", "goals", "bulk"}
ROW = {"framework", "case", "group", "call", "hand", "costs", "einrs_to_hand", "einops_to_einrs"}


def bench(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    file = tmp_path_factory.mktemp("bench") / "ops.json"
    done = bench("--quick", "--only", "numpy,cache", "--bulk", "--json", file)
    assert done.returncode == 0, done.stderr
    return json.loads(file.read_text())


def test_the_report_has_every_part(report: dict[str, Any]) -> None:
    assert report.keys() == KEYS
    assert all(report[part] for part in KEYS)
    assert {"processor", "python", "einops", "numpy"} <= report["machine"].keys()


@pytest.mark.parametrize("part", ["rows", "bulk"])
def test_a_row_has_three_costs_that_are_numbers(report: dict[str, Any], part: str) -> None:
    for row in report[part]:
        assert row.keys() == ROW
        assert row["framework"] == "numpy"
        assert row["costs"].keys() == {"hand", "einops", "einrs"}
        assert all(cost.keys() == {"low", "median"} for cost in row["costs"].values())
        assert all(ns >= 0 for cost in row["costs"].values() for ns in cost.values())


def test_a_goal_on_a_framework_left_out_is_not_run(report: dict[str, Any]) -> None:
    verdicts = {goal["goal"]: goal["verdict"] for goal in report["goals"]}
    assert verdicts["jax, geometric mean"] == "not run"
    assert verdicts["numpy views, worst"] in ("met", "MISSED")


def test_markdown_prints_tables() -> None:
    done = bench("--quick", "--only", "numpy", "--markdown")
    assert done.returncode == 0, done.stderr
    assert "| transpose | `b c h w -> b h w c` |" in done.stdout


def test_an_unknown_section_is_named() -> None:
    done = bench("--only", "numpy,tensors")
    assert done.returncode == 2
    assert "'tensors' is not one of numpy, torch, jax, cache" in done.stderr
