"""Turns each row of the tables about several tensors into calls, which give what the row says.

Three ways are held to it: the builtins, the readable functions they leave a call to, and what
Dynamo traces. All three give what einops gives, where einops accepts the call.
"""

import re
import unicodedata
from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

import einops
import numpy
import pytest

import einrs
from einrs import _einrs, _ops
from sides import outcome
from tensors import long_strides
from test_tables import places, rows, sizes

# What the framework refuses under Dynamo stays its own error.
FOUND_BY_FRAMEWORK = {"OperandCount", "OperandRank", "AxisMismatch"}

# einops' sentence holds what the core says on a line of its own, or quotes the text.
ANOTHER_FIRST_LINE = {"UnknownCharacter", "UnclosedBracket"}

# Limits that einops lacks; after them something else refuses.
ONLY_OURS = {"TooLong", "TooManyAxes", "TwoArrows"}


class Row(NamedTuple):
    """The columns that both tables share, read as in the headers of the tables."""

    op: str
    pattern: str
    shapes: str
    extra: str

    @property
    def sizes(self) -> list[tuple[int, ...]]:
        return shapes(self.shapes)

    @property
    def pieces(self) -> list[tuple[int, ...]]:
        return shapes(self.extra)

    def on(self, module: Any, make: Callable[[Any], Any]) -> Any:
        """The call on tensors that hold different small integers."""
        function, tensors = getattr(module, self.op), [make(array) for array in self.arrays()]
        match self.op:
            case "einsum":
                return function(*tensors, self.pattern)
            case "pack":
                return function(tensors, self.pattern)
            case "unpack":
                return function(tensors[0], self.pieces, self.pattern)
            case _:
                return function(tensors[0], self.pattern)

    def arrays(self) -> list[Any]:
        return [
            numpy.asarray(numpy.arange(prod(shape)).reshape(shape) * 37 % 5 + i, float)
            for i, shape in enumerate(self.sizes)
        ]

    def for_einops(self) -> tuple["Row", dict[str, str]]:
        """The same call in words that einops takes, and what our names are there."""
        text = unicodedata.normalize("NFKC", self.pattern)
        names = dict.fromkeys(re.findall(r"[^\W\d_]\w*", text))
        plain = {name: f"name{number}" for number, name in enumerate(names)}
        text = re.sub(r"[^\W\d_]\w*", lambda name: plain[name[0]], text)
        return self._replace(pattern=re.sub(r"\s", " ", text)), plain


def shapes(cell: str) -> list[tuple[int, ...]]:
    return [sizes(shape) for shape in cell.split(";") if cell != "none"]


TABLE = [(Row(*shared), answer) for *shared, answer in rows("joins.tsv")]
REFUSALS = [
    (kind, Row(*shared), places(spans), message)
    for kind, *shared, spans, message in rows("joins_errors.tsv")
]
CALLS = [(row, answer) for row, answer in TABLE if row.op != "einmix"]
REFUSED = [refusal for refusal in REFUSALS if refusal[1].op != "einmix"]


# einops stumbles over the ellipsis, sees one unknown length in one shape however often it stands,
# and lets jax divide by the length of 0.
REFUSED_OTHERWISE = (
    Row("parse_shape", "a (...)", "2,6", "-"),
    Row("unpack", "*", "10", "-1,-1"),
    Row("pack", "高 *", "2;0,3", "-"),
)


def row_id(value: Any) -> str:
    if isinstance(value, Row):
        return f"{value.op} {value.pattern:.40} {value.shapes} {value.extra}"
    return value if isinstance(value, str) and value.isalpha() else ""


def on_torch(array: Any) -> Any:
    import torch

    return torch.from_numpy(array)


def on_jax(array: Any) -> Any:
    import jax.numpy

    return jax.numpy.asarray(array)


