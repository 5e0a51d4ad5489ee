"""Turns the vision transformers of vit-pytorch into cases of a small image, sequence or video."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import torch
from harness import Case, Subject, main

STANDARD = {
    "image_size": 32,
    "patch_size": 8,
    "num_classes": 7,
    "dim": 32,
    "depth": 2,
    "heads": 2,
    "mlp_dim": 48,
}
IMAGE = (2, 3, 32, 32)
LARGE = (1, 3, 64, 64)
VIDEO = (2, 3, 4, 32, 32)
SEQUENCE = (2, 3, 64)


def create(module: str, kind: str, options: dict[str, Any]) -> torch.nn.Module:
    model: torch.nn.Module = getattr(import_module(f"vit_pytorch.{module}"), kind)(**options)
    return model


def bare(module: str, kind: str, *shape: int, variant: str = "", **options: Any) -> Case:
    """A model of these options alone, called on random numbers of the shape."""

    def build() -> Subject:
        model = create(module, kind, options)
        return Subject(model, torch.randn(shape or IMAGE, requires_grad=True))

    return Case(f"{module}.{kind}{variant and f' {variant}'}", build)


def standard(module: str, kind: str, *shape: int, **options: Any) -> Case:
    """A model of the standard options and these; None takes one of the standard ones away."""
    merged = {key: value for key, value in (STANDARD | options).items() if value is not None}
    return bare(module, kind, *shape, **merged)


def forward_only(case: Case) -> Case:
    """The case without gradients."""

    def build() -> Subject:
        subject = case.build()
        subject.call.requires_grad_(False)
        subject.inputs = tuple(value.detach() for value in subject.inputs)
        return subject

    return Case(case.name, build)


def sequence(module: str, kind: str) -> Case:
    return standard(module, kind, *SEQUENCE, image_size=None, seq_len=64)


def video(module: str, kind: str, **options: Any) -> Case:
    frames = {"patch_size": None, "image_patch_size": 8, "frames": 4, "frame_patch_size": 2}
    return standard(module, kind, *VIDEO, **frames, **options)


def vivit(**options: Any) -> torch.nn.Module:
    """The model whose mask goes through reduce(..., "all")."""
    common = {
        key: STANDARD[key] for key in ("image_size", "num_classes", "dim", "heads", "mlp_dim")
    }
    frames = {"image_patch_size": 8, "frames": 4, "frame_patch_size": 2}
    depths = {"spatial_depth": 1, "temporal_depth": 1}
    return create("vivit", "ViViT", common | frames | depths | options)


def vivit_self_attention() -> Subject:
    return Subject(vivit(variant="factorized_self_attention"), torch.randn(VIDEO))


def vivit_mask() -> Subject:
    mask = torch.ones(2, 4, dtype=torch.bool)
    mask[1, 3:] = False
    return Subject(vivit(), torch.randn(VIDEO), mask=mask)


def na_vit(module: str, **call: Any) -> Callable[[], Subject]:
    def build() -> Subject:
        model = create(module, "NaViT", STANDARD | {"token_dropout_prob": 0.1})
        images = [torch.randn(3, *size) for size in ((16, 32), (32, 16), (8, 24))]
        return Subject(model, images, **call)

    return build


def masked_pretraining(module: str, kind: str, **options: Any) -> Callable[[], Subject]:
    """A wrapper that hides patches of the image from an encoder and learns to restore them."""

    def build() -> Subject:
        encoder = create("vit", "ViT", STANDARD)
        wrapper = getattr(import_module(f"vit_pytorch.{module}"), kind)
        return Subject(wrapper(**options, **{encoder_of(kind): encoder}), torch.randn(IMAGE))

    return build


def encoder_of(kind: str) -> str:
    return "transformer" if kind == "MPP" else "encoder"


def mp3() -> Subject:
    from vit_pytorch.mp3 import MP3, ViT

    return Subject(MP3(vit=ViT(**STANDARD), masking_ratio=0.5), torch.randn(IMAGE))


def distill() -> Subject:
    from vit_pytorch.distill import DistillableViT, DistillWrapper

    teacher = torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten())
    teacher.append(torch.nn.Linear(3, 7))
    model = DistillWrapper(student=DistillableViT(**STANDARD), teacher=teacher)
    return Subject(model, torch.randn(IMAGE), torch.tensor([1, 3]))


def wrapped(module: str, kind: str) -> Callable[[], Subject]:
    """A wrapper around a standard model that hands out what passes inside."""

    def build() -> Subject:
        wrapper = getattr(import_module(f"vit_pytorch.{module}"), kind)
        return Subject(wrapper(create("vit", "ViT", STANDARD)), torch.randn(IMAGE))

    return build


def adapter() -> Subject:
    from vit_pytorch.learnable_memory_vit import Adapter, ViT

    model = Adapter(vit=ViT(**STANDARD), num_classes=2, num_memories_per_layer=3)
    return Subject(model, torch.randn(IMAGE))


def accept_video() -> Subject:
    from vit_pytorch.accept_video_wrapper import AcceptVideoWrapper

    net = create("vit", "ViT", STANDARD)
    options = {"add_time_pos_emb": True, "time_seq_len": 4, "dim_emb": 7}
    return Subject(AcceptVideoWrapper(net, **options), torch.randn(VIDEO))


STANDARD_CASES = [
    standard("vit", "ViT"),
    standard("vit", "ViT", variant="mean", pool="mean", patch_size=(8, 4)),
    standard("simple_vit", "SimpleViT"),
    standard("deepvit", "DeepViT"),
    standard("cait", "CaiT", cls_depth=1),
    standard("xcit", "XCiT", cls_depth=1),
    standard("parallel_vit", "ViT"),
    standard("ats_vit", "ViT", max_tokens_per_depth=(8, 4)),
    standard("attn_residual_with_dca_simple_vit", "SimpleViT"),
    standard("vit_for_small_dataset", "ViT"),
    standard("vit_with_patch_dropout", "ViT"),
    standard("vit_with_patch_merger", "ViT"),
    standard("vit_with_decorr", "ViT"),
    standard("vit_with_keel_post_ln", "ViT"),
    standard("vit_5", "ViT"),
    standard("vit_detpool", "ViTDetPool"),
    standard("normalized_vit", "nViT"),
    standard("learnable_memory_vit", "ViT"),
    standard("jumbo_vit", "JumboViT", jumbo_ff_mult=1),
    standard("jet_vit", "JetViT", dim=64, dim_head=32),
    standard("rvt", "RvT"),
    standard("simple_uvit", "SimpleUViT"),
    standard("simple_flash_attn_vit", "SimpleViT"),
    standard("simple_vit_with_fft", "SimpleViT", freq_patch_size=8),
    standard("simple_vit_with_hyper_connections", "SimpleViT", num_residual_streams=4),
    standard("simple_vit_with_patch_dropout", "SimpleViT"),
    standard("simple_vit_with_qk_norm", "SimpleViT"),
    standard("simple_vit_with_register_tokens", "SimpleViT"),
    standard("simple_vit_with_relative_proj_pos_bias", "SimpleViT"),
    standard("simple_vit_with_sparse_gating", "SimpleViTWithSparseGating"),
    standard("simple_vit_with_specialized_cls", "SimpleViT"),
    standard("simple_vit_with_value_residual", "SimpleViT"),
    standard("simple_vit_attn_residual", "SimpleViTAttnResidual"),
    standard("simple_vit_orthog_residual_update", "SimpleViT"),
    standard("pit", "PiT", depth=(1, 1), dim_head=8),
    standard("t2t", "T2TViT", patch_size=None, t2t_layers=((7, 4), (3, 2)), dim=16, dim_head=8),
    standard("wwt", "WWT", num_slots=4, dim_head=16),
    standard(
        "looped_vit",
        "LoopedViT",
        depth=None,
        pre_loop_depth=1,
        num_looped_blocks=1,
        post_loop_depth=1,
        loop_depth=2,
        dim_head=16,
    ),
    sequence("simple_vit_1d", "SimpleViT"),
    sequence("vit_1d", "ViT"),
    video("simple_vit_3d", "SimpleViT"),
    video("simple_flash_attn_vit_3d", "SimpleViT"),
    video("vit_3d", "ViT"),
]

OTHER_CASES = [
    Case("vivit.ViViT mask", vivit_mask),
    Case("vivit.ViViT factorized_self_attention", vivit_self_attention),
    Case("na_vit.NaViT", na_vit("na_vit", group_images=True, group_max_seq_len=16)),
    Case("na_vit_nested_tensor.NaViT", na_vit("na_vit_nested_tensor")),
    Case("mae.MAE", masked_pretraining("mae", "MAE", decoder_dim=16)),
    Case("simmim.SimMIM", masked_pretraining("simmim", "SimMIM")),
    Case("mpp.MPP", masked_pretraining("mpp", "MPP", patch_size=8, dim=32)),
    Case("mp3.MP3", mp3),
    Case("distill.DistillWrapper", distill),
    Case("extractor.Extractor", wrapped("extractor", "Extractor")),
    Case("recorder.Recorder", wrapped("recorder", "Recorder")),
    Case("learnable_memory_vit.Adapter", adapter),
    Case("accept_video_wrapper.AcceptVideoWrapper", accept_video),
]

if __name__ == "__main__":
    main([*STANDARD_CASES, *OTHER_CASES])
