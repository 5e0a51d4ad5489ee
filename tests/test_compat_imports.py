"""Turns each import that public programs make of einops (data/usage_imports.tsv) into a test."""

import doctest
import importlib
import pkgutil
import types
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import einrs
import einrs.compat
from fresh import run


class Row(NamedTuple):
    """One statement: who has it, the framework that must be loaded, and the code."""

    user: str
    needs: str
    statement: str


LINES = (Path(__file__).parent / "data" / "usage_imports.tsv").read_text("utf-8").splitlines()
ROWS = [Row(*line.split("\t")) for line in LINES if not line.startswith("#")]


def parameter(row: Row) -> Any:
    marks = [getattr(pytest.mark, f"needs_{row.needs}")] if row.needs == "torch" else []
    return pytest.param(row, marks=marks, id=row.statement[:70])


def execute(row: Row, package: str) -> None:
    """Runs a statement with the name of the package put in, and the framework in sight."""
    names: dict[str, Any] = {row.needs: importlib.import_module(row.needs)} if row.needs else {}
    code = row.statement.replace("PACKAGE", package).replace("\\n", "\n")
    exec(compile(code, row.user, "exec"), names)


@pytest.mark.parametrize("row", [parameter(row) for row in ROWS])
def test_the_statement_works(row: Row) -> None:
    execute(row, "einrs")


@pytest.mark.parametrize("row", [parameter(row) for row in ROWS if "before" not in row.user])
def test_the_statement_is_einops_own(row: Row) -> None:
    """So that a row cannot ask for what einops never had."""
    execute(row, "einops")


MODULES = ["einops", "parsing", "packing", "array_api", "_backends", "_torch_specific"]


FRAMEWORKS = ["numpy", "torch", "jax", "tensorflow", "keras", "mlx", "tinygrad", "pytensor"]


def own_names(module: Any) -> set[str]:
    """What a module defines or takes from einops: not what it imports from elsewhere."""
    return {
        name
        for name, value in vars(module).items()
        if not name.startswith("__")
        and not isinstance(value, types.ModuleType)
        and getattr(value, "__module__", "einops") not in ("typing", "functools", "collections")
    }


@pytest.mark.parametrize("name", [*MODULES, "experimental", "experimental.indexing"])
def test_every_name_of_einops_module_is_there(name: str) -> None:
    if name == "_torch_specific":
        pytest.importorskip("torch")
    theirs = importlib.import_module(f"einops.{name}")
    ours = importlib.import_module(f"einrs.{name}")
    missing = [one for one in sorted(own_names(theirs)) if not hasattr(ours, one)]
    assert missing == []


@pytest.mark.parametrize("name", [*MODULES, "experimental"])
def test_a_module_has_a_sentence_and_hands_on_einrs_own(name: str) -> None:
    module = importlib.import_module(f"einrs.{name}")
    assert module.__doc__
    for operation in ("rearrange", "reduce", "repeat", "einsum", "parse_shape", "pack", "unpack"):
        if name in ("einops", "packing") and hasattr(module, operation):
            assert getattr(module, operation) is getattr(einrs, operation)


def test_no_framework_is_imported() -> None:
    """Nor is what exists for these programs imported by einrs itself."""
    names = ", ".join(f"einrs.{name}" for name in MODULES)
    run(
        f"""
        import sys
        import einrs
        assert not [name for name in sys.modules if name.startswith("einrs.compat")]
        before = set(sys.modules)
        import {names}, einrs.experimental.indexing
        einrs._torch_specific.allow_ops_in_compiled_graph()
        for framework in {tuple(FRAMEWORKS)}:
            assert framework not in set(sys.modules) - before, framework
        """
    )


BEHIND = [one.name for one in pkgutil.iter_modules(einrs.compat.__path__) if one.name != "scripted"]
"""The modules that hold them, but the one that imports torch."""


@pytest.mark.parametrize("name", BEHIND)
def test_the_examples_of_what_stands_behind_them(name: str) -> None:
    """In a process of their own: a backend that an example defines is there for good."""
    run(
        f"""
        import doctest, einrs.compat.{name} as module
        # Not the module's own name: a backend of an example is the program's.
        found = doctest.testmod(module, extraglobs={{"__name__": "__main__"}})
        assert found.failed == 0
        """
    )


def test_they_have_examples() -> None:
    finder = doctest.DocTestFinder()
    modules = [importlib.import_module(f"einrs.compat.{name}") for name in BEHIND]
    tests = [test for module in modules for test in finder.find(module) if test.examples]
    assert len(tests) >= 8
