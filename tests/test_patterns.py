"""Turns calls found in public code (data/patterns.jsonl) into tests: each equals einops.

A row holds the operation, the pattern, how often the survey met it, a shape and lengths that
fit, and the shape that einops gives. Two rows are mistakes of their authors.
"""

import json
from pathlib import Path
from typing import Any

import einops
import pytest

import einrs
from differential import check, run
from einrs.testing import Case
from tensors import FRAMEWORKS

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "patterns.jsonl").read_text("utf-8").splitlines()
]
VALID = [row for row in ROWS if "error" not in row]
INVALID = [row for row in ROWS if "error" in row]

with_frameworks = pytest.mark.parametrize(
    "name", ["numpy", pytest.param("torch", marks=pytest.mark.needs_torch)]
)


def case_of(row: dict[str, Any]) -> Case:
    """The case of a row; a reduction that was a variable in the source is a mean here."""
    return Case(
        op=row["op"],
        pattern=row["pattern"],
        shape=tuple(row.get("shape", ())),
        lengths=tuple(row.get("kwargs", {}).items()),
        reduction=row.get("reduction_used"),
    )


def test_the_survey_is_whole() -> None:
    assert {row["op"] for row in VALID} == {"rearrange", "reduce", "repeat"}
    assert (len(VALID), len(INVALID)) == (1128, 2)


@with_frameworks
@pytest.mark.parametrize("row", VALID, ids=lambda row: f"{row['op']} {row['pattern']}")
def test_pattern(name: str, row: dict[str, Any]) -> None:
    framework, case = FRAMEWORKS[name], case_of(row)
    verdict = check(einrs, framework, case)
    assert verdict.kind == "ok, equal", verdict
    ours = run(einrs, framework, case).value
    assert list(ours.shape) == row["out_shape"]
    assert strides_of(ours) == strides_of(run(einops, framework, case).value)


def strides_of(result: Any) -> tuple[int, ...]:
    """All strides, those of axes of length 1 too."""
    strides = result.stride() if callable(getattr(result, "stride", None)) else result.strides
    return tuple(strides)


@with_frameworks
@pytest.mark.parametrize("row", INVALID, ids=lambda row: f"{row['op']} {row['pattern']}")
def test_mistake(name: str, row: dict[str, Any]) -> None:
    outcome = run(einrs, FRAMEWORKS[name], case_of(row))
    assert isinstance(outcome.error, einrs.EinopsError)
