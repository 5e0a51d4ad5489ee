"""Turns measured costs into ratios, geometric means, goals met or missed, tables and JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from caching import PATTERNS, SHAPES, Rotation
from cases import APART, LABELS, Row
from table import Table
from timing import Cost, ratio

CONTENDERS = ("hand", "einops", "einrs")
Measured = tuple[float, str] | None


@dataclass(frozen=True)
class Result:
    """A row and what it cost in each of the three ways."""

    row: Row
    costs: dict[str, Cost]

    @property
    def to_hand(self) -> float:
        return ratio(self.costs["einrs"], self.costs["hand"])

    @property
    def to_einops(self) -> float:
        return ratio(self.costs["einops"], self.costs["einrs"])


@dataclass
class Findings:
    """Everything one run has measured."""

    machine: dict[str, str] = field(default_factory=dict)
    results: list[Result] = field(default_factory=list)
    rotations: list[Rotation] = field(default_factory=list)
    first_call: dict[str, float] = field(default_factory=dict)
    bulk: list[Result] = field(default_factory=list)

    def of(self, *groups: str) -> list[Result]:
        return [result for result in self.results if result.row.group in groups]

    def groups(self) -> dict[str, list[Result]]:
        names = dict.fromkeys(result.row.group for result in self.results)
        return {name: self.of(name) for name in names if name not in APART}


@dataclass(frozen=True)
class Goal:
    """A number that einrs wants to stay under, and how to find it; None means it was not run."""

    title: str
    limit: float
    measure: Callable[[Findings], Measured]


def geometric(*groups: str) -> Callable[[Findings], Measured]:
    """The geometric mean of einrs : hand over some groups."""

    def measure(findings: Findings) -> Measured:
        ratios = [result.to_hand for result in findings.of(*groups)]
        return (mean(ratios), f"{len(ratios)} rows") if ratios else None

    return measure


def worst(*groups: str) -> Callable[[Findings], Measured]:
    """The highest einrs : hand of some groups."""

    def measure(findings: Findings) -> Measured:
        found = findings.of(*groups)
        top = max(found, key=lambda result: result.to_hand, default=None)
        return (top.to_hand, top.row.title) if top else None

    return measure


def rotation(count: int) -> Callable[[Findings], Measured]:
    """What rotating over `count` inputs costs einrs, as a ratio to its own warm call."""

    def measure(findings: Findings) -> Measured:
        found = [r for r in findings.rotations if r.count == count]
        return (found[0].ratio("einrs"), "to its own warm call") if found else None

    return measure


def numpy_identity(findings: Findings) -> Measured:
    """Nanoseconds of a numpy rearrange that changes nothing."""
    found = [r for r in findings.of("identity") if r.row.framework.section == "numpy"]
    return (found[0].costs["einrs"].low, "ns") if found else None


def first_call(findings: Findings) -> Measured:
    """Microseconds of the first call of a pattern."""
    return (findings.first_call["einrs"] / 1e3, "us, median") if findings.first_call else None


GOALS = (
    Goal("numpy views, geometric mean", 0.5, geometric("numpy view")),
    Goal("numpy views, worst", 0.9, worst("numpy view")),
    Goal("numpy copies and repeats, worst", 0.6, worst("numpy copy", "numpy repeat")),
    Goal("numpy mean", 0.6, worst("numpy mean")),
    Goal("numpy identity", 50, numpy_identity),
    *(Goal(f"{label}, geometric mean", 1.05, geometric(label)) for label in LABELS["torch"]),
    *(Goal(f"{label}, worst", 1.2, worst(label)) for label in LABELS["torch"]),
    *(
        Goal(f"torch, no_grad: {name}", limit, worst(f"torch, no_grad: {name}"))
        for name, limit in (
            ("parse_shape", 0.95),
            ("pack", 0.95),
            ("unpack", 1.1),
            ("einsum", 1.1),
            ("torch layer", 1.1),
        )
    ),
    Goal("jax, geometric mean", 1.05, geometric("jax")),
    Goal(f"{SHAPES:,} rotating shapes", 1.2, rotation(SHAPES)),
    Goal(f"{PATTERNS:,} rotating patterns", 2.0, rotation(PATTERNS)),
    Goal("first call of a numpy transpose", 3.0, first_call),
)


def mean(values: Iterable[float]) -> float:
    """Geometric mean."""
    logs = [math.log(max(value, 1e-9)) for value in values]
    return math.exp(sum(logs) / len(logs))


def verdict(goal: Goal, measured: Measured) -> str:
    """Say whether a goal was met, missed or not run."""
    if measured is None:
        return "not run"
    return "met" if measured[0] <= goal.limit else "MISSED"


def tables(findings: Findings) -> list[Table]:
    """Lay all findings out as tables, leaving out what was not run."""
    every = [
        *_calls(findings.results, "per call, ns", 1.0),
        _rotations(findings),
        _first_calls(findings),
        _means(findings),
        _goals(findings),
        *_calls(findings.bulk, "on big arrays, ms", 1e6),
    ]
    return [table for table in every if table.rows]


def _calls(results: list[Result], title: str, unit: float) -> Iterator[Table]:
    """One table for each framework, one line for each row."""
    header = ("case", "pattern", *CONTENDERS, "einrs : hand", "einops : einrs")
    for label in dict.fromkeys(result.row.framework.label for result in results):
        lines = [
            (
                result.row.title,
                f"`{result.row.case.pattern}`",
                *(number(result.costs[who].low / unit) for who in CONTENDERS),
                "-" if result.row.group == "identity" else f"{result.to_hand:.2f}",
                f"{result.to_einops:.1f}",
            )
            for result in results
            if result.row.framework.label == label
        ]
        yield Table(f"{label} {title}", header, lines, right_from=2)


def _rotations(findings: Findings) -> Table:
    header = ("numpy transpose over", "by", "rotating, ns", "warm, ns", "rotating : warm")
    lines = [
        (
            rotation.name,
            who,
            number(rotation.rotating[who].low),
            number(rotation.warm[who].low),
            f"{rotation.ratio(who):.2f}",
        )
        for rotation in findings.rotations
        for who in rotation.warm
    ]
    return Table("inputs that change every call", header, lines, right_from=2)


def _first_calls(findings: Findings) -> Table:
    lines = [(who, f"{ns / 1e3:.2f}") for who, ns in findings.first_call.items()]
    return Table("first call of a numpy transpose", ("by", "median, us"), lines)


def _means(findings: Findings) -> Table:
    header = ("group", "rows", "einrs : hand", "einops : einrs")
    lines = [
        (
            group,
            str(len(results)),
            f"{mean(result.to_hand for result in results):.2f}",
            f"{mean(result.to_einops for result in results):.1f}",
        )
        for group, results in findings.groups().items()
    ]
    return Table("geometric means (identity and F.max_pool2d apart)", header, lines)


def _goals(findings: Findings) -> Table:
    lines = []
    for goal in GOALS:
        measured = goal.measure(findings)
        value, where = measured or (math.nan, "")
        shown = f"{value:.2f}" if measured else "-"
        lines.append((goal.title, where, f"{goal.limit:g}", shown, verdict(goal, measured)))
    return Table("goals", ("goal", "of", "at most", "measured", "verdict"), lines, right_from=2)


def number(value: float) -> str:
    """Three figures or more, with commas between thousands."""
    if value < 1:
        return f"{value:.3g}"
    return f"{value:,.{0 if value >= 100 else 1 if value >= 10 else 2}f}"


def record(findings: Findings) -> dict[str, Any]:
    """Everything measured as one JSON object; times are nanoseconds per call."""
    return {
        "machine": findings.machine,
        "rows": [_row(result) for result in findings.results],
        "rotations": [asdict(rotation) for rotation in findings.rotations],
        "first_call": findings.first_call,
        "geometric_means": {
            group: mean(result.to_hand for result in results)
            for group, results in findings.groups().items()
        },
        "goals": [_goal(goal, goal.measure(findings)) for goal in GOALS],
        "bulk": [_row(result) for result in findings.bulk],
    }


def _row(result: Result) -> dict[str, Any]:
    row = result.row
    return {
        "framework": row.framework.label,
        "case": row.title,
        "group": row.group,
        "call": row.call,
        "hand": row.hand,
        "costs": {who: asdict(cost) for who, cost in result.costs.items()},
        "einrs_to_hand": result.to_hand,
        "einops_to_einrs": result.to_einops,
    }


def _goal(goal: Goal, measured: Measured) -> dict[str, Any]:
    value, where = measured or (None, "")
    return {
        "goal": goal.title,
        "limit": goal.limit,
        "value": value,
        "of": where,
        "verdict": verdict(goal, measured),
    }
