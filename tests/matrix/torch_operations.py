"""The rows of the matrix of torch: each public function and layer, with its hand-written twin.

Every call takes a tensor of shape (any batch, 6, 4).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch

import einrs
from einrs.layers.torch import EinMix, Rearrange, Reduce, Repeat


class Operation(NamedTuple):
    """A call of einrs and what somebody would write in its place."""

    call: Callable[[Any, str, Any], Any]
    """Of a tensor, the pattern and a length."""
    hand: Callable[..., Any]
    """Of a tensor and a length."""
    pattern: str | None = None
    """None for a layer, which keeps its own."""
    takes_length: bool = False
    takes_list: bool = False
    layer: torch.nn.Module | None = None
    wrong: str = ""
    """A pattern that is refused for the tensor; for a layer it replaces the layer's own."""


def split_heads(x: Any, n: Any) -> Any:
    batch, channels, width = x.shape
    split = x.reshape(batch, n, channels // n, width)
    return split.permute(0, 1, 3, 2).reshape(batch * n, width, channels // n)


def pooled(x: Any, n: Any) -> Any:
    batch, channels, width = x.shape
    return x.reshape(batch, n, channels // n, width).permute(0, 1, 3, 2).mean(dim=(3,))


def largest(x: Any, n: Any) -> Any:
    batch, channels, width = x.shape
    return x.reshape(batch, n, channels // n, width).permute(0, 1, 3, 2).logsumexp((3,))


def tiled(x: Any, n: Any) -> Any:
    batch, channels, width = x.shape
    return x[:, :, None].expand(batch, channels, n, width).reshape(batch, channels * n, width)


def joined(x: Any, n: Any) -> Any:
    batch, channels, width = x.shape
    packed = x.reshape(batch, n, channels // n, width).reshape(batch, channels, width)
    return torch.cat([packed, x[:, 0][:, None]], 1)


def pack(x: Any, pattern: str, n: Any) -> Any:
    batch, channels, width = x.shape
    return einrs.pack([x.reshape(batch, n, channels // n, width), x[:, 0]], pattern)[0]


def pieces(x: Any, n: Any) -> Any:
    batch, _, width = x.shape
    return [x[:, : n * 2].reshape(batch, n, 2, width), x[:, n * 2 :]]


def flat_by_names(x: Any, pattern: str, n: Any) -> Any:
    sizes = einrs.parse_shape(x, pattern)
    return x.reshape(sizes["batch"] * sizes["c"], sizes["d"])


def through_numpy(x: Any, n: Any) -> Any:
    return torch.from_numpy(x.detach().cpu().numpy() + 1)


HEADS = "b (h c) d -> (b h) d c"
POOL = "b (h c) d -> b h d"
TILE = "b c d -> b (c k) d"
WEIGHTS = "d e"

# The same weights in every process.
torch.manual_seed(0)
REARRANGE, REDUCE = Rearrange(HEADS, h=2), Reduce(POOL, "mean", h=2)
REPEAT, EINMIX = Repeat(TILE, k=2), EinMix("b c d -> b c e", WEIGHTS, "e", d=4, e=3)
CALLED = Reduce(POOL, torch.logsumexp, h=2)


def layer(module: torch.nn.Module, hand: Any, wrong: str) -> Operation:
    return Operation(lambda x, p, n: module(x), hand, None, False, True, module, wrong)


class Mixed(torch.nn.Module):
    """The twin of the EinMix layer, with its weights."""

    def __init__(self) -> None:
        super().__init__()
        self.weight, self.bias = EINMIX.weight, EINMIX.bias

    def forward(self, x: Any) -> Any:
        result = torch.einsum("bcd,de->bce", x, self.weight)
        # In place, as in einops: under autocast the result keeps its dtype.
        result += self.bias
        return result


OPERATIONS = {
    "rearrange": Operation(
        lambda x, p, n: einrs.rearrange(x, p, h=n),
        split_heads,
        HEADS,
        takes_length=True,
        takes_list=True,
        wrong="b (h c) d e -> b h c d e",
    ),
    "reduce": Operation(
        lambda x, p, n: einrs.reduce(x, p, "mean", h=n),
        pooled,
        POOL,
        takes_length=True,
        takes_list=True,
        wrong="b (h c) -> b h",
    ),
    "reduce by a callable": Operation(
        lambda x, p, n: einrs.reduce(x, p, torch.logsumexp, h=n),
        largest,
        POOL,
        takes_length=True,
        takes_list=True,
        wrong="b (h c) d",
    ),
    "repeat": Operation(
        lambda x, p, n: einrs.repeat(x, p, k=n),
        tiled,
        TILE,
        takes_length=True,
        takes_list=True,
        wrong="b c d -> b (c k)",
    ),
    "einsum": Operation(
        lambda x, p, n: einrs.einsum(x, x, p),
        lambda x, n: torch.einsum("bcd,bed->bce", x, x),
        "batch c d, batch e d -> batch c e",
        wrong="batch c d, batch e d -> batch f",
    ),
    "pack": Operation(pack, joined, "b * d", takes_length=True, wrong="b * * d"),
    "unpack": Operation(
        lambda x, p, n: einrs.unpack(x, [(n, 2), (6 - n * 2,)], p),
        pieces,
        "b * d",
        takes_length=True,
        wrong="b c d *",
    ),
    "parse_shape": Operation(
        flat_by_names,
        lambda x, n: x.reshape(x.shape[0] * x.shape[1], x.shape[2]),
        "batch c d",
        wrong="batch c d e",
    ),
    "asnumpy": Operation(lambda x, p, n: torch.from_numpy(einrs.asnumpy(x) + 1), through_numpy),
    "Rearrange": layer(REARRANGE, split_heads, "b (h c) d e -> b h c d e"),
    "Reduce": layer(REDUCE, pooled, "b (h c) -> b h"),
    "Reduce by a callable": layer(CALLED, largest, "b (h c) -> b h"),
    "Repeat": layer(REPEAT, tiled, "b c -> b c k"),
    "EinMix": layer(EINMIX, None, ""),
}


def of_pattern(name: str) -> Callable[[Any, Any], Any]:
    """An operation of a tensor and a length."""
    row = OPERATIONS[name]
    return lambda x, n: row.call(x, row.pattern or "", n)


def of_tensor(function: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    """A function of a tensor alone: tracers ask for the signature."""
    return lambda x: function(x, 2)


class Called(torch.nn.Module):
    """A hand-written module without weights."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Any) -> Any:
        return self.function(x)


def hand(name: str) -> Callable[[Any], Any]:
    """The twin of an operation: a function, or a module for a layer."""
    if name == "EinMix":
        return Mixed()
    function = of_tensor(OPERATIONS[name].hand)
    return Called(function) if OPERATIONS[name].layer else function


OURS = {name: row.layer or of_tensor(of_pattern(name)) for name, row in OPERATIONS.items()}
HANDS = {name: hand(name) for name in OPERATIONS}


def chosen(**wanted: Any) -> list[str]:
    """The operations with these properties: `chosen(takes_length=True)`."""
    return [
        name
        for name, operation in OPERATIONS.items()
        if all(bool(getattr(operation, key)) == value for key, value in wanted.items())
    ]


def numbers(batch: int = 2) -> Any:
    """A tensor that every operation takes."""
    return torch.randn((batch, 6, 4), generator=torch.Generator().manual_seed(batch))
