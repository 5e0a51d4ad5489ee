"""Turns a table of layers into what einops makes of them with numpy, for the tests of layers."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import einops
import numpy as np
from einops.layers._einmix import _EinmixDebugger


class Case(NamedTuple):
    """A layer's class, what it is built with, and the shape of an input."""

    kind: str
    texts: tuple[str, ...]
    lengths: dict[str, int]
    shape: tuple[int, ...]

    def __repr__(self) -> str:
        return f"{self.kind} {self.texts}"

    def build(self, module: Any, **options: Any) -> Any:
        """The layer of a module such as `einrs.layers.torch`."""
        return getattr(module, self.kind)(*self.texts, **options, **self.lengths)

    def input(self, seed: int = 0) -> Any:
        """Numbers of which no two are alike."""
        return np.random.default_rng(seed).standard_normal(self.shape).astype(np.float32)

    def expected(self, x: Any) -> Any:
        """The result for an array by einops' function."""
        return getattr(einops, self.kind.lower())(x, *self.texts, **self.lengths)


OPERATIONS = [
    Case("Rearrange", ("b c h w -> b (c h w)",), {"c": 3}, (2, 3, 4, 5)),
    Case(
        "Rearrange", ("b c (h1 h2) (w1 w2) -> b (c h2 w2) h1 w1",), {"h2": 2, "w2": 3}, (2, 3, 4, 6)
    ),
    Case("Rearrange", ("b ... c -> c b ...",), {"b": 2}, (2, 4, 5, 3)),
    Case("Rearrange", ("a b -> a b",), {}, (2, 3)),
    Case("Rearrange", ("a 1 b -> b () (a)",), {}, (2, 1, 3)),
    Case("Rearrange", ("... a -> (...) a",), {}, (2, 3, 4)),
    Case("Rearrange", ("a ... -> (a ...)",), {}, (2,)),
    Case("Rearrange", (" -> 1 1",), {}, ()),
    Case("Repeat", ("a b -> a b c",), {"c": 4}, (2, 3)),
    Case("Repeat", ("... a -> (r a) ... 2",), {"r": 2}, (2, 3)),
    Case("Repeat", (" -> n",), {"n": 3}, ()),
    *(
        Case("Reduce", (pattern, reduction), lengths, shape)
        for reduction in ("min", "max", "sum", "mean", "prod")
        for pattern, lengths, shape in [
            ("b c h w -> b ()", {"b": 2}, (2, 3, 4, 5)),
            ("b c (h1 h2) (w1 w2) -> b c h1 w1", {"h2": 2, "w2": 3}, (2, 3, 4, 6)),
            ("a ... b -> b", {}, (2, 3, 4, 5)),
            ("a (b 2) -> b a", {}, (3, 4)),
            ("... -> ...", {}, (2, 3)),
        ]
    ),
    Case("Reduce", ("b ... -> (b s) ...", "repeat"), {"s": 3}, (2, 3)),
    Case("Reduce", ("a b -> b a", "rearrange"), {}, (2, 3)),
]

MIXES = [
    Case("EinMix", ("b c -> b d", "c d"), {"c": 4, "d": 3}, (2, 4)),
    Case("EinMix", ("b c -> b d", "c d", "d"), {"c": 4, "d": 3}, (2, 4)),
    Case("EinMix", ("b c h w -> w d h b", "c d", "d"), {"c": 3, "d": 2}, (2, 3, 4, 5)),
    Case("EinMix", ("b c h w -> b d", "c h w d"), {"c": 3, "h": 4, "w": 5, "d": 2}, (2, 3, 4, 5)),
    Case("EinMix", ("b t (h c) -> b t (h d)", "h c d", "h d"), {"h": 2, "c": 3, "d": 4}, (2, 3, 6)),
    Case(
        "EinMix",
        ("a ... (b c) -> a (... d b)", "c d b", "d b"),
        {"b": 2, "c": 3, "d": 4},
        (2, 5, 6),
    ),
    Case("EinMix", ("b ... c -> b ... c", "c", "c"), {"c": 3}, (2, 4, 5, 3)),
    Case("EinMix", ("b 1 c -> b () d", "c d", "d"), {"c": 3, "d": 2}, (2, 1, 3)),
    Case("EinMix", ("b c -> b c", "c", "b c"), {"b": 2, "c": 3}, (2, 3)),
]


class Mix(_EinmixDebugger):  # type: ignore[misc]
    """einops' analysis of an EinMix, applied to weights with numpy."""

    def _create_parameters(
        self, weight_shape: Any, weight_bound: Any, bias_shape: Any, bias_bound: Any
    ) -> None:
        super()._create_parameters(weight_shape, weight_bound, bias_shape, bias_bound)
        self.bounds = weight_bound, bias_bound

    def __call__(self, x: Any, weight: Any, bias: Any) -> Any:
        if self.pre_reshape_pattern is not None:
            x = einops.rearrange(x, self.pre_reshape_pattern, **self.pre_reshape_lengths)
        result = np.einsum(self.einsum_pattern, x, weight)
        result = result if bias is None else result + bias
        if self.post_reshape_pattern is None:
            return result
        return einops.rearrange(result, self.post_reshape_pattern)


