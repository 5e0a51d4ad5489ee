"""Turns small attention packages into cases: performer, local, CoLT5, MEGABYTE, ring and Taylor."""

from collections.abc import Callable
from typing import Any

import torch
from colt5_attention import ConditionalRoutedFeedForward, ConditionalRoutedTransformerBlock
from harness import Case, Subject, main
from local_attention import LocalAttention, LocalTransformer
from MEGABYTE_pytorch import MEGABYTE
from performer_pytorch import PerformerLM
from ring_attention_pytorch import RingTransformer
from taylor_series_linear_attention import (
    ChannelFirstTaylorSeriesLinearAttn,
    TaylorSeriesLinearAttn,
)

TOKENS = 40
HEADS = {"heads": 2, "dim_head": 8}
LAYERS = {"num_tokens": TOKENS, "dim": 16, "depth": 2, **HEADS}


def language(
    name: str,
    model: Callable[..., torch.nn.Module],
    length: int,
    options: dict[str, Any],
    **call: Any,
) -> Case:
    """A language model of these options, called on random tokens."""

    def build() -> Subject:
        return Subject(model(**options), torch.randint(0, TOKENS, (2, length)), **call)

    return Case(name, build)


def performer(name: str, **options: Any) -> Case:
    sizes = LAYERS | {"max_seq_len": 32, "nb_features": 8}
    return language(f"performer{name}", PerformerLM, 32, sizes | options)


def local(name: str, **options: Any) -> Case:
    sizes = LAYERS | {"max_seq_len": 64, "local_attn_window_size": 8}
    return language(f"local{name}", LocalTransformer, 33, sizes | options, return_loss=True)


def megabyte(name: str, **options: Any) -> Case:
    sizes = {"num_tokens": TOKENS, "dim": (16, 8), "depth": (1, 1), "max_seq_len": (8, 4), **HEADS}
    return language(f"megabyte{name}", MEGABYTE, 32, sizes | options, return_loss=True)


def ring(name: str, **options: Any) -> Case:
    sizes = LAYERS | {"causal": True, "bucket_size": 8, "ring_attn": False}
    merged = sizes | {"use_cuda_kernel": False} | options
    return language(f"ring{name}", RingTransformer, 33, merged, return_loss=True)


def taylor(name: str, **options: Any) -> Case:
    def build() -> Subject:
        model = TaylorSeriesLinearAttn(dim=16, dim_head=4, heads=2, **options)
        return Subject(model, torch.randn(2, 20, 16, requires_grad=True))

    return Case(f"taylor{name}", build)


def taylor_channel_first() -> Subject:
    model = ChannelFirstTaylorSeriesLinearAttn(dim=16, dim_head=4, heads=2)
    return Subject(model, torch.randn(2, 16, 4, 4, requires_grad=True))


def local_window() -> Subject:
    options = {"causal": True, "look_backward": 1, "autopad": True, "exact_windowsize": True}
    model = LocalAttention(dim=8, window_size=8, **options)
    queries, keys, values = (torch.randn(2, 2, 30, 8, requires_grad=True) for _ in range(3))
    return Subject(model, queries, keys, values, mask=torch.ones(2, 30, dtype=torch.bool))


def routed_block() -> Subject:
    light = {"light_dim_head": 8, "light_heads": 2, "light_window_size": 8}
    heavy = {"heavy_dim_head": 8, "heavy_heads": 2, "num_heavy_ff_tokens": 4}
    counts = {"num_heavy_attn_tokens_q": 4, "num_heavy_attn_tokens_kv": 8}
    model = ConditionalRoutedTransformerBlock(16, **light, **heavy, **counts)
    tokens = torch.randn(2, 32, 16, requires_grad=True)
    return Subject(model, tokens, mask=torch.ones(2, 32, dtype=torch.bool))


def routed_feed_forward() -> Subject:
    model = ConditionalRoutedFeedForward(16, num_heavy_tokens=4)
    return Subject(model, torch.randn(2, 32, 16, requires_grad=True))


CASES = [
    performer(""),
    performer(" causal", causal=True, local_attn_heads=1, local_window_size=8),
    performer(" generalized", generalized_attention=True, reversible=True, ff_glu=True),
    local(""),
    local(" dynamic position", use_dynamic_pos_bias=True),
    local(" rotary", use_xpos=True),
    Case("local window", local_window),
    Case("colt5 block", routed_block),
    Case("colt5 feed-forward", routed_feed_forward),
    megabyte(""),
    megabyte(" positions", pos_emb=True, rel_pos=True, flash_attn=True),
    ring(""),
    ring(" grouped queries", num_grouped_query_heads=2),
    ring(" regular", force_regular_attn=True),
    taylor(""),
    taylor(" rotary", rotary_emb=True),
    taylor(" one key head", one_headed_kv=True, gate_value_heads=True, prenorm=True),
    Case("taylor channel first", taylor_channel_first),
]

if __name__ == "__main__":
    main(CASES)
