"""Turns the rules of the tree into tests: who imports whom, sizes, opening sentences and the like.

A rule is a function from files to complaints, so that a sample can show that it does complain.
"""

import ast
import re
import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
if not (ROOT / ".git").exists():
    pytest.skip("the house rules are about a git checkout", allow_module_level=True)

MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60

NAMES = (
    "numpy|torch|jax|jaxlib|flax|equinox|tensorflow|keras|mlx|cupy|paddle|oneflow|tinygrad|pytensor"
    "|dask|xarray"
)
FRAMEWORKS = frozenset(NAMES.split("|"))
# Which frameworks a Python module of einrs may import; every other module may import none.
OWNERS = {
    "python/einrs/_dynamo.py": {"torch"},
    "python/einrs/_polyfills.py": {"torch"},
    "python/einrs/compat/scripted.py": {"torch"},
    "python/einrs/_frameworks/_jax.py": {"jax", "jaxlib"},
    # numpy's values are what `asnumpy` is for.
    "python/einrs/_frameworks/_mlx.py": {"mlx", "numpy"},
    "python/einrs/_frameworks/_array_api.py": {"numpy"},
    "python/einrs/layers/_scripted.py": {"torch"},
    "python/einrs/layers/equinox.py": {"equinox", "jax"},
    "python/einrs/layers/flax.py": {"flax", "jax"},
    "python/einrs/layers/nnx.py": {"flax", "jax"},
    "python/einrs/layers/tensorflow.py": {"tensorflow", "keras"},
}
OWN_FRAMEWORK = re.compile(r"python/einrs/(?:_frameworks/_|layers/)(\w+)\.py")
# The strategies are imported on request only, and they draw numpy arrays.
TESTING = "python/einrs/testing/"

RUST_FUNCTION = re.compile(
    r'\s*(?:pub(?:\([^)]*\))? )?(?:(?:const|async|unsafe|extern "[^"]*") )*fn (\w+)'
)
RUST_IMPORT = re.compile(r"\b(?!PyImport_GetModule)\w*import\w*!?\s*\(([^;]{0,200})", re.IGNORECASE)
UNSAFE = re.compile(r"\bunsafe\s*(?:\{|impl\b)")
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:work|farm|tmp|root)/\w|/(?:home|Users)/\w|\.\./shared\b")
REGISTRY_HOST = re.compile(r"\b(?:pypi|pythonhosted|crates)\.(?:org|io)\b")

HASH_COMMENTED = {".toml", ".sh", ".yml"}
HASH_COMMENTED_NAMES = {"Makefile", ".gitignore", "run", "dict"}


class File(NamedTuple):
    """A file of the repository: its path from the root, with slashes, and its text."""

    path: str
    text: str

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.path).suffix

    @property
    def hash_commented(self) -> bool:
        return (
            self.suffix in HASH_COMMENTED or PurePosixPath(self.path).name in HASH_COMMENTED_NAMES
        )

    @property
    def is_source(self) -> bool:
        return self.suffix in {".rs", ".py", ".pyi"} or self.hash_commented

    @property
    def code(self) -> str:
        """The text less its comments, line for line: prose may name what code may not."""
        return re.sub(r"#[^\n]*" if self.hash_commented else r"//[^\n]*", "", self.text)


Check = Callable[[list[File]], list[str]]


