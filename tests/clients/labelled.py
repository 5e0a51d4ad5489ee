"""Turns xarray-einstats, whose axes have names of any kind, into cases of one labelled array."""

from collections.abc import Callable
from typing import Any

import einops
import numpy as np
import xarray
from harness import Case, Subject, main
from xarray_einstats.einops import DaskBackend, rearrange, reduce

SHAPE = (4, 6, 10)


def labelled(name: str, call: Callable[[Any], Any], last: str = "draw") -> Case:
    """The values and the axis names that the call makes of an array (chain, batch, last)."""

    def build() -> Subject:
        numbers = np.random.default_rng(0).normal(size=SHAPE)
        data = xarray.DataArray(numbers, dims=["chain", "batch", last])

        def values(data: Any) -> list[Any]:
            result = call(data)
            return [result.values, np.array(result.dims, dtype=object)]

        return Subject(values, data)

    return Case(name, build)


def backend() -> Subject:
    """The package tells its kind of tensors to einops by a subclass of a private class."""
    return Subject(lambda: issubclass(DaskBackend, einops._backends.AbstractBackend))


SPACED = "draw dim"
"""A name that is no identifier."""


def largest(values: Any, axes: Any) -> Any:
    return np.max(values, axis=axes)


CASES = [
    labelled("merge", lambda x: rearrange(x, [{"s": ["chain", SPACED]}, "batch"]), SPACED),
    labelled("merge unnamed", lambda x: rearrange(x, [["chain", SPACED], "batch"]), SPACED),
    labelled(
        "split",
        lambda x: rearrange(x, ["b1", SPACED, "b2"], pattern_in=[{"batch": ["b1", "b2"]}], b1=2),
        SPACED,
    ),
    labelled("pattern", lambda x: rearrange(x, "(b1 b2)=batch -> b1 (chain draw)=s b2", b1=3)),
    labelled("pattern of the output", lambda x: rearrange(x, "batch (chain draw)=sample")),
    labelled("mean", lambda x: reduce(x, ["batch"], "mean"), SPACED),
    labelled("callable", lambda x: reduce(x, ["batch"], largest), SPACED),
    labelled("max", lambda x: reduce(x, "(b1 b2)=batch -> chain b1", "max", b1=2)),
    labelled("sum", lambda x: reduce(x, "batch", "sum")),
    labelled("numpy length", lambda x: reduce(x, "(b1 b2)=batch -> b1", "min", b1=np.int64(2))),
    Case("backend subclass", backend),
]

if __name__ == "__main__":
    main(CASES)
