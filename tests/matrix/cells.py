"""Turns tests into cells of the page "Where it works": a pytest plugin, a marker and a fixture.

A test fills cells by the marker `cell`:

    @pytest.mark.cell("jax")
    @pytest.mark.parametrize("mode", ["jit", "vmap"])
    @pytest.mark.parametrize("operation", ["rearrange", "Reduce"])
    def test_transforms(mode, operation): ...

The framework is the name of its package. Mode and operation are the parameters of those names, or
are given: `cell("jax", mode="scan", operation="every function")`. Tests of one cell are taken
together, the worst outcome first: fails, alike, passes, not run.

A test that has seen hand-written code fail in the same way asks for the fixture `alike` and calls
`alike(reason)`: the cell then says so, with the reason. A skipped test is "not run", with why.

    pytest tests/matrix --cells docs/cells

merges what was run into docs/cells/FRAMEWORK-VERSION.json, from which scripts/where_it_works.py
writes the page. With `--collect-only` every cell is written as not run, into a folder of its own.
A conftest.py takes the plugin by `from cells import *`.

The marker `slow_trace` leaves a test to runs whose `-m` names that marker.
"""

import json
import sys
from collections.abc import Callable, Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest

__all__ = [
    "alike",
    "pytest_addoption",
    "pytest_collection_modifyitems",
    "pytest_configure",
    "pytest_report_header",
    "pytest_runtest_makereport",
    "pytest_sessionfinish",
]

NOT_RUN, PASSES, ALIKE, FAILS = "not run", "passes", "alike", "fails"
WORST_LAST = (NOT_RUN, PASSES, ALIKE, FAILS)
SLOW = "slow_trace"
LEFT_OUT = "left to `make test-trace`"

Key = tuple[str, str, str]
"""Framework, mode and operation."""
Cell = tuple[str, str]
"""An outcome and its reason."""

CELLS = pytest.StashKey[dict[Key, Cell]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    help_text = "merge the cells of this run into the JSON files of this folder"
    parser.addoption("--cells", metavar="FOLDER", default=None, help=help_text)


def pytest_configure(config: pytest.Config) -> None:
    config.stash[CELLS] = {}
    config.addinivalue_line("markers", 'cell(framework, mode, operation): see "Where it works"')
    config.addinivalue_line("markers", f"{SLOW}: {LEFT_OUT}")


def pytest_report_header(config: pytest.Config) -> list[str]:
    return [] if _slow_wanted(config) else [f"tests marked {SLOW} are {LEFT_OUT}"]


def _slow_wanted(config: pytest.Config) -> bool:
    return SLOW in config.getoption("markexpr", "")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Notes every cell before any test is deselected, then deselects the slow ones."""
    for item in items:
        if key := key_of(item):
            reason = LEFT_OUT if item.get_closest_marker(SLOW) else ""
            config.stash[CELLS].setdefault(key, (NOT_RUN, reason))
    if _slow_wanted(config):
        return
    slow = [item for item in items if item.get_closest_marker(SLOW)]
    if slow:
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if not item.get_closest_marker(SLOW)]


def key_of(item: pytest.Item) -> Key | None:
    """The cell that a test fills, if it has the marker."""
    marker = item.get_closest_marker("cell")
    if marker is None:
        return None
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    known = {"mode": parameters.get("mode"), "operation": parameters.get("operation")}
    known |= marker.kwargs
    (framework,) = marker.args
    for name, value in known.items():
        if not isinstance(value, str):
            raise pytest.UsageError(f"{item.nodeid}: the cell has no {name}")
    return framework, known["mode"], known["operation"]


@pytest.fixture
def alike(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Says that hand-written code fails as ours does, and why."""

    def say(reason: str) -> None:
        request.node.user_properties.append((ALIKE, " ".join(reason.split())))

    return say


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    report = yield
    key = key_of(item)
    if key and (report.when == "call" or not report.passed):
        cells = item.config.stash[CELLS]
        cells[key] = worse(cells.get(key, (NOT_RUN, "")), outcome_of(report))
    return report


def outcome_of(report: pytest.TestReport) -> Cell:
    if report.failed:
        return FAILS, ""
    if report.skipped:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else "expected to fail"
        return NOT_RUN, str(reason).removeprefix("Skipped: ")
    reasons = [str(value) for name, value in report.user_properties if name == ALIKE]
    return (ALIKE, reasons[0]) if reasons else (PASSES, "")


def worse(one: Cell, other: Cell) -> Cell:
    """The outcome that a cell of both has; of two with the same outcome the one with a reason."""
    return max(one, other, key=lambda cell: (WORST_LAST.index(cell[0]), cell[1] != ""))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    folder = session.config.getoption("cells", None)
    if folder is None:
        return
    cells = session.config.stash[CELLS]
    for framework in sorted({framework for framework, _, _ in cells}):
        own = {key[1:]: cell for key, cell in cells.items() if key[0] == framework}
        write(Path(folder) / f"{framework}-{version_of(framework)}.json", own)


def version_of(framework: str) -> str:
    """The version without what says how a wheel was built."""
    try:
        found = version(framework)
    except PackageNotFoundError:
        found = str(getattr(sys.modules[framework], "__version__", "0"))
    return found.partition("+")[0]


def write(file: Path, cells: dict[tuple[str, str], Cell]) -> None:
    """Merges cells into a file: what was not run leaves an earlier outcome alone."""
    merged = dict(read(file)) if file.exists() else {}
    for key, cell in cells.items():
        earlier = merged.get(key, (NOT_RUN, ""))
        merged[key] = worse(earlier, cell) if cell[0] == NOT_RUN else cell
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(json.dumps([*key, *cell]) for key, cell in sorted(merged.items()))
    file.write_text(f"[\n{lines}\n]\n", "utf-8")


def read(file: Path) -> Iterable[tuple[tuple[str, str], Cell]]:
    """The cells of a file: mode and operation, then outcome and reason."""
    for mode, operation, outcome, reason in json.loads(file.read_text("utf-8")):
        yield (mode, operation), (outcome, reason)
