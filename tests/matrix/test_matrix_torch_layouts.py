"""Checks operations on tensors whose layout allows some only: jagged, sparse, quantized."""

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import compare  # noqa: E402
from torch_compare import clean  # noqa: E402
from torch_operations import numbers  # noqa: E402

import einrs  # noqa: E402
from einrs.layers.torch import EinMix, Rearrange, Reduce, Repeat  # noqa: E402

MIX = EinMix("b n d -> b n e", "d e", "e", d=4, e=3)
Call = Callable[[Any], Any]


def jagged() -> Any:
    """Three rows of different lengths."""
    rows = [numbers()[0, :length] for length in (2, 5, 3)]
    return torch.nested.nested_tensor(rows, layout=torch.jagged)


# An operation of einrs and the same by hand.
JAGGED: dict[str, tuple[Call, Call]] = {
    "rearrange": (
        lambda x: einrs.rearrange(x, "b n (h d) -> b n h d", h=2),
        lambda x: x.unflatten(-1, (2, 2)),
    ),
    "reduce": (lambda x: einrs.reduce(x, "b n d -> b n", "sum"), lambda x: x.sum(-1)),
    "repeat": (
        lambda x: einrs.repeat(x, "b n d -> b n k d", k=2),
        lambda x: x.unsqueeze(2).expand(3, x.shape[1], 2, 4),
    ),
    "einsum": (
        lambda x: einrs.einsum(x, MIX.weight, "b n d, d e -> b n e"),
        lambda x: torch.einsum("bnd,de->bne", x, MIX.weight),
    ),
    "parse_shape": (
        lambda x: x.reshape(3, -1, einrs.parse_shape(x, "b n d")["d"], 1),
        lambda x: x.reshape(3, -1, x.shape[2], 1),
    ),
    "Rearrange": (Rearrange("b n (h d) -> b n h d", h=2), lambda x: x.unflatten(-1, (2, 2))),
    "Reduce": (Reduce("b n d -> b n", "sum"), lambda x: x.sum(-1)),
    "Repeat": (
        Repeat("b n d -> b n k d", k=2),
        lambda x: x.unsqueeze(2).expand(3, x.shape[1], 2, 4),
    ),
    "EinMix": (MIX, lambda x: torch.einsum("bnd,de->bne", x, MIX.weight) + MIX.bias),
}
SPARSE: dict[str, tuple[Call, Call]] = {
    "rearrange": (lambda x: einrs.rearrange(x, "a b c -> c a b"), lambda x: x.permute(2, 0, 1)),
    "reduce": (lambda x: einrs.reduce(x, "a b c -> a", "sum"), lambda x: x.sum((1, 2))),
    "einsum": (
        lambda x: einrs.einsum(x, x, "a b c, a b c -> a"),
        lambda x: torch.einsum("abc,abc->a", x, x),
    ),
    "pack": (lambda x: einrs.pack([x, x], "* b c")[0], lambda x: torch.cat([x, x], 0)),
    "parse_shape": (
        lambda x: x * einrs.parse_shape(x, "a b c")["c"],
        lambda x: x * x.shape[2],
    ),
    "Rearrange": (Rearrange("a b c -> c a b"), lambda x: x.permute(2, 0, 1)),
    "Reduce": (Reduce("a b c -> a", "sum"), lambda x: x.sum((1, 2))),
}
QUANTIZED: dict[str, tuple[Call, Call]] = {
    "rearrange": (
        lambda x: einrs.rearrange(x, "b (h c) d -> b h d c", h=2),
        lambda x: x.reshape(2, 2, 3, 4).permute(0, 1, 3, 2),
    ),
    "repeat": (
        lambda x: einrs.repeat(x, "b c d -> b c d k", k=2),
        lambda x: x.unsqueeze(3).expand(2, 6, 4, 2),
    ),
    "reduce": (lambda x: einrs.reduce(x, "b c d -> b c", "max"), lambda x: x.amax(-1)),
    "pack": (
        lambda x: einrs.pack([x, x], "b * d")[0],
        lambda x: torch.cat([x, x], 1),
    ),
    "unpack": (
        lambda x: einrs.unpack(x, [(2, 2), (2,)], "b * d"),
        lambda x: [x[:, :4].reshape(2, 2, 2, 4), x[:, 4:]],
    ),
    "Rearrange": (
        Rearrange("b (h c) d -> b h d c", h=2),
        lambda x: x.reshape(2, 2, 3, 4).permute(0, 1, 3, 2),
    ),
    "Repeat": (Repeat("b c d -> b c d k", k=2), lambda x: x.unsqueeze(3).expand(2, 6, 4, 2)),
}


def quantized() -> Any:
    return torch.quantize_per_tensor(numbers(), 0.1, 0, torch.qint8)


def plain(result: Any) -> Any:
    """Tensors that can be compared."""
    if isinstance(result, list):
        return [plain(one) for one in result]
    result = result.detach()
    if result.is_nested:
        return list(result.unbind())
    if result.is_quantized:
        return result.int_repr(), result.q_scale()
    return result.to_dense() if result.layout == torch.sparse_coo else result


MAKERS = {
    "tensors: jagged": (jagged, JAGGED),
    "tensors: sparse": (lambda: numbers().to_sparse(), SPARSE),
    "tensors: quantized": (quantized, QUANTIZED),
}


@pytest.mark.cell("torch")
@pytest.mark.parametrize(
    ("mode", "operation"), [(mode, name) for mode, (_, calls) in MAKERS.items() for name in calls]
)
def test_layouts(mode: str, operation: str, alike: Any) -> None:
    make, calls = MAKERS[mode]

    def run(function: Call) -> Any:
        x = make()
        result = function(x)
        assert x.layout == (result[0] if isinstance(result, list) else result).layout
        return plain(result)

    ours, hand = calls[operation]
    compare.check(clean(run), ours, hand, torch.testing.assert_close, alike)
