"""Lists the operations to time: the call, and what a person writes by hand for each framework."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import joins
from timing import Snippet

Shape = tuple[int, ...]
# Kinds outside of the means and their goals: an identity costs nothing by hand, and a layer of the
# framework is another algorithm than the reduction that einops asks for.
APART = ("identity", "layer")
# Operations on whole tensors: each is a group of its own.
WHOLE = tuple(joins.CALLS)
LABELS = {
    "numpy": ("numpy",),
    "torch": ("torch, no_grad", "torch, requires_grad", "torch, inference_mode"),
    "jax": ("jax",),
}


@dataclass(frozen=True)
class Case:
    """One operation: what kind it is for numpy, the small shape it runs on, the call to time."""

    kind: str
    shape: Shape
    call: str

    @property
    def pattern(self) -> str:
        return self.call.split("'")[1]


IMAGE, SEQUENCE, PACKED, HEADS, PLANE = (2, 3, 4, 8), (2, 5, 12), (2, 5, 24), (2, 4, 5, 3), (4, 8)

CASES = {
    "identity": Case("identity", IMAGE, "rearrange(x, 'b c h w -> b c h w')"),
    "transpose": Case("view", IMAGE, "rearrange(x, 'b c h w -> b h w c')"),
    "ellipsis": Case("view", IMAGE, "rearrange(x, 'b ... -> ... b')"),
    "split heads": Case("view", SEQUENCE, "rearrange(x, 'b n (h d) -> b h n d', h=4)"),
    "qkv": Case("view", PACKED, "rearrange(x, 'b n (t h d) -> t b h n d', t=3, h=2)"),
    "unsqueeze": Case("view", (2, 12), "rearrange(x, 'b d -> b 1 d')"),
    "flatten": Case("view", IMAGE, "rearrange(x, 'b c h w -> b (c h w)')"),
    "merge heads": Case("copy", HEADS, "rearrange(x, 'b h n d -> b n (h d)')"),
    "patches": Case("copy", IMAGE, "rearrange(x, 'b c (h p) (w q) -> b (h w) (p q c)', p=2, q=2)"),
    "repeat, new axis": Case("repeat", PLANE, "repeat(x, 'h w -> h w c', c=3)"),
    "repeat, longer axis": Case("repeat", PLANE, "repeat(x, 'h w -> (h r) w', r=2)"),
    "mean": Case("mean", IMAGE, "reduce(x, 'b c h w -> b c', 'mean')"),
    "max pool": Case("pool", IMAGE, "reduce(x, 'b c (h p) (w q) -> b c h w', 'max', p=2, q=2)"),
    "max pool (F.max_pool2d)": Case(
        "layer", IMAGE, "reduce(x, 'b c (h p) (w q) -> b c h w', 'max', p=2, q=2)"
    ),
    **{name: Case(name, joins.SHAPES[name], call) for name, call in joins.CALLS.items()},
}

# Of the natural spellings of each operation the quickest on small arrays: methods, positional
# arguments, `repeat` on the flat array rather than `np.repeat` along an axis, and so on.
NUMPY_HAND = {
    "identity": "x",
    "transpose": "x.transpose(0, 2, 3, 1)",
    "split heads": "b, n, c = x.shape; x.reshape(b, n, 4, c // 4).swapaxes(1, 2)",
    "qkv": "b, n, c = x.shape; x.reshape(b, n, 3, 2, c // 6).transpose(2, 0, 3, 1, 4)",
    "unsqueeze": "x[:, None]",
    "flatten": "x.reshape(len(x), -1)",
    "merge heads": "b, h, n, d = x.shape; x.transpose(0, 2, 1, 3).reshape(b, n, h * d)",
    "patches": "b, c, h, w = x.shape; "
    "x.reshape(b, c, h // 2, 2, w // 2, 2).transpose(0, 2, 4, 3, 5, 1).reshape(b, -1, 4 * c)",
    "repeat, new axis": "h, w = x.shape; x.repeat(3).reshape(h, w, 3)",
    "repeat, longer axis": "x.repeat(2, 0)",
    "mean": "x.mean(axis=(2, 3))",
    "max pool": "b, c, h, w = x.shape; x.reshape(b, c, h // 2, 2, w // 2, 2).max(axis=(3, 5))",
}

TORCH_HAND = {
    "identity": "x",
    "transpose": "x.permute(0, 2, 3, 1)",
    "ellipsis": "x.permute(1, 2, 3, 0)",
    "flatten": "x.flatten(1)",
    "split heads": "b, n, c = x.shape; x.view(b, n, 4, c // 4).transpose(1, 2)",
    "qkv": "b, n, c = x.shape; x.view(b, n, 3, 2, c // 6).permute(2, 0, 3, 1, 4)",
    "merge heads": "x.transpose(1, 2).flatten(2)",
    "patches": "b, c, h, w = x.shape; "
    "x.view(b, c, h // 2, 2, w // 2, 2).permute(0, 2, 4, 3, 5, 1).reshape(b, -1, 4 * c)",
    "mean": "x.mean((2, 3))",
    "max pool": "b, c, h, w = x.shape; x.view(b, c, h // 2, 2, w // 2, 2).amax((3, 5))",
    "max pool (F.max_pool2d)": "max_pool2d(x, 2)",
    "repeat, new axis": "x.unsqueeze(-1).expand(-1, -1, 3)",
    "repeat, longer axis": "x.repeat_interleave(2, 0)",
}

# Bodies of functions that `jax.jit` compiles: each costs one dispatch, however it is written.
JAX_HAND = {
    "transpose": "x.transpose(0, 2, 3, 1)",
    "split heads": NUMPY_HAND["split heads"],
    "merge heads": NUMPY_HAND["merge heads"],
    "patches": NUMPY_HAND["patches"],
    "repeat, new axis": "jnp.broadcast_to(x[:, :, None], (*x.shape, 3))",
    "mean": "x.mean((2, 3))",
    "max pool": NUMPY_HAND["max pool"],
}


@dataclass(frozen=True)
class Framework:
    """One way to run the cases: how tensors are made, what is written by hand, in which context."""

    section: str
    label: str
    make: Callable[[Shape], Any]
    hand: Mapping[str, str]
    names: Mapping[str, Any] = field(default_factory=dict)
    context: Callable[[], AbstractContextManager[Any]] = nullcontext
    finish: str = ""

    def rows(self) -> Iterator[Row]:
        """Make the row of every case, on its small shape."""
        return (self.row(name, CASES[name].shape, title=name) for name in self.hand)

    def row(self, name: str, shape: Shape, title: str) -> Row:
        with self.context():
            tensor = self.make(shape)
        return Row(self, name, title, tensor)


@dataclass(frozen=True)
class Row:
    """A case in a framework; rows of one group share a geometric mean."""

    framework: Framework
    name: str
    title: str
    tensor: Any

    @property
    def case(self) -> Case:
        return CASES[self.name]

    @property
    def group(self) -> str:
        kind = self.case.kind
        if kind in APART:
            return kind
        if kind in WHOLE:
            return f"{self.framework.label}: {kind}"
        return f"numpy {kind}" if self.framework.section == "numpy" else self.framework.label

    @property
    def hand(self) -> str:
        return self.framework.hand[self.name] + self.framework.finish

    @property
    def call(self) -> str:
        return self.case.call + self.framework.finish


def numpy_framework() -> Framework:
    """NumPy arrays of float32."""
    import numpy as np

    hand = NUMPY_HAND | joins.NUMPY_HAND
    return Framework("numpy", "numpy", _counting, hand, {"np": np})


def torch_frameworks() -> list[Framework]:
    """Torch tensors on the CPU in each of the three states of autograd."""
    import torch

    torch.set_num_threads(1)

    def plain(shape: Shape) -> Any:
        return torch.from_numpy(_counting(shape))

    def learned(shape: Shape) -> Any:
        return plain(shape).requires_grad_()

    hand = TORCH_HAND | joins.TORCH_HAND
    names = {"max_pool2d": torch.nn.functional.max_pool2d, **joins.torch_names()}
    states = ((plain, torch.no_grad), (learned, nullcontext), (plain, torch.inference_mode))
    return [
        Framework("torch", label, make, hand, names, context)
        for label, (make, context) in zip(LABELS["torch"], states, strict=True)
    ]


def jax_framework() -> Framework:
    """JAX arrays on the CPU; by hand means calling a function that `jax.jit` has compiled."""
    import jax
    import jax.numpy as jnp

    hand: dict[str, str] = dict(joins.JAX_HAND)
    names: dict[str, Any] = {"jnp": jnp}
    for name, body in JAX_HAND.items():
        function = "jitted_" + "".join(letter for letter in name if letter.isalpha())
        names[function] = jax.jit(Snippet(body, {"jnp": jnp}, []).once)
        hand[name] = f"{function}(x)"
    return Framework("jax", "jax", lambda shape: jnp.asarray(_counting(shape)), hand, names)


def frameworks(section: str) -> list[Framework]:
    """Load the frameworks of a section; none where its package is not installed."""
    if importlib.util.find_spec(section) is None:
        return []
    if section == "torch":
        return torch_frameworks()
    return [jax_framework() if section == "jax" else numpy_framework()]


def _counting(shape: Shape) -> Any:
    import numpy as np

    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
