"""Contenders that take turns, each with its lowest time: the rows of the tracing benchmark."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Contest:
    """What is measured, in which unit, and the most that einrs : hand should be.

    Where nothing is written by hand the limit is on the figure of einrs itself.
    """

    title: str
    unit: str
    limit: float | None


@dataclass(frozen=True)
class Result:
    """The lowest figure of each contender."""

    contest: Contest
    figures: Mapping[str, float]

    @property
    def ratio(self) -> float | None:
        """Einrs : hand."""
        hand = self.figures.get("hand", 0.0)
        return self.figures["einrs"] / hand if hand else None

    @property
    def verdict(self) -> str:
        if self.contest.limit is None:
            return "-"
        measured = self.figures["einrs"] if self.ratio is None else self.ratio
        return "met" if measured <= self.contest.limit else "MISSED"


def contest(of: Contest, runs: Mapping[str, Callable[[], float]], rounds: int) -> Result:
    """Let the contenders run in turns and keep the lowest figure of each."""
    lowest = dict.fromkeys(runs, float("inf"))
    for _ in range(rounds):
        for name, run in runs.items():
            lowest[name] = min(lowest[name], run())
    return Result(of, lowest)
