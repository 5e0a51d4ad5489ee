"""Checks what comes through and what is explained when a framework raises inside an operation."""

from collections.abc import Callable
from typing import Any

import pytest

import einrs
from test_bad_input import on_numpy, on_torch

# --- what is raised inside a framework

INSIDE: list[tuple[str, Callable[[Any], Any]]] = [
    ("cat", lambda x: einrs.pack([x, x], "a *")),
    ("reshape", lambda x: einrs.pack([x, x], "a *")),
    ("__getitem__", lambda x: einrs.unpack(x, [(1, 1), (2,)], "a * b")),
    ("reshape", lambda x: einrs.unpack(x, [(1, 1), (2,)], "a * b")),
    ("einsum", lambda x: einrs.einsum(x, "a b c -> a")),
    ("detach", lambda x: einrs.asnumpy(x)),
]


class StopError(Exception):
    """By a class of its own a framework stops a call from inside, as torch's checkpoints do."""


@pytest.mark.needs_torch
@pytest.mark.parametrize(
    "error", [KeyboardInterrupt, SystemExit, MemoryError, StopError, ValueError]
)
@pytest.mark.parametrize(("name", "call"), INSIDE)
def test_error_inside_a_framework(
    name: str, call: Callable[[Any], Any], error: type[BaseException]
) -> None:
    """Interrupts, stops and running out of memory come through; a refusal gets the pattern."""
    from torch.overrides import TorchFunctionMode

    tries: list[str] = []

    class Failing(TorchFunctionMode):  # type: ignore[misc, no-any-unimported]
        def __torch_function__(
            self, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            if getattr(function, "__name__", "") == name:
                tries.append(name)
                raise error("mine")
            return function(*args, **(kwargs or {}))

    x = on_torch(2, 3, 4)
    call(x)
    for _ in range(2):
        tries.clear()
        with pytest.raises(error, match="mine") as caught, Failing():
            call(x)
        # Only a refusal is looked into, by making the call again.
        assert error is ValueError or len(tries) == 1
        asked = isinstance(caught.value, einrs.EinopsError)
        assert asked == (error is ValueError and name != "detach")
    call(x)


@pytest.mark.needs_torch
def test_mismatch_is_of_the_class_of_the_framework() -> None:
    """A RuntimeError in torch, a ValueError in numpy: as without einrs."""
    for make, kind in ((on_torch, RuntimeError), (on_numpy, ValueError)):
        with pytest.raises(kind) as caught:
            einrs.einsum(make(2, 3), make(4, 5), "row inner, inner column -> row column")
        text = str(caught.value)
        assert "axis 'inner' of einsum has length 3 in tensor #0 and length 4 in tensor #1" in text
        with pytest.raises(kind) as caught:
            einrs.pack([make(2, 3), make(4, 3)], "height *")
        assert "axis 'height' has length 2 in tensor #0 and length 4 in tensor #1" in str(
            caught.value
        )
