"""Lists the operations that move bytes once more, on arrays of 1, 16 and 64 MB."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cases import Framework, Row, Shape
from timing import Effort

MEGABYTES = (1, 16, 64)
LABELS = ("numpy", "torch, no_grad", "jax")
FINISH = {"jax": ".block_until_ready()"}


def image(megabytes: int) -> Shape:
    return (4 * megabytes, 4, 128, 128)


def heads(megabytes: int) -> Shape:
    return (2 * megabytes, 8, 256, 64)


def plane(megabytes: int) -> Shape:
    return (512 * megabytes, 512)


SHAPES = {
    "patches": image,
    "merge heads": heads,
    "mean": image,
    "max pool": image,
    "max pool (F.max_pool2d)": image,
    "repeat, new axis": plane,
    "repeat, longer axis": plane,
}


def effort(megabytes: int) -> Effort:
    """Fewer rounds for bigger arrays; a batch of no length is one call."""
    return Effort(sweeps=1, rounds=max(5, 40 // megabytes), batch_ns=0)


def rows(framework: Framework, megabytes: int) -> Iterator[Row]:
    """Make the rows of a framework for inputs of float32 that fill so many megabytes."""
    finished = replace(framework, finish=FINISH.get(framework.section, ""))
    for name, shape in SHAPES.items():
        if name in framework.hand:
            yield finished.row(name, shape(megabytes), f"{name}, {megabytes} MB")
