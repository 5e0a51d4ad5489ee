"""Wrong calls to the errors that both checkers must find; never run.

Each comment names the error that mypy finds. Both checkers complain of a comment without an error.
"""

import numpy as np
import numpy.typing as npt
import torch

from einrs import asnumpy, einsum, pack, parse_shape, rearrange, reduce, repeat, unpack


def tensors(x: torch.Tensor, y: torch.Tensor | None) -> None:
    rearrange((x, x), "n a -> a n")  # type: ignore[call-overload] # pyright: ignore
    reduce((x, x), "n a -> a", "max")  # type: ignore[call-overload] # pyright: ignore
    repeat((x, x), "n a -> n a 2")  # type: ignore[call-overload] # pyright: ignore
    rearrange([[x], [x]], "n m a -> a n m")  # type: ignore[list-item] # pyright: ignore
    rearrange(None, "a -> a")  # type: ignore[call-overload] # pyright: ignore
    rearrange(y, "a -> a")  # type: ignore[type-var] # pyright: ignore
    rearrange([x, y], "n a -> a n")  # type: ignore[list-item] # pyright: ignore
    rearrange(2.0, "-> 1")  # type: ignore[call-overload] # pyright: ignore
    rearrange("a -> a", x)  # type: ignore[call-overload] # pyright: ignore
    rearrange(x)  # type: ignore[call-overload] # pyright: ignore
    parse_shape(x.shape, "a b")  # type: ignore[arg-type] # pyright: ignore
    asnumpy([x, x])  # type: ignore[call-overload] # pyright: ignore


def reductions(x: torch.Tensor, array: npt.NDArray[np.float32], name: str) -> None:
    reduce(x, "a b -> a", "median")  # type: ignore[call-overload] # pyright: ignore
    reduce([x], "n a -> a", "median")  # type: ignore[call-overload] # pyright: ignore
    reduce(array, "a b -> a", "median")  # type: ignore[call-overload] # pyright: ignore
    reduce(x, "a b -> a", name)  # type: ignore[call-overload] # pyright: ignore
    reduce(x, "a b -> a")  # type: ignore[call-overload] # pyright: ignore
    reduce(x, "a b -> a", torch.relu)  # type: ignore[arg-type] # pyright: ignore
    reduce(x, "a b -> a", max=1)  # type: ignore[call-overload] # pyright: ignore


def lengths(x: torch.Tensor, array: npt.NDArray[np.float32]) -> None:
    repeat(x, "a -> a b", b=3.0)  # type: ignore[call-overload] # pyright: ignore
    repeat(x, "a -> a b", b="3")  # type: ignore[call-overload] # pyright: ignore
    repeat(x, "a -> a b", b=None)  # type: ignore[call-overload] # pyright: ignore
    repeat(array, "a -> a b", b=(3,))  # type: ignore[call-overload] # pyright: ignore
    unpack(x, [3], "* a")  # type: ignore[list-item] # pyright: ignore
    unpack(x, [(3.0,)], "* a")  # type: ignore[list-item] # pyright: ignore
    unpack(x, 3, "* a")  # type: ignore[call-overload] # pyright: ignore


def joins(x: torch.Tensor) -> None:
    einsum("a b -> a", x)  # type: ignore[call-overload] # pyright: ignore
    einsum(x, x)  # type: ignore[call-overload] # pyright: ignore
    einsum("a b -> a")  # type: ignore[call-overload] # pyright: ignore
    einsum(x, [x], "a, b -> a b")  # type: ignore[call-overload] # pyright: ignore
    pack(3, "* a")  # type: ignore[call-overload] # pyright: ignore
    pack([x, None], "* a")  # type: ignore[list-item] # pyright: ignore


def results(x: torch.Tensor, grid: np.ndarray[tuple[int, int], np.dtype[np.float32]]) -> None:
    a: int = rearrange(x, "a b -> b a")  # type: ignore[assignment] # pyright: ignore
    b: str = parse_shape(x, "a")["a"]  # type: ignore[assignment] # pyright: ignore
    c: torch.Tensor = rearrange(grid, "a b -> b a")  # type: ignore[assignment] # pyright: ignore
    print(a, b, c)
