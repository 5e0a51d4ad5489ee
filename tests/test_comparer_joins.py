"""Turns einops into modules that are wrong about several tensors: the comparison must notice."""

import itertools
import warnings
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import einops
import pytest

from differential import check, stream
from einrs.testing import JOINS
from tensors import FRAMEWORKS

Change = Callable[[Any], Any]


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def facets(name: str, op: str, change: Change) -> set[str]:
    """What differs between einops and a module whose answers of one operation are changed."""

    def wrong(*args: Any) -> Any:
        return change(getattr(einops, op)(*args))

    operations = {name: getattr(einops, name) for name in JOINS} | {op: wrong}
    module = SimpleNamespace(EinopsError=einops.EinopsError, **operations)
    framework = FRAMEWORKS[name]
    drawn = itertools.islice(stream("comparer", framework.menu, "joins"), 1500)
    verdicts = [check(module, framework, case) for case in drawn if case.op == op]
    return {facet for verdict in verdicts for facet in verdict.facets}


def copied(value: Any) -> Any:
    return value.clone() if hasattr(value, "clone") else value.copy()


def refusing(_: Any) -> Any:
    raise einops.EinopsError("no")


WRONG: dict[str, tuple[str, str, Change]] = {
    "shapes as lists": ("pack", "type", lambda found: (found[0], list(map(list, found[1])))),
    "shapes in a tuple": ("pack", "type", lambda found: (found[0], tuple(found[1]))),
    "shapes backwards": ("pack", "sizes", lambda found: (found[0], [s[::-1] for s in found[1]])),
    "no shapes": ("pack", "type", lambda found: found[0]),
    "pieces in a tuple": ("unpack", "type", tuple),
    "a piece is missing": ("unpack", "type", lambda found: found[:-1]),
    "pieces backwards": ("unpack", "shape", lambda found: found[::-1]),
    "pieces copied": ("unpack", "shares memory", lambda found: list(map(copied, found))),
    "names backwards": ("parse_shape", "type", lambda found: dict(reversed(found.items()))),
    "sizes plus one": (
        "parse_shape",
        "sizes",
        lambda found: {name: size + 1 for name, size in found.items()},
    ),
    "a new axis": ("einsum", "shape", lambda found: found[None]),
    "another array": ("asnumpy", "shares memory", copied),
    "nothing": ("asnumpy", "success", refusing),
    "nothing packed": ("pack", "success", refusing),
    "nothing unpacked": ("unpack", "success", refusing),
}


@pytest.mark.parametrize("name", ["numpy", pytest.param("torch", marks=pytest.mark.needs_torch)])
@pytest.mark.parametrize("wrong", WRONG)
def test_wrong(name: str, wrong: str) -> None:
    op, facet, change = WRONG[wrong]
    assert facet in facets(name, op, change)


@pytest.mark.parametrize("op", JOINS)
def test_einops_agrees_with_itself(op: str) -> None:
    assert facets("numpy", op, lambda found: found) == set()
