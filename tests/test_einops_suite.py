"""Runs einops' own installed tests, unmodified, with einrs answering to the name einops.

Those of tensorflow, which cannot share a process with torch, are run in tests/tensorflow.
"""

from importlib.util import find_spec
from pathlib import Path

import pytest

from einops_suite import runner

BACKENDS = ",".join(name for name in ("numpy", "torch", "jax") if find_spec(name))


def test_the_suite_passes(tmp_path: Path) -> None:
    runner.check_tests(tmp_path, BACKENDS)


@pytest.mark.needs_jax
@pytest.mark.skipif(not find_spec("flax"), reason="flax is not installed")
def test_the_test_of_flax_passes_where_jax_has_tree_map(tmp_path: Path) -> None:
    runner.check_tests(tmp_path, "jax", "-p", "old_jax", "-k", "test_flax_layers")


def test_the_suite_is_about_einrs_and_can_fail(tmp_path: Path) -> None:
    """A rearrange of einrs that gives its argument back does not pass the same tests."""
    (tmp_path / "wrong.py").write_text(
        "import einrs.einops\neinrs.einops.rearrange = lambda tensor, pattern, **_: tensor\n"
    )
    chosen = ["-p", "wrong", "-k", "test_rearrange_consistency_numpy"]
    finished = runner.run_tests(tmp_path, BACKENDS, *chosen)
    assert finished.returncode == pytest.ExitCode.TESTS_FAILED, finished.stdout
    assert "1 failed" in finished.stdout


def test_the_swap_in_the_processes_that_tests_start(tmp_path: Path) -> None:
    code = "import einops, einrs; assert einops.rearrange is einrs.rearrange"
    finished = runner.run_swapped(["-c", code], tmp_path)
    assert finished.returncode == 0, finished.stderr
    assert not finished.stderr


@pytest.mark.parametrize(("test", "reason"), runner.deselected().items())
def test_what_is_deselected_exists(test: str, reason: str) -> None:
    file, _, function = test.partition("::")
    assert f"def {function}(" in (runner.einops_tests() / file).read_text("utf-8")
    assert reason
