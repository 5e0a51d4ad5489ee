"""Turns each row of the core's tables into calls, whose results and errors are what it says."""

import ast
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from math import prod
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import einops
import numpy
import pytest

import einrs
from einrs import _ops

HERE = Path(__file__).parent
ESCAPES = {"t": "\t", "n": "\n", "\\": "\\"}

# No tensor can be made that these are about; the Rust tests cover them.
NOT_FROM_PYTHON = {"HugeRank", "NegativeDimension"}


def rows(table: str) -> Iterator[list[str]]:
    """The cells of each row, unescaped. A table without rows is a mistake."""
    lines = [line for line in (HERE / table).read_text(encoding="utf-8").split("\n") if line]
    found = [line for line in lines if not line.startswith("#")]
    assert found, f"{table} tests nothing"
    for line in found:
        yield [unescaped(cell) for cell in line.split("\t")]


def unescaped(cell: str) -> str:
    r"""Replaces \t, \n, \\ and \u with four hex digits, then {text*3} by the text three times."""

    def character(escape: re.Match[str]) -> str:
        return chr(int(escape[1], 16)) if escape[1] else ESCAPES[escape[2]]

    text = re.sub(r"\\(?:u([0-9a-f]{4})|(.))", character, cell)
    return re.sub(r"\{([^{}]*)\*(\d+)\}", lambda times: times[1] * int(times[2]), text)


@dataclass(frozen=True)
class Call:
    """The columns that both tables share."""

    op: str
    reduction: str
    pattern: str
    shape: tuple[int, ...]
    lengths: dict[str, Any]

    @classmethod
    def read(cls, op: str, pattern: str, shape: str, lengths: str) -> "Call":
        op, _, reduction = op.partition(":")
        pairs = [pair.partition("=") for pair in lengths.split(",") if lengths != "-"]
        named = {name: ast.literal_eval(literal) for name, _, literal in pairs}
        return cls(op, reduction or "sum", pattern, sizes(shape), named)

    def on(self, module: Any, tensor: Any) -> Any:
        reduction = (self.reduction,) if self.op == "reduce" else ()
        return getattr(module, self.op)(tensor, self.pattern, *reduction, **self.lengths)

    def array(self) -> Any:
        """Small integers, so that no order of adding or multiplying rounds."""
        numbers = numpy.arange(prod(self.shape)).reshape(self.shape) * 37 % 5
        dtype = bool if self.reduction in ("any", "all") else float
        return numpy.asarray(numbers + (dtype is float), dtype)

    def for_einops(self) -> "Call":
        """The same call in words that einops takes: plain names, and blanks between them."""
        text = unicodedata.normalize("NFKC", self.pattern)
        names = dict.fromkeys(re.findall(r"[^\W\d]\w*", text))
        plain = {name: f"name{number}" for number, name in enumerate(names)}
        text = re.sub(r"[^\W\d]\w*", lambda name: plain[name[0]], text)
        lengths = {
            plain[unicodedata.normalize("NFKC", name)]: length
            for name, length in self.lengths.items()
        }
        return Call(self.op, self.reduction, re.sub(r"\s", " ", text), self.shape, lengths)


def sizes(cell: str) -> tuple[int, ...]:
    return tuple(int(size) for size in cell.split(",") if cell != "-")


class Case(NamedTuple):
    """A row of cases.tsv."""

    call: Call
    plan: str
    output: tuple[int, ...]
    einops: str


class Refusal(NamedTuple):
    """A row of errors.tsv."""

    kind: str
    call: Call
    spans: tuple[tuple[int, ...], ...]
    message: str


def places(cell: str) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(map(int, place.split("-"))) for place in cell.split(",") if cell != "-")


CASES = [
    Case(Call.read(*shared), plan, sizes(output), einops)
    for *shared, plan, output, einops in rows("cases.tsv")
]
REFUSALS = [
    Refusal(kind, Call.read(*shared), places(spans), message)
    for kind, *shared, spans, message in rows("errors.tsv")
]


