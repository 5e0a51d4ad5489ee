"""Turns one backend of einops and ours into what their methods give for the same array."""

from collections.abc import Callable
from typing import Any

import numpy as np

ARRAY = np.arange(24, dtype="float32").reshape(2, 3, 4)

METHODS: dict[str, Callable[[Any, Any], Any]] = {
    "shape": lambda b, x: tuple(b.shape(x)),
    "reshape": lambda b, x: b.reshape(x, [4, 6]),
    "transpose": lambda b, x: b.transpose(x, [2, 0, 1]),
    "stack": lambda b, x: b.stack_on_zeroth_dimension([x, x]),
    "add_axis": lambda b, x: b.add_axis(x, 1),
    "add_axes": lambda b, x: b.add_axes(x, n_axes=5, pos2len={1: 2, 4: 3}),
    "tile": lambda b, x: b.tile(x, (2, 1, 3)),
    "concat": lambda b, x: b.concat([x, x], axis=1),
    "einsum": lambda b, x: b.einsum("abc,abc->b", x, x),
    "arange": lambda b, x: b.arange(2, 7),
    "appropriate": lambda b, x: (b.is_appropriate_type(x), b.is_appropriate_type(3)),
    "float": lambda b, x: b.is_float_type(x),
    "repr": lambda b, x: repr(b),
    **{
        name: lambda b, x, name=name: b.reduce(x, name, (0, 2))
        for name in ("min", "max", "sum", "mean", "prod")
    },
    **{
        name: lambda b, x, name=name: b.reduce(b.from_numpy(ARRAY > 3), name, (0, 2))
        for name in ("any", "all")
    },
}


def compare(theirs: Any, ours: Any, method: str) -> None:
    """Calls a method of both on tensors of their own and compares types and values."""
    results = []
    for backend in (theirs, ours):
        result = METHODS[method](backend, backend.from_numpy(ARRAY))
        results.append(value(backend, result))
    assert type(results[1]) is type(results[0])
    np.testing.assert_array_equal(results[1], results[0])


def value(backend: Any, result: Any) -> Any:
    return backend.to_numpy(result) if backend.is_appropriate_type(result) else result
