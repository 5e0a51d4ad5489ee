"""Turns the transformers of x-transformers into cases of a short sequence each."""

from collections.abc import Callable
from typing import Any

import torch
import x_transformers
from harness import Case, Subject, main
from x_transformers import Decoder, Encoder, TransformerWrapper

LAYERS = {"dim": 32, "depth": 2, "heads": 2, "attn_dim_head": 16}


def wrapper(layers: Any, tokens: int = 50, length: int = 64, **options: Any) -> TransformerWrapper:
    return TransformerWrapper(num_tokens=tokens, max_seq_len=length, attn_layers=layers, **options)


def tokens(*shape: int, count: int = 50) -> torch.Tensor:
    return torch.randint(0, count, shape)


def mask(batch: int, length: int, kept: int) -> torch.Tensor:
    """All true but for the end of the last sequence."""
    values = torch.ones(batch, length, dtype=torch.bool)
    values[-1, kept:] = False
    return values


def masked(layers: Any, **options: Any) -> Subject:
    return Subject(wrapper(layers, **options), tokens(2, 24), mask=mask(2, 24, 20))


def decoder(name: str, **options: Any) -> Case:
    """A decoder with one habit of its own."""
    return Case(name, lambda: masked(Decoder(**LAYERS | options)))


def autoregressive(**options: Any) -> Callable[[], Subject]:
    def build() -> Subject:
        model = x_transformers.AutoregressiveWrapper(wrapper(Decoder(**LAYERS | options)))
        return Subject(model, tokens(2, 25))

    return build


def generate() -> Subject:
    model = autoregressive(rotary_pos_emb=True)().call.eval()
    return Subject(model.generate, tokens(2, 4), 8)


def image() -> Subject:
    layers = Encoder(**LAYERS)
    sizes = {"image_size": 32, "patch_size": 8, "num_classes": 7}
    model = x_transformers.ViTransformerWrapper(attn_layers=layers, **sizes)
    return Subject(model, torch.randn(2, 3, 32, 32, requires_grad=True))


def encoder_decoder() -> Subject:
    sizes = {"num_tokens": 40, "depth": 1, "heads": 2, "max_seq_len": 32}
    halves = {f"{half}_{key}": value for half in ("enc", "dec") for key, value in sizes.items()}
    model = x_transformers.XTransformer(dim=32, tie_token_emb=True, **halves)
    source, target = tokens(2, 20, count=40), tokens(2, 20, count=40)
    return Subject(model, source, target, mask=mask(2, 20, 20))


def continuous() -> Subject:
    layers = Encoder(dim=32, depth=2, heads=2)
    model = x_transformers.ContinuousTransformerWrapper(
        dim_in=8, dim_out=5, max_seq_len=32, attn_layers=layers
    )
    return Subject(model, torch.randn(2, 16, 8, requires_grad=True))


def recurrent() -> Subject:
    layers = Decoder(dim=32, depth=2, heads=2, rel_pos_bias=True)
    model = x_transformers.XLAutoregressiveWrapper(wrapper(layers, length=16, max_mem_len=32))
    return Subject(model, tokens(2, 33))


def unordered() -> Subject:
    net = wrapper(Encoder(dim=32, depth=1, heads=2), tokens=51, length=16)
    return Subject(x_transformers.NonAutoregressiveWrapper(net, mask_id=50), tokens(2, 16))


def pooled() -> Subject:
    model = x_transformers.AttentionPool(dim=32, num_pooled_tokens=2, dim_context=32)
    return Subject(model, torch.randn(2, 9, 32, requires_grad=True))


CASES = [
    decoder("decoder"),
    Case("encoder", lambda: masked(Encoder(**LAYERS))),
    decoder("rotary", rotary_pos_emb=True, rotary_xpos=True),
    decoder("alibi", alibi_pos_bias=True, alibi_num_heads=1),
    decoder("relative position", rel_pos_bias=True),
    decoder("dynamic position", dynamic_pos_bias=True, dynamic_pos_bias_log_distance=False),
    decoder("grouped queries", attn_kv_heads=1),
    decoder("one key and value head", attn_one_kv_head=True),
    decoder("normalized queries", attn_qk_norm=True, attn_qk_norm_dim_scale=True),
    decoder("flash", attn_flash=True),
    decoder("talking heads", attn_pre_talking_heads=True, attn_post_talking_heads=True),
    decoder("sparse", attn_sparse_topk=4),
    decoder("memory keys", attn_num_mem_kv=3),
    decoder("gated values", attn_gate_values=True, attn_gate_value_heads=True),
    Case("memory tokens", lambda: masked(Decoder(**LAYERS), num_memory_tokens=3)),
    decoder("hyper-connections", num_residual_streams=2),
    decoder("sandwich", sandwich_coef=1),
    decoder("macaron", macaron=True),
    decoder("gated residual", gate_residual=True),
    decoder("root mean square norm", use_rmsnorm=True, ff_glu=True, ff_swish=True),
    decoder("shifted tokens", shift_tokens=1),
    decoder("contextual position", attn_use_cope=True),
    decoder("laser", attn_laser=True),
    decoder("value residual", add_value_residual=True),
    decoder("euclidean distance", attn_l2_distance=True),
    decoder("deepnorm", pre_norm=False, scale_residual=True),
    Case("sinusoidal", lambda: masked(Decoder(**LAYERS), scaled_sinu_pos_emb=True)),
    Case("autoregressive", autoregressive()),
    Case("autoregressive rotary", autoregressive(rotary_pos_emb=True)),
    Case("generate", generate),
    Case("image", image),
    Case("encoder and decoder", encoder_decoder),
    Case("continuous", continuous),
    Case("recurrent memory", recurrent),
    Case("not autoregressive", unordered),
    Case("attention pool", pooled),
]

if __name__ == "__main__":
    main(CASES)
