"""Turns packages that other models are made of into cases: connections, graphs, rotary positions.

Also einops-exts and torch-einops-utils, which add to einops itself.
"""

from typing import Any

import einops_exts
import torch
import torch_einops_utils
from egnn_pytorch import EGNN_Network
from einops_exts.torch import EinopsToAndFrom
from harness import Case, Subject, main
from hyper_connections import (
    get_init_and_expand_reduce_stream_functions,
    mc_get_init_and_expand_reduce_stream_functions,
)
from rotary_embedding_torch import RotaryEmbedding, apply_rotary_emb
from torch import Tensor, nn


def hyper_connected(name: str, functions: Any, branches: int, **options: Any) -> Case:
    """Branches that read from and write to four streams of the same tokens."""

    def build() -> Subject:
        connect, expand, reduce = functions(4, dim=16, **options)
        layers = [connect(dim=16, branch=nn.Linear(16, 16)) for _ in range(branches)]
        model = nn.Sequential(expand, *layers, reduce)
        return Subject(model, torch.randn(2, 10, 16, requires_grad=True))

    return Case(f"hyper-connections{name}", build)


def graph(name: str, **options: Any) -> Case:
    def build() -> Subject:
        model = EGNN_Network(num_tokens=11, num_positions=20, dim=16, depth=2, **options)
        atoms, places = torch.randint(0, 11, (1, 20)), torch.randn(1, 20, 3, requires_grad=True)
        return Subject(model, atoms, places, mask=torch.ones(1, 20, dtype=torch.bool))

    return Case(f"egnn{name}", build)


def rotary(name: str, **options: Any) -> Case:
    def build() -> Subject:
        model = RotaryEmbedding(dim=8, **options)

        def rotate(queries: Tensor, keys: Tensor) -> Any:
            if options.get("use_xpos"):
                return model.rotate_queries_and_keys(queries, keys)
            rotated = model.rotate_queries_or_keys
            return [rotated(queries), rotated(keys, offset=3)]

        queries, keys = (torch.randn(2, 2, 12, 16, requires_grad=True) for _ in range(2))
        return Subject(rotate, queries, keys, model=model)

    return Case(f"rotary{name}", build)


def rotary_axial() -> Subject:
    model = RotaryEmbedding(dim=8, freqs_for="pixel", max_freq=16)

    def rotate(queries: Tensor) -> Any:
        return apply_rotary_emb(model.get_axial_freqs(4, 4), queries)

    return Subject(rotate, torch.randn(1, 4, 4, 16, requires_grad=True), model=model)


def extensions() -> Subject:
    model = EinopsToAndFrom("b c h w", "b (h w) c", nn.Linear(6, 6))

    def call(image: Tensor, table: Tensor) -> list[Any]:
        einops_exts.check_shape(image, "b c h w", c=6)
        return [
            model(image),
            *einops_exts.rearrange_many([image, image], "b (g c) h w -> b g c h w", g=2),
            *einops_exts.repeat_many([image, image], "b c h w -> r b c h w", r=2),
            einops_exts.rearrange_with_anon_dims(image, "b ...c -> b (...c)", c=(6, 3, 4)),
            einops_exts.repeat_with_anon_dims(table, "b d -> b ...i d", i=(2, 2)),
        ]

    image = torch.randn(2, 6, 3, 4, requires_grad=True)
    return Subject(call, image, torch.randn(2, 3, requires_grad=True), model=model)


def utilities() -> Subject:
    def call(tokens: Tensor, others: Tensor) -> list[Any]:
        packed, unpacked = torch_einops_utils.pack_with_inverse(tokens, "b * d")
        joined, parted = torch_einops_utils.pack_with_inverse([tokens, others], "b * d")
        lengths = torch_einops_utils.lens_to_mask(torch.tensor([2, 4]))
        mean = torch_einops_utils.masked_mean(tokens, tokens > 0)
        return [packed, unpacked(packed * 2), *parted(joined), lengths, mean]

    tokens = torch.randn(2, 3, 4, 5, requires_grad=True)
    return Subject(call, tokens, torch.randn(2, 7, 5, requires_grad=True))


PLAIN = get_init_and_expand_reduce_stream_functions
MANIFOLD = mc_get_init_and_expand_reduce_stream_functions
NEAREST = {"num_nearest_neighbors": 4, "fourier_features": 2, "norm_coors": True}
GLOBAL = {
    "global_linear_attn_every": 1,
    "global_linear_attn_heads": 2,
    "global_linear_attn_dim_head": 8,
}

CASES = [
    hyper_connected("", PLAIN, 2),
    hyper_connected(" fractions", PLAIN, 2, num_fracs=2),
    hyper_connected(" stream embedding", PLAIN, 2, add_stream_embed=True),
    hyper_connected(" on a manifold", MANIFOLD, 1),
    graph(""),
    graph(" nearest neighbours", **NEAREST, coor_weights_clamp_value=2.0),
    graph(" global attention", **GLOBAL),
    rotary(""),
    rotary(" extrapolated", use_xpos=True),
    rotary(" learned", learned_freq=True),
    Case("rotary axial", rotary_axial),
    Case("einops-exts", extensions),
    Case("torch-einops-utils", utilities),
]

if __name__ == "__main__":
    main(CASES)
