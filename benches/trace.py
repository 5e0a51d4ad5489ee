"""Measures what tracing costs with einrs, with einops and by hand, and prints one table.

    python benches/trace.py [--only torch,jax,tensorflow,imports] [--quick] [--markdown]

Contenders take turns in one process and each keeps its lowest time. Every section is a process of
its own, since torch and tensorflow do not bear each other in one.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import subprocess
import sys
from collections.abc import Sequence

from contest import Result
from report import number
from table import Table

SECTIONS = {"torch": "torch", "jax": "jax", "tensorflow": "tensorflow", "imports": "torch"}
"""Section to the package that it needs."""

WHO = ("hand", "einops", "einrs")


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    if len(options.only) > 1:
        for section in options.only:
            flags = [flag for flag in ("--quick", "--markdown") if getattr(options, flag[2:])]
            command = [sys.executable, __file__, "--only", section, *flags]
            subprocess.run(command, check=True)
        return
    (section,) = options.only
    if importlib.util.find_spec(SECTIONS[section]) is None:
        print(f"{SECTIONS[section]} is not installed: the section {section} is left out")
        return
    packages = {name: importlib.import_module(name) for name in ("einops", "einrs")}
    module = importlib.import_module(f"trace_{section}")
    print_table(section, module.results(packages, 1 if options.quick else 6), options)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--only", type=sections, default=list(SECTIONS), help=",".join(SECTIONS))
    parser.add_argument("--quick", action="store_true", help="one round: shows that it runs")
    parser.add_argument("--markdown", action="store_true", help="print tables for a page")
    return parser.parse_args(arguments)


def sections(text: str) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in SECTIONS:
            raise argparse.ArgumentTypeError(f"{name!r} is not one of {', '.join(SECTIONS)}")
    return names


def print_table(section: str, results: Sequence[Result], options: argparse.Namespace) -> None:
    lines = [line(result) for result in results]
    header = ("what", "unit", *WHO, "einrs : hand", "at most", "verdict")
    table = Table(f"tracing, {section}", header, lines, right_from=2)
    if options.quick:
        print("quick run: it shows that everything runs; its numbers mean nothing")
    print(f"\n{table.markdown() if options.markdown else table.plain()}")


def line(result: Result) -> tuple[str, ...]:
    figures = [number(result.figures[who]) if who in result.figures else "-" for who in WHO]
    ratio = "-" if result.ratio is None else f"{result.ratio:.2f}"
    limit = "-" if result.contest.limit is None else f"{result.contest.limit:g}"
    return (result.contest.title, result.contest.unit, *figures, ratio, limit, result.verdict)


if __name__ == "__main__":
    main()