def mix(case: Case) -> Mix:
    """The EinMix of einops without weights of its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Mix(*case.texts, **case.lengths)


def check_weights(case: Case, weight: Any, bias: Any) -> None:
    """Asserts einops' shapes, and that numbers fill the range they are drawn from."""
    einops_mix = mix(case)
    assert list(weight.shape) == einops_mix.saved_weight_shape
    assert (None if bias is None else list(bias.shape)) == einops_mix.saved_bias_shape
    for drawn, bound in zip((weight, bias), einops_mix.bounds, strict=True):
        if drawn is not None:
            assert np.abs(drawn).max() <= bound


WIDE = Case("EinMix", ("b c -> b d", "c d", "d"), {"c": 3, "d": 4000}, (1, 3))
"""So many weights that their least and greatest are near the bounds: 1 and the root of 1/3."""


def check_spread(weight: Any, bias: Any) -> None:
    """Asserts that the weights of `WIDE` lie on both sides of zero, out to the bounds."""
    for drawn, bound in ((weight, 1.0), (bias, 3**-0.5)):
        np.testing.assert_allclose([drawn.min(), drawn.max()], [-bound, bound], rtol=0.02)


# Class, arguments, keywords, and what the error says: none of these could serve any input.
MISTAKES: list[tuple[str, tuple[Any, ...], dict[str, Any], str]] = [
    ("Rearrange", ("a b",), {}, "pattern has no '->'"),
    ("Rearrange", ("(a b -> a b",), {}, "Imbalanced parentheses"),
    ("Rearrange", ("a b -> a c",), {}, "Identifiers only on one side of expression"),
    ("Rearrange", ("(a b) -> a b",), {}, "Could not infer sizes for a, b"),
    ("Rearrange", ("(a b) ... -> a b ...",), {}, "Could not infer sizes for a, b"),
    ("Rearrange", ("a b -> b a",), {"height": 2}, "Axis height is not used in transform"),
    ("Rearrange", ("a b -> b a",), {"a_": 2}, "Invalid name for an axis: a_"),
    ("Rearrange", ("a b -> b a",), {"a": 2.0}, "must be an integer, not float"),
    ("Rearrange", ("a b -> b a",), {"a": None}, "must be an integer, not NoneType"),
    ("Rearrange", ("a b -> b a",), {"a": -2}, "a length is never negative"),
    ("Rearrange", ("a b -> b a",), {"a": 2**70}, "does not fit 64 bits"),
    ("Rearrange", (3,), {}, "pattern must be a str, not int"),
    ("Rearrange", ("a \ud800 -> a",), {}, "half of a surrogate pair"),
    ("Repeat", ("a -> a b",), {}, "Specify sizes for new axes in repeat: b"),
    ("Repeat", ("a b -> a",), {}, "Unexpected identifiers on the left side of repeat"),
    ("Reduce", ("a b -> a c", "sum"), {}, "Unexpected identifiers on the right side of reduce"),
    ("Reduce", ("a b -> a", "summ"), {}, "Unknown reduction summ"),
    ("Reduce", ("a b -> a", 3), {}, "Unknown reduction 3"),
    ("Reduce", ("a b -> a", "\ud800"), {}, "half of a surrogate pair"),
    ("Reduce", ("a b -> a b c", "repeat"), {}, "Specify sizes for new axes in repeat: c"),
    ("EinMix", ("b c", "c"), {"c": 2}, "pattern has no '->'"),
    ("EinMix", ("b c -> b d", "c d"), {"c": 2}, "Dimension d of weight should be specified"),
    ("EinMix", ("b c -> b d", "c d"), {"c": 2, "d": 3, "e": 4}, "Axes e are not used in pattern"),
    ("EinMix", ("b c -> b c", "c d"), {"c": 2, "d": 3}, "Weight axes d are redundant"),
    ("EinMix", ("b c -> b d", "c d", "e"), {"c": 2, "d": 3}, "Bias axes e not present in output"),
    ("EinMix", ("b c -> b d", "c d", "b"), {"c": 2, "d": 3}, "Sizes not provided for bias axes b"),
    ("EinMix", ("(...) c -> ... c", "c"), {"c": 2}, "Ellipsis on left side"),
    (
        "EinMix",
        ("... c -> c ...", "c", "c"),
        {"c": 2},
        "all bias dimensions should go after ellipsis",
    ),
    ("EinMix", ("b c -> b d", "c d"), {"c": 2, "d": 3.5}, "must be an integer, not float"),
    ("EinMix", ("b c -> b d", "c d"), {"c": 2, "d": -3}, "a length is never negative"),
    ("EinMix", ("b c -> b d", 4), {"c": 2, "d": 3}, "weight shape should be string"),
    ("EinMix", ("b c -> b d", "c d", 5), {"c": 2, "d": 3}, "bias shape should be string"),
]
