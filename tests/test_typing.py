"""Turns what a user's type checker sees into tests: assertions of types, mistakes, the stub."""

import os
import shutil
import subprocess
import sys
import venv
from importlib.util import find_spec
from pathlib import Path

import pytest

import einrs

ROOT = Path(__file__).resolve().parent.parent
FILES = Path("tests", "typing")
PACKAGE = Path(einrs.__file__).parent

# As users run them. mypy would take the project's settings, which make types of frameworks Any;
# pyright's are only about the assertions. What follows is an interpreter and a folder.
CHECKERS = {
    "mypy": ("--strict", "--config-file=", "--cache-dir=.mypy_cache/users", "--python-executable"),
    "pyright": ("--pythonpath",),
}

# The frameworks whose types the assertions name.
TYPED = ("numpy", "torch", "jax", "flax", "equinox", "mlx")

# The modules of frameworks want them loaded; tensorflow and torch in one process may end it.
STUBTEST = """
import sys
import jax, numpy, torch
sys.modules.update(dict.fromkeys(("keras", "tensorflow")))
from mypy.stubtest import main
sys.exit(main())
"""


def need(*names: str) -> None:
    missing = [name for name in names if find_spec(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")


def check(*arguments: str | Path, cwd: Path = ROOT) -> None:
    """Runs Python with these arguments; it must find nothing."""
    # pyright would ask the package index for a newer version.
    environment = {**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


def test_package_says_that_it_is_typed() -> None:
    assert (PACKAGE / "py.typed").is_file()


def test_package_is_typed() -> None:
    need("mypy")
    check("-m", "mypy", "--strict", "python/einrs")


@pytest.mark.parametrize("checker", CHECKERS)
def test_checker_finds_types_and_mistakes(checker: str) -> None:
    need(checker, *TYPED)
    check("-m", checker, *CHECKERS[checker], sys.executable, FILES)


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter that knows einrs and nothing else."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder)
    (site,) = folder.glob("**/site-packages")
    shutil.copytree(PACKAGE, site / "einrs", ignore=shutil.ignore_patterns("__pycache__"))
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


@pytest.mark.parametrize("checker", CHECKERS)
def test_types_need_no_framework(checker: str, bare_python: Path, tmp_path: Path) -> None:
    need(checker)
    (tmp_path / FILES).mkdir(parents=True)
    for path in (Path("pyproject.toml"), FILES / "bare.py"):
        shutil.copy(ROOT / path, tmp_path / path)
    check("-m", checker, *CHECKERS[checker], bare_python, FILES, cwd=tmp_path)


def test_stub_is_the_extension() -> None:
    need("mypy", *TYPED)
    config, allowed = ROOT / "pyproject.toml", FILES / "allowed.txt"
    check("-c", STUBTEST, "einrs", "--mypy-config-file", config, "--allowlist", allowed)
