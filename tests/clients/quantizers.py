"""Turns the quantizers of vector-quantize-pytorch into cases of a short sequence or small image."""

from typing import Any

import torch
import vector_quantize_pytorch
from harness import Case, Subject, main

SEQUENCE = (2, 16, 32)
IMAGE = (2, 32, 4, 4)
BOOK = {"dim": 32, "codebook_size": 16}
RESIDUAL = BOOK | {"num_quantizers": 3}
BITS = {"codebook_size": 256, "dim": 8}


def mask() -> torch.Tensor:
    values = torch.ones(2, 16, dtype=torch.bool)
    values[1, 10:] = False
    return values


def quantizer(
    name: str,
    kind: str,
    shape: tuple[int, ...] = SEQUENCE,
    masked: bool = False,
    call: dict[str, Any] | None = None,
    **options: Any,
) -> Case:
    """A quantizer of these options, called on random numbers of the shape."""

    def build() -> Subject:
        model = getattr(vector_quantize_pytorch, kind)(**options)
        keywords = (call or {}) | ({"mask": mask()} if masked else {})
        return Subject(model, torch.randn(shape, requires_grad=True), **keywords)

    return Case(name, build)


def vector(name: str, shape: tuple[int, ...] = SEQUENCE, **options: Any) -> Case:
    return quantizer(name, "VectorQuantize", shape, **BOOK | options)


def residual(name: str, **options: Any) -> Case:
    return quantizer(name, "ResidualVQ", **RESIDUAL | options)


SEPARATE = {"heads": 4, "codebook_dim": 8, "separate_codebook_per_head": True}
LEARNED = {"learnable_codebook": True, "ema_update": False, "heads": 2, "codebook_dim": 16}
DROPPED = {"num_quantizers": 4, "quantize_dropout": True, "kmeans_init": True}
GROUPS = {"num_quantizers": 2, "groups": 2}

CASES = [
    vector("vector"),
    vector("cosine", use_cosine_sim=True, codebook_dim=8),
    vector("k-means", codebook_size=8, kmeans_init=True, threshold_ema_dead_code=2),
    vector("separate heads", **SEPARATE),
    vector("shared heads", heads=4, codebook_dim=8),
    vector("rotation", rotation_trick=True),
    vector("image", IMAGE, accept_image_fmap=True),
    vector("volume", (2, 32, 2, 4, 4), accept_3d_fmap=True),
    vector("channel first", (2, 32, 16), channel_last=False),
    vector("masked", masked=True),
    vector("affine", affine_param=True),
    vector("orthogonal", IMAGE, orthogonal_reg_weight=10.0, accept_image_fmap=True),
    vector("stochastic", stochastic_sample_codes=True, sample_codebook_temp=0.5),
    vector("learned", **LEARNED),
    residual("residual"),
    residual("residual dropped", **DROPPED),
    residual("residual shared", shared_codebook=True, stochastic_sample_codes=True),
    residual("residual all codes", call={"return_all_codes": True}),
    residual("residual implicit", num_quantizers=2, implicit_neural_codebook=True),
    residual("residual beam", num_quantizers=2, beam_size=2),
    quantizer("residual groups", "GroupedResidualVQ", **BOOK, **GROUPS),
    quantizer(
        "random projection", "RandomProjectionQuantizer", **BOOK, codebook_dim=8, num_codebooks=4
    ),
    quantizer("finite scalar", "FSQ", (2, 16, 4), levels=[8, 5, 5, 5]),
    quantizer("finite scalar image", "FSQ", (2, 12, 4, 4), levels=[8, 5, 5], num_codebooks=4),
    quantizer("residual scalar", "ResidualFSQ", dim=32, levels=[8, 5, 5, 3], num_quantizers=3),
    quantizer("scalar groups", "GroupedResidualFSQ", dim=32, levels=[8, 5, 5, 3], **GROUPS),
    quantizer(
        "lookup free", "LFQ", (2, 8, 4, 4), **BITS, entropy_loss_weight=0.1, diversity_gamma=1.0
    ),
    quantizer("lookup free sequence", "LFQ", (2, 16, 8), **BITS),
    quantizer(
        "lookup free codebooks", "LFQ", (2, 16, 16), codebook_size=16, dim=16, num_codebooks=4
    ),
    quantizer("lookup free sphere", "LFQ", (2, 16, 8), masked=True, **BITS, spherical=True),
    quantizer(
        "lookup free residual",
        "ResidualLFQ",
        (2, 16, 16),
        dim=16,
        codebook_size=64,
        num_quantizers=3,
    ),
    quantizer(
        "lookup free groups", "GroupedResidualLFQ", (2, 16, 16), dim=16, codebook_size=64, **GROUPS
    ),
    quantizer("latent", "LatentQuantize", (2, 9, 4, 4), levels=[5, 5, 8], dim=9),
    quantizer("simple", "SimVQ", IMAGE, **BOOK, channel_first=True),
    quantizer("simple residual", "ResidualSimVQ", **BOOK, num_quantizers=2),
    quantizer(
        "hierarchical",
        "HierarchicalVQ",
        (2, 32, 8),
        **BOOK,
        scales=(1, 2, 4, 8),
        threshold_ema_dead_code=0,
        kmeans_init=False,
    ),
    quantizer("binary", "BinaryMapper", (2, 4, 6), bits=6),
]

if __name__ == "__main__":
    main(CASES)
