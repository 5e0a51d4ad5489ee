"""Turns what torch does to programs (compile, export, script, copy) into cases of one model."""

import copy
import io
import pickle
from collections.abc import Callable
from typing import Any

import torch
from einops import einsum, pack, rearrange, reduce, repeat, unpack
from harness import Case, Subject, main
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.func import functional_call, grad, vmap
from vit_pytorch import SimpleViT, ViT

# torch.fx.wrap replaces this global while it traces; einops itself cannot be traced by torch.fx.
torch.fx.wrap("rearrange")

SIZES = {
    "image_size": 16,
    "patch_size": 8,
    "num_classes": 5,
    "dim": 16,
    "depth": 1,
    "heads": 2,
    "mlp_dim": 16,
    "dim_head": 8,
}
SHAPE = (2, 3, 16, 16)


def image() -> Tensor:
    return torch.randn(SHAPE, requires_grad=True)


def constant(value: Any) -> Subject:
    """What is known after building, as the output."""
    return Subject(lambda: value)


def compiled(
    target: Callable[[], Callable[..., Any]],
    backend: str = "aot_eager",
    dynamic: bool | None = None,
) -> Callable[[], Subject]:
    def build() -> Subject:
        torch.compiler.reset()
        plain = target()
        model = plain if isinstance(plain, nn.Module) else None
        call = torch.compile(plain, backend=backend, fullgraph=True, dynamic=dynamic)
        return Subject(call, image(), model=model)

    return build


def vit() -> nn.Module:
    return ViT(**SIZES)


def all_functions(image: Tensor) -> list[Tensor]:
    patches = rearrange(image, "b c (h p) w -> b h (p w c)", p=4)
    largest = reduce(image, "b c h w -> b c", "max")
    repeated = repeat(largest, "b c -> b c k", k=3)
    products = einsum(patches, patches, "b i d, b j d -> b i j")
    packed, shapes = pack([largest, repeated], "b *")
    return [patches, largest, repeated, products, packed, *unpack(packed, shapes, "b *")]


def graph_breaks() -> Subject:
    torch.compiler.reset()
    explained = torch._dynamo.explain(SimpleViT(**SIZES))(image())
    return constant([explained.graph_count, explained.graph_break_count])


def exported(strict: bool) -> Callable[[], Subject]:
    def build() -> Subject:
        program = torch.export.export(vit().eval(), (image(),), strict=strict)
        return Subject(program.module(), image())

    return build


def exported_any_batch() -> Subject:
    batch = torch.export.Dim("batch", min=1, max=64)
    model = SimpleViT(**SIZES).eval()
    program = torch.export.export(model, (image(),), dynamic_shapes=({0: batch},), strict=False)
    call = program.module()
    return Subject(lambda x: [call(x), call(torch.cat([x, x]))], image())


def traced() -> Subject:
    return Subject(torch.jit.trace(vit().eval(), image()), image())


def scripted() -> Subject:
    script = torch.jit.script(vit().eval().to_patch_embedding)
    file = io.BytesIO()
    torch.jit.save(script, file)
    file.seek(0)
    loaded = torch.jit.load(file)
    return Subject(lambda x: [script(x), loaded(x)], image(), model=script)


class Rearranged(nn.Module):
    def forward(self, image: Tensor) -> Tensor:
        return rearrange(image, "b c (h p) w -> b h (w p) c", p=4) * 2


def symbolically_traced() -> Subject:
    module = torch.fx.symbolic_trace(Rearranged())
    return Subject(lambda x: [module(x), len(module.graph.nodes)], image())


def gradient_of_each() -> Subject:
    model = vit()

    def squares(parameters: Any, image: Tensor) -> Tensor:
        return functional_call(model, parameters, (image[None],)).square().sum()

    each = vmap(grad(squares), in_dims=(None, 0))
    return Subject(each, dict(model.named_parameters()), torch.randn(SHAPE), model=model)


def copied() -> Subject:
    model = vit().eval()
    models = [model, copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    return Subject(lambda x: [each(x) for each in models], image(), model=nn.ModuleList(models))


def on_meta() -> Subject:
    with torch.device("meta"):
        model = vit()
    return constant(list(model(torch.empty(SHAPE, device="meta")).shape))


def on_fake() -> Subject:
    with FakeTensorMode():
        return constant(list(vit()(torch.empty(SHAPE)).shape))


def autocast() -> Subject:
    model = vit()

    def call(image: Tensor) -> Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            return model(image)

    return Subject(call, image(), model=model)


def shown() -> Subject:
    return constant(list(repr(vit().to_patch_embedding).encode()))


CASES = [
    Case("compile", compiled(vit)),
    Case("compile dynamic", compiled(vit, dynamic=True)),
    Case("compile eager", compiled(vit, backend="eager")),
    Case("compile functions", compiled(lambda: all_functions)),
    Case("graph breaks", graph_breaks),
    Case("export strict", exported(strict=True)),
    Case("export", exported(strict=False)),
    Case("export any batch", exported_any_batch),
    Case("jit.trace", traced),
    Case("jit.script save and load", scripted),
    Case("fx.wrap", symbolically_traced),
    Case("vmap of grad", gradient_of_each),
    Case("deepcopy and pickle", copied),
    Case("meta", on_meta),
    Case("fake", on_fake),
    Case("autocast", autocast),
    Case("repr", shown),
]

if __name__ == "__main__":
    main(CASES)
