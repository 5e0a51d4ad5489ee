"""Checks that the comparison of whole programs sees what it should, on a toy program."""

import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from clients import compare, harness

CLIENTS = Path(compare.__file__).parent

TOY = """
import einops, numpy as np
from harness import Case, Subject, main

def fail():
    raise ValueError("on both sides")

def fail_on_einrs():
    assert einops.rearrange.__module__ != "einrs", "not on einrs"

x = np.arange(6.0).reshape(2, 3)
TRANSPOSE = Case("transpose", lambda: Subject(einops.rearrange, x, "a b -> b a"))
CASES = [
    Case("sum", lambda: Subject(einops.reduce, x, "a b -> a", "sum")),
    TRANSPOSE,
    Case("fails", lambda: Subject(fail)),
    Case("twice", lambda: Subject(lambda: [einops.repeat(x, "a b -> a b 2") for _ in range(2)])),
]
ALL_FAIL = [Case("fails", lambda: Subject(fail))]
ON_EINOPS = [TRANSPOSE, Case("fails", lambda: Subject(fail_on_einrs))]
"""

TORCH_TOY = """
import einops, torch
from harness import Case, Subject, main

x = torch.arange(6.0).reshape(2, 3).requires_grad_()
CASES = [Case("transpose", lambda: Subject(einops.rearrange, x, "a b -> b a"))]
"""

BREAKER = """
import functools, os, runpy, sys
import einops

right = einops.rearrange
mode = sys.argv[1]
calls = 0

@functools.wraps(right)
def rearrange(tensor, pattern):
    global calls
    calls += 1
    result = right(tensor, pattern)
    match mode:
        case "value":
            result = np.nextafter(result, 9)
        case "dtype":
            result = result.view("int64")
        case "shape":
            result = result[None]
        case "gradient":
            result = 0.5 * result + (0.5 * result).detach()
        case "error":
            raise TypeError("broken")
        case "second call" if calls > 1:
            raise TypeError("broken")
        case "exit":
            print("last words", file=sys.stderr, flush=True)
            os._exit(7)
    return result

if mode == "value":
    import numpy as np
if mode == "start":
    raise SystemExit("cannot start")
einops.rearrange = rearrange
del sys.argv[:2]
runpy.run_path(sys.argv[0], run_name="__main__")
"""

EINOPS = compare.SIDES[0]

# What is broken on the second side, and the verdict on the case that is concerned.
BROKEN = [
    ("nothing", "yes", ""),
    ("value", "NO", "other outputs"),
    ("dtype", "NO", "other outputs"),
    ("shape", "NO", "other outputs"),
    ("error", "fails on broken", "TypeError: broken"),
    ("second call", "fails on broken", "when repeated: TypeError: broken"),
    ("exit", "fails on broken", "ended with status 7: last words"),
]


@pytest.fixture(autouse=True)
def find_harness(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(CLIENTS))


def write(folder: Path, text: str, cases: str = "CASES") -> Path:
    path = folder / "toy.py"
    path.write_text(f"{text}\nmain({cases})\n")
    return path


def breaker(folder: Path, mode: str) -> compare.Side:
    """A side on which einops is broken, but only in its name for rearranging."""
    path = folder / "breaker.py"
    path.write_text(BREAKER)
    return compare.Side("broken", [sys.executable, str(path), mode], "einops")


def run(program: Path, *sides: compare.Side, only: str = "") -> tuple[list[compare.Row], str]:
    output = io.StringIO()
    return compare.compare([program], sides, compare.Wish(1, only), output), output.getvalue()


@pytest.mark.parametrize(("mode", "verdict", "reason"), BROKEN)
def test_what_is_broken_is_seen(tmp_path: Path, mode: str, verdict: str, reason: str) -> None:
    rows, table = run(write(tmp_path, TOY), EINOPS, breaker(tmp_path, mode))
    assert [(row.name, row.verdict) for row in rows] == [
        ("sum", "yes"),
        ("transpose", verdict),
        ("fails", "fails on both"),
        ("twice", "yes"),
    ]
    assert (rows[1].reason, rows[2].reason) == (reason, "ValueError: on both sides")
    assert [row.is_fault for row in rows] == [False, verdict != "yes", False, False]
    assert reason in table


@pytest.mark.needs_torch
@pytest.mark.parametrize(
    ("mode", "verdict", "reason"),
    [("nothing", "yes", ""), ("gradient", "NO", "other gradients")],
)
def test_gradients_are_compared(tmp_path: Path, mode: str, verdict: str, reason: str) -> None:
    rows, _ = run(write(tmp_path, TORCH_TOY), EINOPS, breaker(tmp_path, mode))
    assert [(row.verdict, row.reason) for row in rows] == [(verdict, reason)]


def test_cases_are_chosen_by_their_names(tmp_path: Path) -> None:
    rows, _ = run(write(tmp_path, TOY), EINOPS, EINOPS, only="trans")
    assert [row.name for row in rows] == ["transpose"]
    assert run(write(tmp_path, TOY), EINOPS, EINOPS, only="nothing")[0] == []


def test_calls_and_times_are_told(tmp_path: Path) -> None:
    rows, table = run(write(tmp_path, TOY), EINOPS, EINOPS)
    assert [row.calls for row in rows] == [1, 1, 0, 2]
    assert [row.seconds is not None for row in rows] == [True, True, False, True]
    assert "4 cases: 3 'yes', 1 'fails on both'; geometric mean of the 3 ratios" in table


@pytest.mark.parametrize(
    ("cases", "mode", "reason"),
    [
        ("ALL_FAIL", "nothing", "no case runs: nothing was compared"),
        ("CASES", "start", "does not start on broken: ended with status 1: cannot start"),
        ("[]", "nothing", "no case runs: nothing was compared"),
    ],
)
def test_program_must_compare_something(tmp_path: Path, cases: str, mode: str, reason: str) -> None:
    rows, _ = run(write(tmp_path, TOY, cases), EINOPS, breaker(tmp_path, mode))
    assert (rows[-1].verdict, rows[-1].reason, rows[-1].is_fault) == ("NO", reason, True)


def test_each_side_must_be_what_it_is_called(tmp_path: Path) -> None:
    side = compare.Side("einrs", [sys.executable], "einrs")
    rows, _ = run(write(tmp_path, TOY), EINOPS, side)
    assert [row.reason for row in rows] == ["einops answers where einrs should"]


@pytest.mark.parametrize(("cases", "status"), [("CASES", 0), ("ON_EINOPS", 1)])
def test_exit_status_tells_a_fault(tmp_path: Path, cases: str, status: int) -> None:
    command = [sys.executable, str(CLIENTS / "compare.py"), "--rounds", "1"]
    done = subprocess.run(
        [*command, str(write(tmp_path, TOY, cases))], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (status, "")
    assert ("AssertionError: not on einrs" in done.stdout) == bool(status)


def test_checksums_tell_values_from_one_another() -> None:
    zeros = np.zeros(2)
    different = [
        [zeros],
        [-zeros],
        [zeros.astype(np.float32)],
        [np.zeros((1, 2))],
        [zeros, zeros],
        [zeros, None],
        [np.array([True, False])],
        [np.array(["a", "b"], dtype=object)],
        [],
    ]
    assert len({harness.checksum(parts) for parts in different}) == len(different)
    assert harness.checksum([np.ones((3, 2)).T]) == harness.checksum([np.ones((2, 3))])
