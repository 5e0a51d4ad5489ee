"""Lists the operations on whole tensors and layers to time, beside what a person writes by hand."""

from __future__ import annotations

from typing import Any

SHAPES = {
    "parse_shape": (8, 3, 32, 32),
    "pack": (8, 4, 16),
    "unpack": (8, 19, 16),
    "einsum": (4, 6, 8),
    "torch layer": (2, 5, 24),
}

CALLS = {
    "parse_shape": "parse_shape(x, 'b c h w')",
    "pack": "pack([x, x], 'b * d')",
    "unpack": "unpack(x, [(4,), (3, 5)], 'b * d')",
    "einsum": "einsum(x, x, 'b i d, b j d -> b i j')",
    "torch layer": "layer(x)  # 'b n (h d) -> b h n d'",
}

PACK = (
    "s = x.shape; t = x.reshape(s[0], -1, s[2]); "
    "({module}.{concat}([t, x.reshape(s[0], -1, s[2])], 1), [s[1:-1], s[1:-1]])"
)

NUMPY_HAND = {
    "parse_shape": "b, c, h, w = x.shape; {'b': b, 'c': c, 'h': h, 'w': w}",
    "pack": PACK.format(module="np", concat="concatenate"),
    "unpack": "b, n, d = x.shape; [x[:, :4], x[:, 4:].reshape(b, 3, 5, d)]",
    "einsum": "np.einsum('bid,bjd->bij', x, x)",
}

TORCH_HAND = {
    **NUMPY_HAND,
    "pack": PACK.format(module="torch", concat="cat"),
    "einsum": "torch.einsum('bid,bjd->bij', x, x)",
    "torch layer": "by_hand(x)",
}

# `jax.numpy` by itself is what one writes: a function compiled by hand is tied to its shapes.
JAX_HAND = {
    **NUMPY_HAND,
    "pack": PACK.format(module="jnp", concat="concatenate"),
    "einsum": "jnp.einsum('bid,bjd->bij', x, x)",
}


def torch_names() -> dict[str, Any]:
    """What the hand-written torch rows need: torch, and a module that splits heads."""
    import torch

    class SplitHeads(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            b, n, c = x.shape
            return x.view(b, n, 4, c // 4).transpose(1, 2)

    return {"torch": torch, "by_hand": SplitHeads()}


def layer(package: str) -> Any:
    """The layer of a package that splits heads."""
    import importlib

    layers = importlib.import_module(f"{package}.layers.torch")
    return layers.Rearrange("b n (h d) -> b h n d", h=4)
