"""Turns calls found in public code (data/patterns.jsonl) into tests: each equals einops.

A row holds the operation, the pattern, how often the survey met it, shapes and lengths that fit,
and the shape that einops gives. Two rows are mistakes of their authors. Names with a capital are
layers.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import einops
import pytest

import einrs
from differential import check, run
from einrs.testing import JOINS, Case
from layered import Layers
from tensors import FRAMEWORKS

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "patterns.jsonl").read_text("utf-8").splitlines()
]
LAYERS = ("Rearrange", "Reduce", "EinMix")
INVALID = [row for row in ROWS if "error" in row]
LAYER_ROWS = [row for row in ROWS if row["op"] in LAYERS]
VALID = [row for row in ROWS if row not in INVALID and row not in LAYER_ROWS]

with_frameworks = pytest.mark.parametrize(
    "name", ["numpy", pytest.param("torch", marks=pytest.mark.needs_torch)]
)


def row_id(row: dict[str, Any]) -> str:
    return f"{row['op']} {row['pattern']}"


def case_of(row: dict[str, Any]) -> Case:
    """The case of a row; a reduction that was a variable in the source is a mean here."""
    op = row["op"].lower()
    if op in JOINS:
        return join_of(row)
    texts = [row[name] for name in ("weight_shape", "bias_shape") if row.get(name)]
    return Case(
        op=op,
        pattern="|".join([row["pattern"], *texts]),
        shape=tuple(row.get("shape", ())),
        lengths=tuple(row.get("kwargs", {}).items()),
        reduction=row.get("reduction_used"),
    )


def join_of(row: dict[str, Any]) -> Case:
    """The case of an operation on several tensors; what is unpacked is what was packed."""
    first, *others = map(tuple, row["shapes"])
    if row["op"] == "unpack":
        packed = tuple(map(tuple, row["packed_shapes"]))
        return Case("unpack", row["pattern"], tuple(row["out_shape"]), packed=packed)
    parts = tuple((shape, "float32", "C") for shape in others)
    return Case(row["op"], row["pattern"], first, others=parts)


def test_the_survey_is_whole() -> None:
    assert Counter(row["op"] for row in ROWS) == {
        "rearrange": 826,
        "Rearrange": 182,
        "repeat": 203,
        "reduce": 101,
        "Reduce": 9,
        "einsum": 71,
        "pack": 37,
        "unpack": 24,
        "EinMix": 1,
    }
    assert (len(VALID), len(LAYER_ROWS), len(INVALID)) == (1260, 192, 2)


@with_frameworks
@pytest.mark.parametrize("row", VALID, ids=row_id)
def test_pattern(name: str, row: dict[str, Any]) -> None:
    framework, case = FRAMEWORKS[name], case_of(row)
    verdict = check(einrs, framework, case)
    assert verdict.kind == "ok, equal", verdict
    ours, theirs = run(einrs, framework, case), run(einops, framework, case)
    if row["op"] == "unpack":
        shapes = [list(piece.shape) for piece in ours.value]
        assert shapes == row["shapes"]
    else:
        assert list(ours.leaves[0].shape) == row["out_shape"]
    if row["op"] == "pack":
        assert [list(shape) for shape in ours.value[1]] == row["packed_shapes"]
    strides = [[strides_of(leaf) for leaf in one.leaves] for one in (ours, theirs)]
    assert strides[0] == strides[1]


def strides_of(result: Any) -> tuple[int, ...]:
    """All strides, those of axes of length 1 too; a packed shape has none."""
    strides = result.stride() if callable(getattr(result, "stride", None)) else None
    return tuple(strides or getattr(result, "strides", ()))


@pytest.mark.needs_torch
@pytest.mark.parametrize("row", LAYER_ROWS, ids=row_id)
def test_layer(row: dict[str, Any]) -> None:
    """A layer gives what the function gives, and what einops' layer gives."""
    framework, case = FRAMEWORKS["torch"], case_of(row)
    verdict = check(Layers(einrs), framework, case)
    assert verdict.kind == "ok, equal", verdict
    ours, theirs = (run(Layers(module), framework, case) for module in (einrs, einops))
    for one, other in zip(ours.leaves, theirs.leaves, strict=True):
        assert framework.describe(one) == framework.describe(other)
        assert framework.same_values(one, other, case)
    assert "out_shape" not in row or list(ours.leaves[0].shape) == row["out_shape"]


@with_frameworks
@pytest.mark.parametrize("row", INVALID, ids=row_id)
def test_mistake(name: str, row: dict[str, Any]) -> None:
    outcome = run(einrs, FRAMEWORKS[name], case_of(row))
    assert isinstance(outcome.error, einrs.EinopsError)
