"""Turns what the tests of tracing found (docs/cells) into the page docs/where-it-works.md."""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
CELLS, PAGE = ROOT / "docs" / "cells", ROOT / "docs" / "where-it-works.md"

FRAMEWORKS = ("torch", "jax", "tensorflow", "keras")
FAMILIES = {
    "": "functions",
    "linen": "layers of flax linen",
    "nnx": "layers of flax nnx",
    "equinox": "layers of equinox",
}
"""Layers of a family have its name before a dot."""

SIGNS = {"passes": "✓", "alike": "=", "fails": "✗", "not run": "–"}
EVERY = {"every function": str.islower, "every layer": lambda name: not name.islower()}
"""Rows of one test for many operations."""

HEAD = """\
# Where it works

Written by `python scripts/where_it_works.py` from what `make test-trace` and `make test-torch`
found; a test fails when the two differ. A row is a mode of the framework, a column an operation.
Each cell ran the operation in that mode beside hand-written code and compared results, warnings
and, where the mode has them, graphs and dynamic sizes.

| sign | meaning |
|---|---|
| ✓ | does what hand-written code does |
| = | hand-written code fails in the same way; the note says why |
| ✗ | fails, and hand-written code does not |
| – | not run; the note says why |

An empty cell: the mode has no such row, as with layers where a mode takes functions only.
"""


class Cell(NamedTuple):
    """What the tests of one operation in one mode found."""

    outcome: str
    reason: str


Grid = dict[str, dict[str, Cell]]
"""Modes, each with its operations."""


class Notes:
    """Numbers the reasons of one table."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def sign(self, cell: Cell | None) -> str:
        """What stands in the table."""
        if cell is None:
            return ""
        number = self.numbers.setdefault(cell.reason, len(self.numbers) + 1) if cell.reason else ""
        return SIGNS[cell.outcome] + (f" {number}" if number else "")

    def lines(self) -> Iterator[str]:
        """The reasons, to stand below the table."""
        for reason, number in self.numbers.items():
            yield f"{number}. {reason}"


def load(folder: Path = CELLS) -> dict[str, dict[str, Grid]]:
    """All cells that stand in a folder, by framework and version, oldest version first."""
    found: dict[str, dict[str, Grid]] = {}
    for file in sorted(folder.glob("*.json"), key=version_key):
        framework, _, version = file.stem.rpartition("-")
        grid: Grid = {}
        for mode, operation, outcome, reason in json.loads(file.read_text("utf-8")):
            grid.setdefault(mode, {})[operation] = Cell(outcome, reason)
        found.setdefault(framework, {})[version] = grid
    return found


def version_key(file: Path) -> list[int]:
    """Numbers to sort versions by."""
    return [int(number) for number in re.findall(r"\d+", file.stem.rpartition("-")[2])]


def page(found: dict[str, dict[str, Grid]]) -> str:
    """The whole page."""
    sections = [HEAD]
    for framework in FRAMEWORKS:
        versions = found.get(framework, {})
        if not versions:
            continue
        newest = list(versions)[-1]
        sections.append(f"## {framework} {newest}\n")
        sections += [table(*family) for family in families(versions[newest])]
        if len(versions) > 1:
            sections.append(f"### Versions of {framework}\n\n{across(versions)}")
    return "\n".join(sections)


def families(grid: Grid) -> Iterator[tuple[str, Grid]]:
    """The grid of each family of operations, with a title."""
    for family, title in FAMILIES.items():
        own: Grid = {}
        for mode, cells in grid.items():
            for operation, cell in cells.items():
                before, _, name = operation.rpartition(".")
                if before == family:
                    own.setdefault(mode, {})[name] = cell
        if own:
            layers = any(not name.islower() for cells in own.values() for name in cells)
            yield f"{title} and layers" if layers and not family else title, own


def table(title: str, grid: Grid) -> str:
    """One table of modes by operations, with its notes."""
    named = {name for cells in grid.values() for name in cells} - set(EVERY)
    operations = sorted(named, key=lambda name: (not name.islower(), name.lower()))
    notes = Notes()
    rows = [
        [mode, *(notes.sign(found_in(cells, operation)) for operation in operations)]
        for mode, cells in sorted(grid.items())
    ]
    return "\n".join(
        [f"### {title.capitalize()}\n", *markdown(["", *operations], rows), "", *notes.lines(), ""]
    )


def found_in(cells: dict[str, Cell], operation: str) -> Cell | None:
    """An operation's own cell, else that of a test for all of its kind."""
    if operation in cells:
        return cells[operation]
    for every, holds in EVERY.items():
        if every in cells and holds(operation):
            return cells[every]
    return None


def across(versions: dict[str, Grid]) -> str:
    """How many operations of each mode came to what, version by version."""
    modes = sorted({mode for grid in versions.values() for mode in grid})
    rows = [
        [mode, *(counted(grid.get(mode, {}).values()) for grid in versions.values())]
        for mode in modes
    ]
    return "\n".join([*markdown(["", *versions], rows), "", *only_older(versions), ""])


def only_older(versions: dict[str, Grid]) -> Iterator[str]:
    """Why hand-written code fails in older versions, and einrs with it, where it now works."""
    *older, newest = versions
    for version in older:
        reasons = why_alike(versions[version])
        only = [reason for reason in reasons if reason not in why_alike(versions[newest])]
        if only:
            yield f"- {version} only: {'; '.join(only)}"


def why_alike(grid: Grid) -> list[str]:
    """The reasons of the cells in which hand-written code fails, each once."""
    cells = [cell for row in grid.values() for cell in row.values()]
    return list(dict.fromkeys(cell.reason for cell in cells if cell.outcome == "alike"))


def counted(cells: Iterable[Cell]) -> str:
    """`12 ✓ 2 =`."""
    outcomes = [cell.outcome for cell in cells]
    counts = ((outcomes.count(outcome), sign) for outcome, sign in SIGNS.items())
    return " ".join(f"{count} {sign}" for count, sign in counts if count)


def markdown(head: list[str], rows: list[list[str]]) -> Iterator[str]:
    """The lines of a table."""
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield f"| {' | '.join(row)} |"


if __name__ == "__main__":
    PAGE.write_text(page(load()), "utf-8")