each_framework = pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda array: array, id="numpy"),
        pytest.param(on_torch, id="torch", marks=pytest.mark.needs_torch),
        pytest.param(on_jax, id="jax", marks=pytest.mark.needs_jax),
    ],
)


def polyfills() -> Any:
    from einrs import _polyfills

    return _polyfills


each_way = pytest.mark.parametrize(
    "way",
    [
        pytest.param(lambda: einrs, id="native"),
        pytest.param(lambda: _ops, id="readable"),
        pytest.param(polyfills, id="traced", marks=pytest.mark.needs_torch),
    ],
)


def untraced(way: Callable[[], Any], make: Callable[[Any], Any]) -> bool:
    """Dynamo traces torch's tensors, and numpy's arrays as if they were."""
    return way is polyfills and make is on_jax


def facts(result: Any, _: Any = None) -> dict[str, Any]:
    """What two results must have in common: structure, types, numbers, strides."""
    if isinstance(result, dict):
        return {"type": type(result), "items": list(result.items())}
    if isinstance(result, (list, tuple)) and any(hasattr(part, "dtype") for part in result):
        found = {"type": type(result), "length": len(result)}
        return found | {str(i): facts(part) for i, part in enumerate(result)}
    if not hasattr(result, "dtype"):
        parts = list(map(type, result)) if isinstance(result, (list, tuple)) else []
        return {"type": type(result), "parts": parts, "value": result}
    strides = getattr(result, "strides", None) or getattr(result, "stride", tuple)()
    return {
        "type": type(result),
        "dtype": result.dtype,
        "shape": result.shape,
        "strides": long_strides(tuple(result.shape), strides) if strides else None,
        "value": numpy.asarray(result).tolist(),
    }


def answered(row: Row, answer: str) -> Any:
    """What the answer of the table means, by numpy alone."""
    arrays = row.arrays()
    match row.op:
        case "einsum":
            return numpy.einsum(answer, *arrays)
        case "pack":
            before, after = map(int, answer.split(" * "))
            packed = [shape[before : len(shape) - after] for shape in row.sizes]
            kept = [(shape[:before], shape[len(shape) - after :]) for shape in row.sizes]
            flat = [
                array.reshape((*first, prod(middle), *last))
                for array, middle, (first, last) in zip(arrays, packed, kept, strict=True)
            ]
            return numpy.concatenate(flat, before), packed
        case "unpack":
            axis = row.pattern.split().index("*")
            parts = [] if answer == "none" else answer.split(" ")
            return [
                piece(arrays[0], axis, bounds, shape)
                for bounds, shape in zip(parts, row.pieces, strict=True)
            ]
        case _:
            named = [part.split("@") for part in answer.split(" ") if "@" in part]
            return {name: row.sizes[0][int(dim)] for name, dim in named}


def piece(array: Any, axis: int, bounds: str, shape: tuple[int, ...]) -> Any:
    place, _, unknown = bounds.partition("=")
    start, stop = map(int, place.split(":"))
    part = array[(slice(None),) * axis + (slice(start, stop),)]
    known = tuple(int(unknown) if size == -1 else size for size in shape)
    return part.reshape(array.shape[:axis] + known + array.shape[axis + 1 :])


def values(result: Any) -> Any:
    """A result as plain Python objects."""
    if isinstance(result, dict):
        return result
    if isinstance(result, (list, tuple)):
        return [values(part) for part in result]
    return numpy.asarray(result).tolist() if hasattr(result, "dtype") else result


@each_way
@each_framework
@pytest.mark.parametrize(("row", "answer"), CALLS, ids=row_id)
def test_row_gives_its_answer(
    way: Callable[[], Any], make: Callable[[Any], Any], row: Row, answer: str
) -> None:
    if untraced(way, make):
        return
    wanted = answered(row, answer)
    # The second call may be served from a cache.
    for _ in range(2):
        result = row.on(way(), make)
        assert values(result) == values(wanted)
        if row.op == "parse_shape":
            assert list(result) == list(wanted)


