"""Turns a table of layers into modules of flax nnx that do what einops does with numpy."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import einrs
from layer_cases import MISTAKES, MIXES, OPERATIONS, WIDE, Case, check_spread, check_weights, mix

jax = pytest.importorskip("jax")
nnx = pytest.importorskip("flax.nnx")

from einrs.layers import nnx as layers  # noqa: E402


def built(case: Case) -> Any:
    return case.build(layers, **({"rngs": nnx.Rngs(0)} if case.kind == "EinMix" else {}))


@nnx.jit  # type: ignore[untyped-decorator]
def jitted(module: Any, x: Any) -> Any:
    return module(x)


@pytest.mark.parametrize("case", OPERATIONS, ids=repr)
def test_an_operation_does_what_einops_does(case: Case) -> None:
    x = jax.numpy.array(case.input())
    module = built(case)
    arguments = [*map(repr, case.texts), *(f"{n}={length}" for n, length in case.lengths.items())]
    assert str(module) == repr(module) == f"{case.kind}({', '.join(arguments)})"
    for other in (module, copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        np.testing.assert_allclose(other(x), case.expected(case.input()), rtol=1e-5)
        assert nnx.graphdef(other) == nnx.graphdef(module)
    np.testing.assert_array_equal(jitted(module, x), module(x))
    if case.shape:
        np.testing.assert_allclose(module(list(x)), module(x), rtol=1e-5)


@pytest.mark.parametrize("case", MIXES, ids=repr)
def test_einmix_does_what_einops_does(case: Case) -> None:
    x = jax.numpy.array(case.input())
    module = built(case)
    weight, bias = module.weight[...], None if module.bias is None else module.bias[...]
    check_weights(case, weight, bias)
    expected = mix(case)(case.input(), weight, bias)
    for result in (module(x), jitted(module, x), copy.deepcopy(module)(x)):
        np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)
    gradients = nnx.grad(lambda m: m(x).sum())(module)
    assert gradients["weight"].shape == weight.shape
    assert hash(nnx.graphdef(module)) == hash(nnx.graphdef(built(case)))


def test_the_weights_fill_their_ranges_on_both_sides_of_zero() -> None:
    module = built(WIDE)
    check_spread(module.weight[...], module.bias[...])


def test_a_model() -> None:
    model = nnx.Sequential(
        layers.Rearrange("b (h c) -> b h c", h=2),
        layers.EinMix("b h c -> b (h d)", "h c d", "d", h=2, c=3, d=4, rngs=nnx.Rngs(params=1)),
        layers.Reduce("b c -> b", "sum"),
    )
    assert model(jax.numpy.ones((5, 6))).shape == (5,)
    state = jax.tree.map(np.shape, nnx.to_pure_dict(nnx.state(model)))
    assert state == {"layers": {1: {"weight": (2, 3, 4), "bias": (1, 1, 4)}}}


@pytest.mark.parametrize(("kind", "texts", "lengths", "message"), MISTAKES)
def test_a_module_that_serves_no_input_is_not_built(
    kind: str, texts: Any, lengths: Any, message: str
) -> None:
    options = {"rngs": nnx.Rngs(0)} if kind == "EinMix" else {}
    with pytest.raises(einrs.EinopsError, match=f"^ Error while preparing {kind}") as caught:
        getattr(layers, kind)(*texts, **lengths, **options)
    assert message in str(caught.value)


def test_a_wrong_input() -> None:
    with pytest.raises(einrs.EinopsError, match="expected 2 dims"):
        layers.Rearrange("a b -> b a")(np.ones(3))
    with pytest.raises(einrs.EinopsError, match="axis 'b'"):
        layers.EinMix("a b -> a c", "b c", b=2, c=3, rngs=nnx.Rngs(0))(np.ones((5, 4)))
