"""Checks that the page "Where it works" is what the tests of tracing found, and misses none."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
CELLS = ROOT / "docs" / "cells"
FOLDERS = {"matrix": ["torch", "jax"], "tensorflow": ["tensorflow", "keras"]}


def script() -> Any:
    file = ROOT / "scripts" / "where_it_works.py"
    spec = importlib.util.spec_from_file_location("where_it_works", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


WORKS = script()


def test_page_is_written_from_the_cells() -> None:
    assert WORKS.PAGE.read_text("utf-8") == WORKS.page(WORKS.load())


@pytest.mark.parametrize("file", sorted(CELLS.glob("*.json")), ids=lambda file: file.stem)
def test_nothing_fails_that_works_by_hand(file: Path) -> None:
    rows = json.loads(file.read_text("utf-8"))
    assert [row for row in rows if row[2] == "fails"] == []
    assert [row for row in rows if row[2] != "passes" and not row[3]] == []


@pytest.mark.needs_torch
@pytest.mark.needs_jax
@pytest.mark.parametrize("folder", FOLDERS)
def test_every_test_has_its_cell(folder: str, tmp_path: Path) -> None:
    """The tests that are there now, against the newest version on the page."""
    missing = [name for name in FOLDERS[folder] if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    command = [sys.executable, "-m", "pytest", str(ROOT / "tests" / folder), "--collect-only", "-q"]
    finished = subprocess.run(
        [*command, "-p", "no:cacheprovider", "--cells", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert finished.returncode == 0, finished.stdout[-3000:]
    there, shown = WORKS.load(tmp_path), WORKS.load()
    for framework in FOLDERS[folder]:
        (collected,), *_, newest = there[framework].values(), *shown[framework].values()
        assert keys(collected) == keys(newest), framework


def keys(grid: dict[str, dict[str, Any]]) -> set[tuple[str, str]]:
    return {(mode, operation) for mode, cells in grid.items() for operation in cells}


def test_the_worst_and_the_reasons_are_shown(tmp_path: Path) -> None:
    rows = [
        ["jit", "rearrange", "passes", ""],
        ["jit", "every layer", "alike", "a reason"],
        ["jit", "Reduce", "fails", ""],
        ["vmap", "nnx.Reduce", "not run", "another"],
    ]
    older = [*rows, ["vmap", "pack", "alike", "an old reason"]]
    for version, found in (("2.5.1", older), ("2.15.0", rows)):
        (tmp_path / f"torch-{version}.json").write_text(json.dumps(found), "utf-8")
    lines = WORKS.page(WORKS.load(tmp_path)).splitlines()
    assert "## torch 2.15.0" in lines
    assert "| jit | ✓ | ✗ |" in lines
    assert "| vmap | – 1 |" in lines
    assert "1. another" in lines
    assert "|  | 2.5.1 | 2.15.0 |" in lines
    assert "| jit | 1 ✓ 1 = 1 ✗ | 1 ✓ 1 = 1 ✗ |" in lines
    assert "- 2.5.1 only: an old reason" in lines
