"""Runs programs on einops and on einrs, in processes of their own, to a table of what came out.

    python compare.py [--rounds N] [--only TEXT] program.py ...

Each program runs in two processes at once, one on each side, which are asked for the same things:
both for the checksums of a case, then one after the other, several times, for its time. The exit
status is 1 if a checksum differs, a case runs on one side only, or a program compares nothing.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple, TextIO

ROUNDS = 5
LIMIT = 300.0
"""Seconds after which a process that does not answer is ended."""

ENVIRONMENT = {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", "JAX_PLATFORMS": "cpu"}


class Side(NamedTuple):
    """A name, the command that runs a program there, and the package that must answer."""

    name: str
    command: list[str]
    package: str


SIDES = (
    Side("einops", [sys.executable], "einops"),
    Side("einrs", [sys.executable, "-m", "einrs", "run"], "einrs"),
)


class Row(NamedTuple):
    """What is known of one case."""

    program: str
    name: str
    verdict: str
    reason: str = ""
    calls: int = 0
    seconds: tuple[float, float] | None = None

    @property
    def is_fault(self) -> bool:
        return self.verdict not in (EQUAL, NEITHER)


EQUAL, DIFFERENT, NEITHER = "yes", "NO", "fails on both"


class Process:
    """A program on one side that answers requests; started anew after it died."""

    def __init__(self, side: Side, program: Path, log: IO[str]) -> None:
        self.side = side
        self.command = [*side.command, str(program), "--serve"]
        self.process: subprocess.Popen[str] | None = None
        self.log = log

    def send(self, request: str, name: str = "") -> None:
        """Asks for something; `receive` has the answer."""
        if self.process is None:
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.log,
                text=True,
                env=os.environ | ENVIRONMENT,
            )
        assert self.process.stdin is not None
        # A process that has ended is noticed by its missing answer.
        with contextlib.suppress(BrokenPipeError):
            print(request, name, file=self.process.stdin, flush=True)

    def receive(self) -> dict[str, Any]:
        """The answer to what was sent, or how the process ended instead."""
        assert self.process is not None
        assert self.process.stdout is not None
        timer = threading.Timer(LIMIT, self.process.kill)
        timer.start()
        try:
            line = self.process.stdout.readline()
        finally:
            timer.cancel()
        if line:
            answer: dict[str, Any] = json.loads(line)
            return answer
        return {"error": self.close()}

    def ask(self, request: str, name: str = "") -> dict[str, Any]:
        self.send(request, name)
        return self.receive()

    def close(self) -> str:
        """Lets the process end; with what status and last words it did."""
        if self.process is None:
            return ""
        with contextlib.suppress(BrokenPipeError):
            self.process.communicate()
        self.log.seek(0)
        *_, words = ["", *filter(str.strip, self.log)]
        text = f"ended with status {self.process.returncode}: {words.strip()}"
        self.process = None
        return text


Pair = tuple[Process, Process]


def both(pair: Pair, request: str, name: str = "") -> tuple[dict[str, Any], dict[str, Any]]:
    """The answers of both processes, which work on them at the same time."""
    for process in pair:
        process.send(request, name)
    first, second = (process.receive() for process in pair)
    return first, second


def compare_case(pair: Pair, program: str, name: str, rounds: int) -> Row:
    answers = both(pair, "check", name)
    verdict, reason = judge(pair, answers)
    if verdict != EQUAL:
        return Row(program, name, verdict, reason)
    calls = pair[0].ask("calls").get("calls", 0)
    trials = [tuple(process.ask("trial") for process in pair) for _ in range(rounds)]
    for trial in trials:
        verdict, reason = judge(pair, trial, keys=())
        if verdict != EQUAL:
            return Row(program, name, verdict, f"when repeated: {reason}")
    before, after = (min(trial[side]["trial"] for trial in trials) for side in (0, 1))
    return Row(program, name, EQUAL, calls=calls, seconds=(before, after))


def judge(
    pair: Pair, answers: Sequence[dict[str, Any]], keys: Sequence[str] = ("outputs", "gradients")
) -> tuple[str, str]:
    """Whether two answers are equal, and if not, why."""
    errors = [answer.get("error") for answer in answers]
    if all(errors):
        return NEITHER, str(errors[0])
    for process, error in zip(pair, errors, strict=True):
        if error:
            return f"fails on {process.side.name}", error
    unequal = [key for key in keys if answers[0][key] != answers[1][key]]
    return (DIFFERENT, f"other {' and '.join(unequal)}") if unequal else (EQUAL, "")


class Wish(NamedTuple):
    """How often each case is timed on each side, and what its name must contain."""

    rounds: int = ROUNDS
    only: str = ""


def compare_program(program: Path, sides: Sequence[Side], wish: Wish) -> Iterator[Row]:
    """A row for each case of a program."""
    with contextlib.ExitStack() as stack:
        logs = [stack.enter_context(log_file()) for _ in sides]
        first, second = map(Process, sides, [program] * 2, logs)
        stack.callback(first.close)
        stack.callback(second.close)
        yield from compare_pair((first, second), program.stem, wish)


def log_file() -> IO[str]:
    return tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")


def compare_pair(pair: Pair, program: str, wish: Wish) -> Iterator[Row]:
    answers = both(pair, "names")
    if fault := misled(pair, answers):
        yield Row(program, "(start)", DIFFERENT, fault)
        return
    names = [name for name in answers[0]["names"] if wish.only in name]
    rows = 0
    for name in names:
        row = compare_case(pair, program, name, wish.rounds)
        rows += row.verdict != NEITHER
        yield row
    if not rows and not wish.only:
        yield Row(program, "(all)", DIFFERENT, "no case runs: nothing was compared")


def misled(pair: Pair, answers: Sequence[dict[str, Any]]) -> str:
    """Why the two processes cannot be compared, if so."""
    for process, answer in zip(pair, answers, strict=True):
        if "error" in answer:
            return f"does not start on {process.side.name}: {answer['error']}"
        package = answer["einops"].partition(".")[0]
        if package != process.side.package:
            return f"{package} answers where {process.side.package} should"
    return "" if answers[0]["names"] == answers[1]["names"] else "the sides list other cases"


def line(row: Row) -> str:
    """A row of the table."""
    head = f"{row.program:<15} {row.name:<46} {row.verdict:<16}"
    if row.seconds is None:
        return f"{head} {row.reason}".rstrip()
    before, after = (1e3 * seconds for seconds in row.seconds)
    return f"{head} {row.calls:>5} {before:>10.3f} {after:>10.3f} {after / before:>6.2f}"


HEADER = (
    f"{'program':<13} {'case':<46} {'equal?':<16} "
    f"{'calls':>5} {'einops, ms':>10} {'einrs, ms':>10} {'ratio':>6}"
)


def summary(rows: Sequence[Row]) -> str:
    """How many cases there were of each kind, and the mean ratio of the times."""
    verdicts = [row.verdict for row in rows]
    counts = {verdict: verdicts.count(verdict) for verdict in dict.fromkeys(verdicts)}
    text = f"{len(rows)} cases: " + ", ".join(f"{n} {verdict!r}" for verdict, n in counts.items())
    timed = [row.seconds for row in rows if row.seconds and row.calls]
    if timed:
        mean = math.exp(sum(math.log(after / before) for before, after in timed) / len(timed))
        text += f"; geometric mean of the {len(timed)} ratios with calls: {mean:.3f}"
    return text


def compare(
    programs: Sequence[Path], sides: Sequence[Side], wish: Wish, output: TextIO
) -> list[Row]:
    """Prints the table line by line; all rows."""
    print(HEADER, file=output)
    rows = []
    for program in programs:
        for row in compare_program(program, sides, wish):
            print(line(row), file=output, flush=True)
            rows.append(row)
    print(summary(rows), file=output)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("programs", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="trials of a case on each side")
    parser.add_argument("--only", default="", metavar="TEXT", help="cases with this in their name")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("at least one round is needed")
    wish = Wish(options.rounds, options.only)
    rows = compare(options.programs, SIDES, wish, sys.stdout)
    sys.exit(any(row.is_fault for row in rows))


if __name__ == "__main__":
    main()
