"""Times calls whose shape or pattern changes all the time, and the first call of a pattern."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from timing import Cost, Effort, Race, Snippet, first_calls, ratio

SHAPES, PATTERNS, NEW_PATTERNS = 4_000, 1_000, 3_000
WARM, ROTATING = "warm", "rotating"
FRESH = itertools.count()


@dataclass(frozen=True)
class Rotation:
    """A call on inputs that change every time beside the same call on one input."""

    what: str
    count: int
    warm: dict[str, Cost]
    rotating: dict[str, Cost]

    @property
    def name(self) -> str:
        return f"{self.count:,} {self.what}"

    def ratio(self, contender: str) -> float:
        return ratio(self.rotating[contender], self.warm[contender])


def rotating_shapes(packages: Mapping[str, ModuleType], effort: Effort) -> Rotation:
    """Transpose arrays of thousands of shapes, one after the other."""
    import numpy as np

    call = "rearrange(x, 'b c h w -> b h w c')"
    codes = {name: (call, {"rearrange": p.rearrange}) for name, p in packages.items()}
    codes["hand"] = ("x.transpose(0, 2, 3, 1)", {})
    arrays = [np.empty(shape, np.float32) for shape in shapes(SHAPES)]
    return rotate("shapes", codes, arrays, effort)


def rotating_patterns(packages: Mapping[str, ModuleType], effort: Effort) -> Rotation:
    """Transpose one array by many patterns with axis names of their own."""
    image = _image()
    codes = {
        name: ("rearrange(image, x)", {"rearrange": p.rearrange, "image": image})
        for name, p in packages.items()
    }
    return rotate("patterns", codes, list(itertools.islice(fresh_patterns(), PATTERNS)), effort)


def new_patterns(packages: Mapping[str, ModuleType]) -> dict[str, float]:
    """Median nanoseconds of a transpose by a pattern whose names were never seen before."""
    functions = {name: p.rearrange for name, p in packages.items()}
    return first_calls(functions, _image(), fresh_patterns(), NEW_PATTERNS)


def rotate(
    what: str,
    codes: Mapping[str, tuple[str, Mapping[str, Any]]],
    values: Sequence[Any],
    effort: Effort,
) -> Rotation:
    """Race every contender over all values against itself over the first value alone.

    Both walk lists of one length, so what a rotating call costs more is its own. A batch is one
    pass over the list, so that a cache which misses now and then cannot hide it in the lowest.
    """
    inputs = {WARM: values[:1] * len(values), ROTATING: values}
    race = Race(
        {
            (contender, kind): Snippet(code, names, inputs[kind])
            for contender, (code, names) in codes.items()
            for kind in inputs
        },
        calls=lambda _: len(values),
    )
    race.run(effort.passes)
    costs = race.costs()
    warm, rotating = ({who: costs[who, kind] for who in codes} for kind in inputs)
    return Rotation(what, len(values), warm, rotating)


def shapes(count: int) -> Iterator[tuple[int, ...]]:
    """Different small shapes of four axes."""
    return itertools.islice(itertools.product(range(1, 9), repeat=4), count)


def fresh_patterns() -> Iterator[str]:
    """Transpositions with axis names that no earlier pattern of this process has."""
    return (f"b{i} c{i} h{i} w{i} -> b{i} h{i} w{i} c{i}" for i in FRESH)


def _image() -> Any:
    import numpy as np

    return np.zeros((2, 3, 4, 8), np.float32)
