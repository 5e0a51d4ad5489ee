"""Runs Python, and einops' own installed tests, where the name einops means einrs.

`-p einrs.pytest_swap` swaps in the process of the tests, sitecustomize.py beside this file in the
`python` processes that some of them start. What is not run stands in deselected.tsv.
"""

import os
import subprocess
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path

SUITE = Path(__file__).parent


def einops_tests() -> Path:
    """The folder of the tests, which nothing here changes."""
    spec = find_spec("einops")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "tests"


def deselected() -> dict[str, str]:
    """The tests that cannot apply, with the reasons."""
    lines = (SUITE / "deselected.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return dict(rows)


def run_swapped(
    arguments: list[str], folder: Path, backends: str = "numpy"
) -> subprocess.CompletedProcess[str]:
    """Runs Python where einops is swapped, with `python` on the PATH being this one."""
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])
    inherited = [os.environ["PYTHONPATH"]] if "PYTHONPATH" in os.environ else []
    environment = os.environ | {
        "PATH": path,
        "PYTHONPATH": os.pathsep.join([str(SUITE), *inherited]),
        "EINOPS_TEST_BACKENDS": backends,
    }
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def run_tests(folder: Path, backends: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Runs pytest on einops' tests without the settings of this repository."""
    tests = str(einops_tests())
    plain = ["-c", os.devnull, f"--rootdir={tests}", "-p", "no:cacheprovider"]
    command = ["-m", "pytest", "-rs", *plain, "-p", "einrs.pytest_swap", *options, tests]
    return run_swapped(command, folder, backends)


def check_tests(folder: Path, backends: str, *options: str) -> None:
    """Asserts that einops' tests pass, all of them if the options do not choose."""
    if "-k" not in options:
        options += tuple(f"--deselect={test}" for test in deselected())
    finished = run_tests(folder, backends, *options)
    print(finished.stdout)
    assert finished.returncode == 0, finished.stdout[-6000:] + finished.stderr[-2000:]
