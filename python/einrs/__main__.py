"""`python -m einrs run script.py` to that program in which the name einops means einrs.

The program sees what it sees when Python runs it itself: its arguments, the first entry of
`sys.path`, a `__main__` of its own, its exit status, and tracebacks without the frames of einrs.
"""

from __future__ import annotations

import importlib.machinery
import os
import pkgutil
import runpy
import sys
from collections.abc import Callable
from types import ModuleType, TracebackType
from typing import NoReturn

from ._swap import install

COMMAND = "python -m einrs"
USAGE = f"""\
usage: {COMMAND} run [--] program [argument ...]
       {COMMAND} run -m module [argument ...]

Runs a Python program, unchanged, in which the name einops means einrs. The program is a file, a
folder or zip file with a __main__.py, or with -m a module or package, as for python itself.
"""


def main(arguments: list[str]) -> None:
    """Runs what the command line names, or ends with status 2 and a usage text."""
    if not arguments or arguments[0] in ("-h", "--help"):
        _end_with_usage(asked=bool(arguments))
    command, *rest = arguments
    if command != "run":
        _refuse(f"unknown command {command!r}: the only one is run")
    if rest[:1] in (["-h"], ["--help"]):
        _end_with_usage(asked=True)
    _launch(*_parse(rest))


def _parse(rest: list[str]) -> tuple[Callable[[str], None], list[str]]:
    """How to run, and the program with its arguments."""
    match rest:
        case ["-m"]:
            _refuse("-m needs the name of a module")
        case ["-m", *program]:
            return _run_module, program
        case ["--", _, *_]:
            return _run_path, rest[1:]
        case [] | ["--"]:
            _refuse("run needs a program: a path, or -m and the name of a module")
        case [first, *_] if first.startswith("-m"):
            return _run_module, [first[2:], *rest[1:]]
        case [first, *_] if first.startswith("-"):
            _refuse(f"unknown option {first!r}: Python's own options go before -m einrs")
    return _run_path, rest


def _launch(run: Callable[[str], None], program: list[str]) -> None:
    install()
    # Not this module's namespace: the program must find none of its names.
    sys.modules["__main__"] = main_module = ModuleType("__main__")
    vars(main_module)["__builtins__"] = sys.modules["builtins"]
    sys.argv[:] = program
    try:
        run(program[0])
    except SystemExit:
        raise
    except BaseException as error:
        _show_only_its_own_frames(error)
        raise


def _run_module(name: str) -> None:
    sys.argv[0] = "-m"
    _as_python_does(name, alter_argv=True)


def _run_path(path: str) -> None:
    path = os.path.join(os.getcwd(), path)
    isolated = getattr(sys.flags, "safe_path", bool(sys.flags.isolated))
    if pkgutil.get_importer(path) is not None:
        sys.path[0 : not isolated] = [path]
        _as_python_does("__main__", alter_argv=False)
        return
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        shown = f"[Errno {error.errno}] {error.strerror}"
        _refuse(f"can't open file {path!r}: {shown}", usage=False)
    if not isolated:
        sys.path[0] = os.path.dirname(os.path.realpath(path))
    namespace = vars(sys.modules["__main__"])
    loader = importlib.machinery.SourceFileLoader("__main__", path)
    namespace.update(__file__=path, __loader__=loader, __cached__=None)
    exec(compile(source, path, "exec", dont_inherit=True), namespace)


def _as_python_does(name: str, alter_argv: bool) -> None:
    """What the interpreter itself calls for `python -m name` and for a folder."""
    runpy._run_module_as_main(name, alter_argv)  # type: ignore[attr-defined]


def _show_only_its_own_frames(error: BaseException) -> None:
    """Has the error reported as if nothing stood between Python and the program."""
    own = _program_frames(error.__traceback__)
    report = sys.excepthook

    def hook(kind: type[BaseException], value: BaseException, trace: TracebackType | None) -> None:
        sys.excepthook = report
        if value is error:
            value, trace = value.with_traceback(own), own
        report(kind, value, trace)

    sys.excepthook = hook


def _program_frames(trace: TracebackType | None) -> TracebackType | None:
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    return trace


def _refuse(reason: str, usage: bool = True) -> NoReturn:
    hint = f"\n{USAGE}" if usage else ""
    print(f"{COMMAND}: {reason}{hint}", file=sys.stderr)
    raise SystemExit(2)


def _end_with_usage(asked: bool) -> NoReturn:
    print(USAGE, end="", file=sys.stdout if asked else sys.stderr)
    raise SystemExit(0 if asked else 2)


if __name__ == "__main__":
    main(sys.argv[1:])