@each_way
@each_framework
@pytest.mark.parametrize(("row", "answer"), CALLS, ids=row_id)
def test_row_gives_what_einops_gives(
    way: Callable[[], Any], make: Callable[[Any], Any], row: Row, answer: str
) -> None:
    if untraced(way, make):
        return
    plain, names = row.for_einops()
    error, theirs = outcome(einops, lambda module, _: plain.on(module, make), None, facts)
    _, ours = outcome(way(), lambda module, _: row.on(module, make), None, facts)
    if error is not None:
        # numpy and torch cannot infer a length beside one of 0.
        assert any(0 in shape for shape in row.sizes), error
        assert row.op in ("pack", "unpack")
        return
    if row.op == "parse_shape":
        ours["items"] = [(names[name], size) for name, size in ours["items"]]
    assert ours == theirs


@pytest.mark.parametrize(
    ("row", "answer"), [pair for pair in TABLE if pair[0].op == "einmix"], ids=row_id
)
def test_row_of_einmix(row: Row, answer: str) -> None:
    refusal, parts = einmix(row)
    assert refusal is None
    pre, post, einsum, weight, fan_in, bias = parts
    names = [" ".join(axes) or "none" for axes in (weight, fan_in)]
    biased = "-" if bias is None else " ".join(axis or "1" for axis in bias) or "none"
    assert answer == "; ".join([pre or "-", einsum, post or "-", *names, biased])


def einmix(row: Row) -> Any:
    weight, bar, bias = row.extra.partition("|")
    names = [name for name in row.shapes.split(",") if name != "-"]
    return _einrs.einmix(row.pattern, weight, bias if bar else None, names)


@each_way
@each_framework
@pytest.mark.parametrize(("kind", "row", "spans", "message"), REFUSED, ids=row_id)
def test_refusal_says_what_the_table_says(
    way: Callable[[], Any],
    make: Callable[[Any], Any],
    kind: str,
    row: Row,
    spans: tuple[tuple[int, ...], ...],
    message: str,
) -> None:
    if untraced(way, make) or (way is polyfills and kind in FOUND_BY_FRAMEWORK):
        return
    before = einrs.cache_info().size
    for _ in range(2):
        with pytest.raises(einrs.EinopsError) as raised:
            row.on(way(), make)
        error = raised.value
        assert (error.kind, error.pattern, error.spans) == (kind, row.pattern, spans)
        assert message in str(error)
        assert f"processing {row.op} with pattern" in str(error)
    kept = einrs.cache_info().size - before
    # What is wrong with the tensors alone leaves a right pattern compiled.
    assert kept <= 1


@pytest.mark.parametrize(
    ("kind", "row", "spans", "message"),
    [refusal for refusal in REFUSALS if refusal[1].op == "einmix"],
    ids=row_id,
)
def test_refusal_of_einmix(
    kind: str, row: Row, spans: tuple[tuple[int, ...], ...], message: str
) -> None:
    assert einmix(row) == ((kind, message, spans), None)


@each_framework
@pytest.mark.parametrize(("kind", "row", "spans", "message"), REFUSED, ids=row_id)
def test_whoever_catches_einops_error_catches_ours(
    make: Callable[[Any], Any], kind: str, row: Row, spans: Any, message: str
) -> None:
    """And finds the line that einops begins with, if he knows it."""
    theirs, _ = outcome(einops, lambda module, _: row.on(module, make), None, facts)
    ours, _ = outcome(einrs, lambda module, _: row.on(module, make), None, facts)
    if theirs is None or kind in ONLY_OURS or row in REFUSED_OTHERWISE:
        return
    is_einops_error = isinstance(theirs, einops.EinopsError)
    assert isinstance(ours, einrs.EinopsError if is_einops_error else type(theirs))
    if is_einops_error and kind not in ANOTHER_FIRST_LINE:
        assert str(ours).startswith(str(theirs).partition("\n")[0])
