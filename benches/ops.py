"""Measures einrs beside einops and hand-written code, and prints times, ratios and goals.

    python benches/ops.py [--only numpy,torch,jax,cache] [--bulk] [--quick] [--markdown]
                          [--json FILE]

All contenders run in one process, on one core, in turns. A time is the lowest of many short batches
(the median is in the JSON), less the empty loop. The goals concern small arrays, where the call and
not the work is what costs; `--bulk` adds some rows on big ones.
"""

from __future__ import annotations

import argparse
import importlib
import json
import platform
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import bulk
import caching
import joins
from cases import LABELS, Framework, Row, frameworks
from report import CONTENDERS, Findings, Result, record, tables
from timing import Effort, Race, Snippet, calibrate, pin

CACHE = "cache"
PUBLIC = ("rearrange", "reduce", "repeat", "einsum", "pack", "unpack", "parse_shape")
SECTIONS = (*LABELS, CACHE)
Packages = Mapping[str, ModuleType]


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    core = pin()
    packages = {name: importlib.import_module(name) for name in CONTENDERS[1:]}
    effort = Effort.quick() if options.quick else Effort.usual()
    loaded = [framework for section in options.only for framework in load(section)]
    findings = Findings()
    findings.results = small(loaded, packages, effort)
    if CACHE in options.only:
        findings.rotations, findings.first_call = cache(packages, effort)
    if options.bulk:
        findings.bulk = big(
            loaded, packages, bulk.MEGABYTES[:1] if options.quick else bulk.MEGABYTES
        )
    findings.machine = machine(core)
    publish(findings, options)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--only", type=sections, default=SECTIONS, help=",".join(SECTIONS))
    parser.add_argument("--bulk", action="store_true", help="also time arrays of 1 to 64 MB")
    parser.add_argument("--quick", action="store_true", help="a few batches: shows that it runs")
    parser.add_argument("--markdown", action="store_true", help="print tables for a page")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write everything there")
    return parser.parse_args(arguments)


def sections(text: str) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in SECTIONS:
            raise argparse.ArgumentTypeError(f"{name!r} is not one of {', '.join(SECTIONS)}")
    return names


def load(section: str) -> list[Framework]:
    """Load a section's frameworks and say so where there are none."""
    if section == CACHE:
        return []
    found = frameworks(section)
    if not found:
        print(f"{section} is not installed: its rows are left out", file=sys.stderr)
    return found


def small(loaded: Sequence[Framework], packages: Packages, effort: Effort) -> list[Result]:
    """Time every case on small arrays, in sweeps: a slow minute of the machine spoils no row."""
    rows = [row for framework in loaded for row in framework.rows()]
    races = [race(row, packages, effort) for row in rows]
    for _ in range(effort.sweeps):
        for row, its in zip(rows, races, strict=True):
            with row.framework.context():
                its.run(effort.rounds)
    return [Result(row, its.costs()) for row, its in zip(rows, races, strict=True)]


def big(loaded: Sequence[Framework], packages: Packages, sizes: Sequence[int]) -> list[Result]:
    """Time the bulk rows one after the other, so that only one row's arrays are alive."""
    results = []
    for framework in loaded:
        if framework.label not in bulk.LABELS:
            continue
        for megabytes in sizes:
            effort = bulk.effort(megabytes)
            for row in bulk.rows(framework, megabytes):
                its = race(row, packages, effort)
                with framework.context():
                    its.run(effort.rounds)
                results.append(Result(row, its.costs()))
    return results


def cache(packages: Packages, effort: Effort) -> tuple[list[caching.Rotation], dict[str, float]]:
    """Time changing shapes, changing patterns and first calls."""
    rotations = [
        caching.rotating_shapes(packages, effort),
        caching.rotating_patterns(packages, effort),
    ]
    return rotations, caching.new_patterns(packages)


def race(row: Row, packages: Packages, effort: Effort) -> Race:
    """Check that the contenders of a row agree, then set them up to be timed."""
    contenders: dict[str, Snippet] = {"hand": Snippet(row.hand, row.framework.names, [row.tensor])}
    for name, package in packages.items():
        functions = {public: getattr(package, public) for public in PUBLIC}
        if "layer(" in row.call:
            functions["layer"] = joins.layer(name)
        contenders[name] = Snippet(row.call, functions, [row.tensor])
    with row.framework.context():
        results = {name: snippet.once(row.tensor) for name, snippet in contenders.items()}
        for name, result in results.items():
            agree(f"{row.framework.label}, {row.title}, {name}", result, results["hand"])
        return Race(contenders, partial(calibrate, batch_ns=effort.batch_ns))


def agree(where: str, left: Any, right: Any) -> None:
    """Raise unless two results have one shape, one dtype and the same numbers."""
    import numpy as np

    if isinstance(left, (int, dict)):
        assert left == right, where
        return
    if isinstance(left, (list, tuple)):
        assert len(left) == len(right), where
        for part, other in zip(left, right, strict=True):
            agree(where, part, other)
        return

    a, b = (np.asarray(t.detach() if hasattr(t, "detach") else t) for t in (left, right))
    if left.dtype != right.dtype:
        raise AssertionError(f"{where}: {left.dtype} and {right.dtype}")
    np.testing.assert_allclose(a, b, rtol=1e-5, err_msg=where, strict=True)


def machine(core: int | None) -> dict[str, str]:
    """Describe what the numbers were measured on."""
    loaded = ("einrs", "einops", "numpy", "torch", "jax")
    versions = {
        name: str(getattr(sys.modules[name], "__version__", "unknown"))
        for name in loaded
        if name in sys.modules
    }
    return {
        "processor": processor(),
        "core": "not pinned" if core is None else str(core),
        "system": platform.platform(),
        "python": platform.python_version(),
        **versions,
    }


def processor() -> str:
    """The model name Linux gives, or what Python knows elsewhere."""
    info = Path("/proc/cpuinfo")
    for line in info.read_text().splitlines() if info.exists() else ():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def publish(findings: Findings, options: argparse.Namespace) -> None:
    """Print the tables and write the JSON where asked."""
    print(", ".join(f"{name} {value}" for name, value in findings.machine.items()))
    if options.quick:
        print("\nquick run: it shows that everything runs; its numbers mean nothing")
    for table in tables(findings):
        print(f"\n{table.markdown() if options.markdown else table.plain()}")
    if options.json:
        options.json.write_text(json.dumps(record(findings), indent=1) + "\n")


if __name__ == "__main__":
    main()
