"""Turns the models of perceiver-pytorch into cases of images, video, audio and text."""

from typing import Any

import torch
from harness import Case, Subject, main
from perceiver_pytorch import Perceiver, PerceiverIO, PerceiverLM

LATENT = {"num_latents": 8, "latent_dim": 16, "latent_heads": 2}
SIZES = {
    "num_freq_bands": 3,
    "max_freq": 8.0,
    "depth": 2,
    "cross_heads": 1,
    "cross_dim_head": 8,
    "latent_dim_head": 8,
    "num_classes": 5,
}


def perceiver(name: str, *shape: int, **options: Any) -> Case:
    """A perceiver of these options, called on random numbers of the shape, channels last."""

    def build() -> Subject:
        model = Perceiver(**LATENT | SIZES | options)
        return Subject(model, torch.randn(shape, requires_grad=True))

    return Case(name, build)


def queried() -> Subject:
    heads = {"cross_dim_head": 8, "latent_dim_head": 8, "decoder_ff": True}
    model = PerceiverIO(dim=16, queries_dim=12, logits_dim=7, depth=2, **LATENT, **heads)
    mask = torch.ones(2, 20, dtype=torch.bool)
    mask[0, 15:] = False
    data = torch.randn(2, 20, 16, requires_grad=True)
    return Subject(model, data, queries=torch.randn(10, 12), mask=mask)


def language() -> Subject:
    model = PerceiverLM(num_tokens=40, dim=16, depth=1, max_seq_len=32, **LATENT)
    mask = torch.ones(2, 24, dtype=torch.bool)
    return Subject(model, torch.randint(0, 40, (2, 24)), mask=mask)


CASES = [
    perceiver("image", 2, 8, 8, 3),
    perceiver("tied weights", 2, 8, 8, 3, weight_tie_layers=True, self_per_cross_attn=2),
    perceiver("video", 1, 4, 6, 6, 3, input_axis=3),
    perceiver("audio", 2, 32, 1, input_axis=1, input_channels=1),
    perceiver("no positions", 2, 20, 3, input_axis=1, fourier_encode_data=False),
    Case("queries", queried),
    Case("language", language),
]

if __name__ == "__main__":
    main(CASES)
