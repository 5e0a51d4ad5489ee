"""A vision transformer in torch whose every rearrangement is written by hand or by a package."""

from __future__ import annotations

from types import ModuleType

import torch
from torch import nn

DEPTH, WIDTH, HEADS, PATCH = 12, 64, 4, 8


class ByHand:
    """The rearrangements of the model as one writes them with torch's methods."""

    @staticmethod
    def patches(images: torch.Tensor) -> torch.Tensor:
        b, c, h, w = images.shape
        x = images.reshape(b, c, h // PATCH, PATCH, w // PATCH, PATCH)
        return x.permute(0, 2, 4, 3, 5, 1).reshape(b, (h // PATCH) * (w // PATCH), -1)

    @staticmethod
    def split(x: torch.Tensor) -> torch.Tensor:
        b, n, c = x.shape
        return x.reshape(b, n, HEADS, c // HEADS).permute(0, 2, 1, 3)

    @staticmethod
    def merge(x: torch.Tensor) -> torch.Tensor:
        b, h, n, d = x.shape
        return x.permute(0, 2, 1, 3).reshape(b, n, h * d)

    @staticmethod
    def pooled(x: torch.Tensor) -> torch.Tensor:
        return x.mean(1)


class ByPattern:
    """The same by the functions of a package."""

    def __init__(self, package: ModuleType) -> None:
        self.package = package

    def patches(self, images: torch.Tensor) -> torch.Tensor:
        pattern = "b c (h p) (w q) -> b (h w) (p q c)"
        return self.package.rearrange(images, pattern, p=PATCH, q=PATCH)

    def split(self, x: torch.Tensor) -> torch.Tensor:
        return self.package.rearrange(x, "b n (h d) -> b h n d", h=HEADS)

    def merge(self, x: torch.Tensor) -> torch.Tensor:
        return self.package.rearrange(x, "b h n d -> b n (h d)")

    def pooled(self, x: torch.Tensor) -> torch.Tensor:
        return self.package.reduce(x, "b n d -> b d", "mean")


class Block(nn.Module):
    """Attention and a two-layer perceptron."""

    def __init__(self, ways: ByHand | ByPattern) -> None:
        super().__init__()
        self.ways = ways
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.out = nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(
            nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm1(x)
        q, k, v = [self.ways.split(layer(y)) for layer in self.qkv]
        weights = (q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5).softmax(-1)
        x = x + self.out(self.ways.merge(weights @ v))
        return x + self.mlp(self.norm2(x))


class Transformer(nn.Module):
    """Patches, twelve blocks, the mean, a linear head."""

    def __init__(self, ways: ByHand | ByPattern) -> None:
        super().__init__()
        self.ways = ways
        self.embed = nn.Linear(3 * PATCH * PATCH, WIDTH)
        self.blocks = nn.ModuleList(Block(ways) for _ in range(DEPTH))
        self.head = nn.Linear(WIDTH, 10)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        x = self.embed(self.ways.patches(images))
        for block in self.blocks:
            x = block(x)
        return self.head(self.ways.pooled(x))
