"""Runs test files under `pytest -p einrs.pytest_swap` and looks at who answers to einops there."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EARLY = "from einops import rearrange\n"

TEST = """
import einops, einrs
from conftest import rearrange

def test_swapped():
    assert einops.rearrange is rearrange is einrs.rearrange
"""

IN_PROCESS = """
import pytest, sys
swap = ["-p", "einrs.pytest_swap"]
assert pytest.main([*{options}, *swap, "test_swapped.py"]) == 0
import einrs._swap
assert not einrs._swap.is_installed()
assert "einops" not in sys.modules
"""

KEPT = """
import einrs, pytest, sys
einrs.install()
assert pytest.main([*{options}, "-p", "einrs.pytest_swap", "test_swapped.py"]) == 0
import einops
assert einops.rearrange is einrs.rearrange
"""

OPTIONS = ["-c", os.devnull, "--rootdir=.", "-p", "no:cacheprovider"]


def python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "conftest.py").write_text(EARLY)
    (folder / "test_swapped.py").write_text(TEST)
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_plugin_swaps_before_any_conftest(tmp_path: Path) -> None:
    run = python(tmp_path, "-m", "pytest", *OPTIONS, "-p", "einrs.pytest_swap", "-W", "error")
    assert run.returncode == 0, run.stdout
    assert "\neinops: einrs " in run.stdout


def test_without_the_plugin_the_same_test_fails(tmp_path: Path) -> None:
    run = python(tmp_path, "-m", "pytest", *OPTIONS)
    assert run.returncode == pytest.ExitCode.TESTS_FAILED, run.stdout
    assert "1 failed" in run.stdout


@pytest.mark.parametrize("program", [IN_PROCESS, KEPT], ids=["ends with the run", "stays"])
def test_the_swap_after_the_run(tmp_path: Path, program: str) -> None:
    run = python(tmp_path, "-W", "error", "-c", program.format(options=OPTIONS))
    assert run.returncode == 0, run.stdout + run.stderr


def test_the_module_may_be_imported_without_effect(tmp_path: Path) -> None:
    code = "import einrs.pytest_swap, sys; assert 'einops' not in sys.modules"
    assert python(tmp_path, "-c", code).returncode == 0