@cache
def repository() -> tuple[File, ...]:
    """Every text file that git tracks or would track."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout.decode()
    return tuple(read_all(path for path in listed.split("\0") if (ROOT / path).is_file()))


def read_all(paths: Iterator[str]) -> Iterator[File]:
    for path in paths:
        try:
            yield File(path, (ROOT / path).read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            continue


def core_knows_python(files: list[File]) -> list[str]:
    core = [file for file in files if file.path.startswith("rust/einrs/")]
    return [
        f"{file.path}: names PyO3" for file in core if re.search(r"pyo3", file.code, re.IGNORECASE)
    ]


def binding_imports_framework(files: list[File]) -> list[str]:
    found = []
    for file in files:
        if not (file.path.startswith("rust/einrs-python/") and file.suffix == ".rs"):
            continue
        for call in RUST_IMPORT.finditer(file.code):
            if name := re.search(rf'"({NAMES})\b', call[1]):
                found.append(f"{file.path}: imports {name[1]}")
    return found


def stray_framework_import(files: list[File]) -> list[str]:
    found = []
    for file in files:
        if not (file.path.startswith("python/einrs/") and file.suffix == ".py"):
            continue
        allowed = {"numpy"} if file.path.startswith(TESTING) else owned(file.path)
        for name, line in imports(ast.parse(file.text)):
            if name.partition(".")[0] in FRAMEWORKS - allowed:
                found.append(f"{file.path}:{line}: imports {name}")
    return found


def owned(path: str) -> set[str]:
    """The frameworks of a module: those of the table, or the one that it is called by."""
    found = OWN_FRAMEWORK.fullmatch(path)
    return OWNERS.get(path, {found[1]} if found else set())


def imports(node: ast.AST) -> Iterator[tuple[str, int]]:
    """Every absolute import that can run, wherever it stands, with its line."""
    match node:
        case ast.If(test=ast.Name("TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
            children: list[ast.AST] = list(node.orelse)
        case ast.Import(names=names):
            yield from ((alias.name, node.lineno) for alias in names)
            return
        case ast.ImportFrom(module=str(module), level=0):
            yield module, node.lineno
            return
        case ast.Call(
            func=ast.Name("__import__" | "import_module") | ast.Attribute(attr="import_module"),
            args=[ast.Constant(str(module)), *_],
        ):
            yield module, node.lineno
            return
        case _:
            children = list(ast.iter_child_nodes(node))
    for child in children:
        yield from imports(child)


def no_opening_sentence(files: list[File]) -> list[str]:
    return [
        f"{file.path}: does not open with a sentence"
        for file in files
        if file.is_source and not re.match(r"\S+(\s+\S+){2,}?[.:](\s|$)", opening(file))
    ]


def opening(file: File) -> str:
    """The first paragraph of the comment or docstring at the top, unwrapped."""
    if file.suffix in {".py", ".pyi"} and (docstring := ast.get_docstring(ast.parse(file.text))):
        return " ".join(docstring.partition("\n\n")[0].split())
    mark = "//!" if file.suffix == ".rs" else "#"
    words: list[str] = []
    for line in re.sub(r"\A#!.*\n", "", file.text).splitlines():
        if not line.startswith(mark) or not line[len(mark) :].strip():
            break
        words += line[len(mark) :].split()
    return " ".join(words)


def too_long(files: list[File]) -> list[str]:
    found = []
    for file in files:
        if not file.is_source:
            continue
        if (lines := len(file.text.splitlines())) > MAX_FILE_LINES:
            found.append(f"{file.path}: {lines} lines")
        for name, line, length in functions(file):
            if length > MAX_FUNCTION_LINES:
                found.append(f"{file.path}:{line}: {name} has {length} lines")
    return found


def functions(file: File) -> Iterator[tuple[str, int, int]]:
    """Each function with its first line and its number of lines."""
    if file.suffix in {".py", ".pyi"}:
        for node in ast.walk(ast.parse(file.text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node.name, node.lineno, (node.end_lineno or node.lineno) - node.lineno + 1
    elif file.suffix == ".rs":
        lines = file.text.splitlines()
        for first, line in enumerate(lines):
            if head := RUST_FUNCTION.match(line):
                yield head[1], first + 1, rust_end(lines, first) - first + 1


def rust_end(lines: list[str], first: int) -> int:
    """The last line of a function that rustfmt laid out: its brace has the indent of its `fn`."""
    indent = len(lines[first]) - len(lines[first].lstrip())
    for number, line in enumerate(lines[first:], first):
        at_indent = len(line) - len(line.lstrip()) == indent
        if at_indent and line.rstrip().endswith(("}", ";")):
            return number
    return len(lines) - 1


def unsafe_without_reason(files: list[File]) -> list[str]:
    found = []
    for file in files:
        if not (file.path.startswith("rust/") and file.suffix == ".rs"):
            continue
        lines = file.text.splitlines()
        code = file.code.splitlines()
        for number, line in enumerate(code):
            if UNSAFE.search(line) and not explained(lines, code, number):
                found.append(f"{file.path}:{number + 1}: unsafe without a SAFETY comment")
    return found


def explained(lines: list[str], code: list[str], number: int) -> bool:
    """Whether a SAFETY comment stands in the line, opens its block, or precedes its statement."""
    opens = code[number].rstrip().endswith("{")
    if any("SAFETY:" in line for line in lines[number : number + 1 + opens]):
        return True
    for above in range(number - 1, -1, -1):
        if "SAFETY:" in lines[above]:
            return True
        ended = code[above].rstrip().endswith((";", "{", "}"))
        if ended or UNSAFE.search(code[above]) or not lines[above].strip():
            return False
    return False


def names_machine(files: list[File]) -> list[str]:
    found = []
    for file in files:
        # The lock file names its registry in each entry.
        patterns = (
            [MACHINE_PATH] if file.path.endswith("Cargo.lock") else [MACHINE_PATH, REGISTRY_HOST]
        )
        for number, line in enumerate(file.text.splitlines(), 1):
            if any(pattern.search(line) for pattern in patterns):
                found.append(f"{file.path}:{number}: {line.strip()[:80]}")
    return found


# A check, a file it must accept and a file it must reject.
LONG_PYTHON = '"""A long function."""\n\n\ndef f():\n' + "    pass\n" * MAX_FUNCTION_LINES
LONG_RUST = "//! A long function.\nimpl T {\n    fn f() {\n" + "        g();\n" * 59 + "    }\n}\n"
SAMPLES: list[tuple[Check, File, File]] = [
    (
        core_knows_python,
        File("rust/einrs/src/lib.rs", "//! Not PyO3.\n"),
        File("rust/einrs/src/lib.rs", "use pyo3::prelude::*;\n"),
    ),
    (
        core_knows_python,
        File("rust/einrs/Cargo.toml", '# No pyo3.\n[dependencies]\nunicode-ident = "1"\n'),
        File("rust/einrs/Cargo.toml", '[dependencies]\npyo3 = "0.30"\n'),
    ),
    (
        binding_imports_framework,
        File(
            "rust/einrs-python/src/a.rs",
            'py.import("einrs._frameworks._torch")?; // import("torch")\n',
        ),
        File("rust/einrs-python/src/a.rs", 'let torch = py\n    .import(intern!(py, "torch"))?;\n'),
    ),
    (
        binding_imports_framework,
        File("rust/einrs-python/src/a.rs", 'PyImport_GetModule(text("numpy"));\n'),
        File("rust/einrs-python/src/a.rs", 'PyImport_ImportModule(c"numpy.linalg".as_ptr());\n'),
    ),
    (
        stray_framework_import,
        File("python/einrs/_frameworks/_torch.py", "import torch.nn\n"),
        File("python/einrs/_frameworks/_jax.py", "def f():\n    from torch import nn\n"),
    ),
    (
        stray_framework_import,
        File(
            "python/einrs/_replay.py", "if TYPE_CHECKING:\n    import numpy\nfrom . import torch\n"
        ),
        File("python/einrs/_replay.py", "importlib.import_module('numpy.linalg')\n"),
    ),
    (
        no_opening_sentence,
        File("tests/a.py", '"""Turns names into axes."""\n'),
        File("tests/a.py", "x = 1\n"),
    ),
    (
        no_opening_sentence,
        File("rust/a.rs", "//! Turns names\n//! into axes.\n\nfn f() {}\n"),
        File("rust/a.rs", "//! Names\nfn f() {}\n"),
    ),
    (
        no_opening_sentence,
        File("a.sh", "#!/bin/sh\n# Turns names into axes.\n"),
        File("a.sh", "#!/bin/sh\nset -e\n"),
    ),
    (too_long, File("a.py", '"""One\nfile\n"""\n' * 130), File("a.sh", "true\n" * 401)),
    (too_long, File("a.py", LONG_PYTHON.replace("    pass\n", "", 1)), File("a.py", LONG_PYTHON)),
    (too_long, File("a.rs", LONG_RUST.replace("        g();\n", "", 1)), File("a.rs", LONG_RUST)),
    (
        unsafe_without_reason,
        File("rust/a.rs", "// SAFETY: p is valid.\nlet x = f(\n    unsafe { *p },\n);\n"),
        File(
            "rust/a.rs", "// SAFETY: p is valid.\nlet x = unsafe { *p };\nlet y = unsafe { *q };\n"
        ),
    ),
    (
        names_machine,
        File("README.md", "target/" + "tmp/x and https://docs.rs/einrs\n"),
        File("README.md", "see " + "/tm" + "p/x\n"),
    ),
    (
        names_machine,
        File("a.md", "from PyPI\n"),
        File("a.md", "https://" + "pypi" + ".org/einrs\n"),
    ),
]
CHECKS = list(dict.fromkeys(check for check, _, _ in SAMPLES))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_repository_keeps_the_rule(check: Check) -> None:
    assert check(list(repository())) == []


@pytest.mark.parametrize(("check", "good", "bad"), SAMPLES)
def test_check_tells_good_from_bad(check: Check, good: File, bad: File) -> None:
    assert check([good]) == []
    assert check([bad]) != []


def test_checks_see_the_tree() -> None:
    seen = {file.path for file in repository()}
    assert {"Makefile", "tests/test_house.py", "rust/einrs/src/lib.rs"} <= seen
    assert set(OWNERS) - {"python/einrs/_frameworks/_dynamo.py"} <= seen
