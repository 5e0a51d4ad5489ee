"""Runs einops' own installed tests, unmodified, with einrs answering to the name einops.

Only rearrange, reduce, repeat and EinopsError are einrs' there (einops_suite/swap.py says how);
what is not run stands in einops_suite/deselected.tsv with its reason.
"""

import os
import subprocess
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path

import pytest

SUITE = Path(__file__).parent / "einops_suite"
BACKENDS = [name for name in ("numpy", "torch", "jax") if find_spec(name)]


def einops_tests() -> Path:
    spec = find_spec("einops")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "tests"


def deselected() -> dict[str, str]:
    lines = (SUITE / "deselected.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return dict(rows)


def run_swapped(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs Python where einops is swapped, with `python` on the PATH being this one."""
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])
    inherited = [os.environ["PYTHONPATH"]] if "PYTHONPATH" in os.environ else []
    environment = os.environ | {
        "PATH": path,
        "PYTHONPATH": os.pathsep.join([str(SUITE), *inherited]),
        "EINOPS_TEST_BACKENDS": ",".join(BACKENDS),
    }
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def run_pytest(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs pytest on einops' tests without the settings of this repository."""
    tests = str(einops_tests())
    plain = ["-c", os.devnull, f"--rootdir={tests}", "-p", "no:cacheprovider", "-p", "swap"]
    return run_swapped(["-m", "pytest", "-q", "-rs", *plain, *arguments, tests], folder)


def test_the_suite_passes(tmp_path: Path) -> None:
    skipped = [f"--deselect={test}" for test in deselected()]
    finished = run_pytest(skipped, tmp_path)
    print(finished.stdout)
    assert finished.returncode == 0, finished.stdout[-6000:] + finished.stderr[-2000:]


def test_the_suite_can_fail(tmp_path: Path) -> None:
    """A rearrange that gives its argument back does not pass the same tests."""
    (tmp_path / "wrong.py").write_text(
        "import einops.einops\neinops.einops.rearrange = lambda tensor, pattern, **_: tensor\n"
    )
    chosen = ["-p", "wrong", "-k", "test_rearrange_consistency_numpy"]
    finished = run_pytest(chosen, tmp_path)
    assert finished.returncode == pytest.ExitCode.TESTS_FAILED, finished.stdout
    assert "1 failed" in finished.stdout


@pytest.mark.parametrize("module", ["einops", "einops.einops"])
@pytest.mark.parametrize("name", ["rearrange", "reduce", "repeat", "EinopsError"])
def test_the_swap(tmp_path: Path, module: str, name: str) -> None:
    code = f"import einrs, {module}; assert {module}.{name} is einrs.{name}"
    finished = run_swapped(["-c", code], tmp_path)
    assert finished.returncode == 0, finished.stderr


@pytest.mark.parametrize(("test", "reason"), deselected().items())
def test_what_is_deselected_exists(test: str, reason: str) -> None:
    file, _, function = test.partition("::")
    assert f"def {function}(" in (einops_tests() / file).read_text("utf-8")
    assert reason