def torch_tensor(array: Any) -> Any:
    import torch

    return torch.from_numpy(array)


def sliced(array: Any) -> Any:
    """The same array with gaps between its elements, and its first axis backwards in memory."""
    spread = numpy.zeros((*array.shape, 2), array.dtype)
    spread = spread[::-1, ..., 1] if array.ndim else spread[..., 1]
    spread[...] = array
    return spread


@pytest.fixture(
    params=[
        pytest.param(numpy.asarray, id="numpy"),
        pytest.param(partial(numpy.array, order="F"), id="numpy Fortran"),
        pytest.param(sliced, id="numpy sliced"),
        pytest.param(torch_tensor, id="torch", marks=pytest.mark.needs_torch),
    ]
)
def build(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    """An array to a tensor of one framework."""
    return request.param


# The builtins, and the functions they leave a call to that is not plain: those replay readably.
@pytest.fixture(params=[pytest.param(einrs, id="native"), pytest.param(_ops, id="readable")])
def module(request: pytest.FixtureRequest) -> ModuleType:
    return request.param


def row_id(row: Case | Refusal) -> str:
    return f"{row.call.op} {row.call.pattern:.40}"


@pytest.mark.parametrize("case", CASES, ids=row_id)
def test_case_gives_what_einops_gives(
    case: Case, module: ModuleType, build: Callable[[Any], Any]
) -> None:
    tensor = build(case.call.array())
    wanted = case.call.for_einops().on(einops, tensor)
    # The second call may be served from a cache.
    for result in (case.call.on(module, tensor), case.call.on(module, tensor)):
        assert type(result) is type(wanted)
        assert tuple(result.shape) == tuple(wanted.shape) == case.output
        assert result.dtype == wanted.dtype
        assert numpy.array_equal(numpy.asarray(result), numpy.asarray(wanted))


@pytest.mark.parametrize("case", CASES, ids=row_id)
def test_steps_of_a_plan_are_what_einops_does(case: Case) -> None:
    array = case.call.array()
    wanted = case.call.for_einops().on(einops, array)
    lines = {case.plan, case.plan if case.einops == "=" else case.einops}
    # Where einops inserts new axes, the line does not say at which places.
    for line in lines if case.call.op != "repeat" else [case.plan]:
        result = replayed(line, array, case.call.reduction)
        assert result.shape == case.output
        assert numpy.array_equal(result, wanted)


def replayed(line: str, array: Any, reduction: str) -> Any:
    """What the steps of a plan, as it prints, make of an array."""
    for step in line.split("; ") if line != "identity" else []:
        name, _, numbers = step.partition(" ")
        listed = ast.literal_eval(numbers)
        match name:
            case "split" | "merge":
                array = array.reshape(listed)
            case "permute":
                array = array.transpose(listed)
            case "expand":
                array = numpy.broadcast_to(array, listed)
            case "reduce":
                array = getattr(array, reduction)(axis=tuple(listed))
            case _:
                pytest.fail(f"no step is called {name}")
    return array


@pytest.mark.parametrize(
    "refusal", [row for row in REFUSALS if row.kind not in NOT_FROM_PYTHON], ids=row_id
)
def test_refusal_says_what_the_table_says(refusal: Refusal, module: ModuleType) -> None:
    array = refusal.call.array()
    # The second call may find what the first one left.
    for _ in range(2):
        with pytest.raises(einrs.EinopsError) as raised:
            refusal.call.on(module, array)
        error = raised.value
        assert error.kind == refusal.kind
        assert error.pattern == refusal.call.pattern
        assert error.spans == refusal.spans
        assert str(error).endswith(refusal.message)
        assert isinstance(error, TypeError) == (refusal.kind == "LengthType")
        assert module.rearrange(numpy.zeros((2, 3)), "a b -> b a").shape == (3, 2)


def test_what_python_cannot_provoke_is_in_the_table() -> None:
    assert {row.kind for row in REFUSALS} >= NOT_FROM_PYTHON
