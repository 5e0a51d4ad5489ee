"""Turns a table of layers into modules of equinox that do what einops does with numpy."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import einrs
from layer_cases import MISTAKES, MIXES, OPERATIONS, WIDE, Case, check_spread, check_weights, mix

jax = pytest.importorskip("jax")
eqx = pytest.importorskip("equinox")

from einrs.layers import equinox as layers  # noqa: E402

KEY = jax.random.key(0)


def built(case: Case) -> Any:
    return case.build(layers, **({"key": KEY} if case.kind == "EinMix" else {}))


@pytest.mark.parametrize("case", OPERATIONS, ids=repr)
def test_an_operation_does_what_einops_does(case: Case) -> None:
    x = jax.numpy.array(case.input())
    module = built(case)
    arguments = [*map(repr, case.texts), *(f"{n}={length}" for n, length in case.lengths.items())]
    assert str(module) == repr(module) == f"{case.kind}({', '.join(arguments)})"
    assert jax.tree.leaves(module) == []
    for other in (module, copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        np.testing.assert_allclose(other(x), case.expected(case.input()), rtol=1e-5)
        assert other == module
        assert hash(other) == hash(module)
    np.testing.assert_array_equal(eqx.filter_jit(module)(x), module(x))
    if case.shape:
        np.testing.assert_allclose(module(list(x)), module(x), rtol=1e-5)


@pytest.mark.parametrize("case", MIXES, ids=repr)
def test_einmix_does_what_einops_does(case: Case) -> None:
    x = jax.numpy.array(case.input())
    module = built(case)
    check_weights(case, module.weight, module.bias)
    assert len(jax.tree.leaves(module)) == (1 if module.bias is None else 2)
    expected = mix(case)(case.input(), module.weight, module.bias)
    for other in (module, copy.deepcopy(module), eqx.filter_jit(module)):
        np.testing.assert_allclose(other(x), expected, rtol=1e-4, atol=1e-5)
    gradients = eqx.filter_grad(lambda m: m(x).sum())(module)
    assert gradients.weight.shape == module.weight.shape


def test_the_weights_fill_their_ranges_on_both_sides_of_zero() -> None:
    module = built(WIDE)
    check_spread(module.weight, module.bias)


def test_weight_and_bias_are_drawn_apart() -> None:
    module = layers.EinMix("a b -> a c", "b c", "c", b=1, c=3, key=KEY)
    assert not np.allclose(module.weight[0] / 3**0.5, module.bias[0])


def test_a_model() -> None:
    model = eqx.nn.Sequential(
        [
            layers.Rearrange("(h c) -> h c", h=2),
            layers.EinMix("h c -> (h d)", "h c d", "d", h=2, c=3, d=4, key=KEY),
            eqx.nn.Lambda(jax.nn.relu),
        ]
    )
    assert jax.vmap(model)(jax.numpy.ones((5, 6))).shape == (5, 8)
    larger = eqx.tree_at(lambda m: m.layers[1].bias, model, jax.numpy.full((1, 4), 100.0))
    assert larger(jax.numpy.ones(6)).min() > 50


@pytest.mark.parametrize(("kind", "texts", "lengths", "message"), MISTAKES)
def test_a_module_that_serves_no_input_is_not_built(
    kind: str, texts: Any, lengths: Any, message: str
) -> None:
    options = {"key": KEY} if kind == "EinMix" else {}
    with pytest.raises(einrs.EinopsError, match=f"^ Error while preparing {kind}") as caught:
        getattr(layers, kind)(*texts, **lengths, **options)
    assert message in str(caught.value)


def test_a_wrong_input() -> None:
    with pytest.raises(einrs.EinopsError, match="expected 2 dims"):
        layers.Rearrange("a b -> b a")(np.ones(3))
    with pytest.raises(einrs.EinopsError, match="axis 'b'"):
        layers.EinMix("a b -> a c", "b c", b=2, c=3, key=KEY)(np.ones((5, 4)))
