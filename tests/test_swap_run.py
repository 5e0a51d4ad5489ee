"""Runs programs by Python and by `python -m einrs run`: all they may differ in is their einops."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

SHOW = """
import sys, einops
main = sys.modules["__main__"]
print(sys.argv, sys.path, __file__, __name__, __package__, main.__dict__ is globals())
print(__spec__ and __spec__.name, type(__loader__), sorted({*globals(), "__annotations__"}))

def fail(annotated: 1 + 1 = None):
    raise ValueError("no")

print(fail.__annotations__)
match sys.argv[1:]:
    case ["raise"]:
        fail()
    case ["exit", status]:
        sys.exit(int(status))
    case ["exit with text"]:
        sys.exit("a text")
    case ["interrupt"]:
        raise KeyboardInterrupt
    case ["cause"]:
        try:
            fail()
        except ValueError as error:
            raise KeyError("other") from error
    case ["hook"]:
        sys.excepthook = lambda kind, value, trace: print(kind, value, trace.tb_lineno)
        fail()
    case ["at exit"]:
        import atexit, pickle
        atexit.register(lambda: print(pickle.loads(pickle.dumps(fail)) is fail))
    case ["thread"]:
        import threading
        threading.Timer(0.01, lambda: print(fail is sys.modules["__main__"].fail)).start()
"""

RELATIVE = "from . import part\nfrom .part import name\nprint(name)\n"

FAILURES = [
    ["raise"],
    ["exit", "0"],
    ["exit", "7"],
    ["exit with text"],
    ["interrupt"],
    ["cause"],
    ["hook"],
]

PROGRAMS = [
    ["script.py"],
    ["script.py", "-m", "run", "--help", "", "two words"],
    [os.path.join(".", "script.py"), "1"],
    [os.path.join("folder", "__main__.py"), "1"],
    ["folder", "1"],
    ["program.zip", "1"],
    ["-m", "script", "1"],
    ["-mscript", "1"],
    ["-m", "package", "1"],
    ["-m", "package", "raise"],
    ["-m", "package.part", "1"],
    ["-m", "nothing"],
    ["-m", "package.nothing"],
    ["-m", "nothing.at.all"],
    ["-m", "wrong_syntax"],
    ["wrong_syntax.py"],
    ["empty"],
    ["script.py", "at exit"],
    ["script.py", "thread"],
    *(["script.py", *arguments] for arguments in FAILURES),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Programs of all kinds."""
    folder = tmp_path_factory.mktemp("programs")
    for name in ("folder", "package", "empty"):
        (folder / name).mkdir()
    (folder / "script.py").write_text(SHOW)
    (folder / "folder" / "__main__.py").write_text(SHOW)
    (folder / "wrong_syntax.py").write_text("a b\n")
    (folder / "package" / "__init__.py").write_text("import sys; print(sys.argv)\n")
    (folder / "package" / "__main__.py").write_text(RELATIVE + SHOW)
    (folder / "package" / "part.py").write_text("name = __name__\nprint(name, __package__)\n")
    with zipfile.ZipFile(folder / "program.zip", "w") as file:
        file.writestr("__main__.py", SHOW)
    return folder


def python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("options", [[], ["-I"]], ids=["", "isolated"])
@pytest.mark.parametrize("program", PROGRAMS, ids=" ".join)
def test_a_program_runs_as_python_runs_it(
    folder: Path, program: list[str], options: list[str]
) -> None:
    by_python = python(folder, *options, *program)
    by_einrs = python(folder, *options, "-m", "einrs", "run", *program)
    assert by_einrs.stdout == by_python.stdout
    assert by_einrs.stderr == by_python.stderr
    assert by_einrs.returncode == by_python.returncode


def test_the_program_finds_einrs(folder: Path) -> None:
    (folder / "who.py").write_text("import einops; print(einops.rearrange.__module__)\n")
    for program in (["who.py"], ["-m", "who"]):
        assert python(folder, *program).stdout == "einops.einops\n"
        assert python(folder, "-m", "einrs", "run", *program).stdout.startswith("einrs")


def test_a_file_may_have_the_name_of_an_option(folder: Path) -> None:
    (folder / "-x").write_text("import sys; print(sys.argv)\n")
    assert python(folder, "-m", "einrs", "run", "--", "-x", "1").stdout == "['-x', '1']\n"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], None),
        (["walk"], "unknown command 'walk': the only one is run"),
        (["run"], "run needs a program: a path, or -m and the name of a module"),
        (["run", "--"], "run needs a program: a path, or -m and the name of a module"),
        (["run", "-m"], "-m needs the name of a module"),
        (["run", "-c", "1"], "unknown option '-c': Python's own options go before -m einrs"),
    ],
)
def test_a_wrong_command_line_is_refused(
    folder: Path, arguments: list[str], reason: str | None
) -> None:
    refused = python(folder, "-m", "einrs", *arguments)
    first = [f"python -m einrs: {reason}"] if reason else []
    assert refused.returncode == 2
    assert refused.stdout == ""
    lines = refused.stderr.splitlines()
    assert lines[: len(first)] == first
    assert lines[len(first)] == "usage: python -m einrs run [--] program [argument ...]"


@pytest.mark.parametrize("arguments", [["-h"], ["--help"], ["run", "-h"], ["run", "--help"]])
def test_help_goes_to_the_output(folder: Path, arguments: list[str]) -> None:
    helped = python(folder, "-m", "einrs", *arguments)
    assert (helped.returncode, helped.stderr) == (0, "")
    assert helped.stdout.startswith("usage: python -m einrs run")


def test_a_file_that_cannot_be_read(folder: Path) -> None:
    by_python = python(folder, "missing.py")
    by_einrs = python(folder, "-m", "einrs", "run", "missing.py")
    assert by_einrs.returncode == by_python.returncode == 2
    assert by_einrs.stderr == by_python.stderr.replace(sys.executable, "python -m einrs", 1)
