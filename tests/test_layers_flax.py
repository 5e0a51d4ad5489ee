"""Turns a table of layers into modules of flax linen that do what einops does with numpy."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import einrs
from layer_cases import MISTAKES, MIXES, OPERATIONS, WIDE, Case, check_spread, check_weights, mix

jax = pytest.importorskip("jax")
nn = pytest.importorskip("flax.linen")

from einrs.layers import flax as layers  # noqa: E402

KEY = jax.random.key(0)


def initialised(module: Any, x: Any) -> dict[str, Any]:
    parameters: dict[str, Any] = jax.tree.map(np.array, module.init(KEY, x)).get("params", {})
    return parameters


@pytest.mark.parametrize("case", OPERATIONS, ids=repr)
def test_an_operation_does_what_einops_does(case: Case) -> None:
    x = jax.numpy.array(case.input())
    by_keyword = case.build(layers)
    by_field = getattr(layers, case.kind)(*case.texts, sizes=case.lengths)
    in_order = getattr(layers, case.kind)(*case.texts, case.lengths)
    assert by_keyword == by_field == in_order
    assert hash(by_keyword) == hash(by_field) == hash(in_order)
    assert initialised(by_keyword, x) == {}
    for module in (by_keyword, by_field, by_keyword.clone(), copy.deepcopy(by_keyword)):
        np.testing.assert_allclose(module.apply({}, x), case.expected(case.input()), rtol=1e-5)
    np.testing.assert_array_equal(jax.jit(by_keyword.apply)({}, x), by_keyword.apply({}, x))
    if case.shape:
        np.testing.assert_allclose(by_field.apply({}, list(x)), by_field.apply({}, x), rtol=1e-5)


@pytest.mark.parametrize("case", MIXES, ids=repr)
def test_einmix_does_what_einops_does(case: Case) -> None:
    x = jax.numpy.array(case.input())
    module = case.build(layers)
    parameters = initialised(module, x)
    weight, bias = parameters["weight"], parameters.get("bias")
    assert parameters.keys() == ({"weight"} if bias is None else {"weight", "bias"})
    check_weights(case, weight, bias)
    expected = mix(case)(case.input(), weight, bias)
    for version in (
        module,
        module.clone(),
        getattr(layers, case.kind)(*case.texts, sizes=case.lengths),
    ):
        result = version.apply({"params": parameters}, x)
        np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


def test_the_weights_fill_their_ranges_on_both_sides_of_zero() -> None:
    parameters = initialised(WIDE.build(layers), np.ones(WIDE.shape, np.float32))
    check_spread(parameters["weight"], parameters["bias"])


class Model(nn.Module):  # type: ignore[misc]
    """Layers with lengths given in each of the ways."""

    @nn.compact
    def __call__(self, x: Any) -> Any:
        mixed = layers.EinMix(
            "b (h h2) c -> b h d", "h2 c d", "d", sizes={"h2": 2, "c": 3, "d": 5}
        )(x)
        repeated = layers.Repeat("b h d -> b h d r", r=2, name="again")(mixed)
        return layers.Reduce("b hd -> b", "mean", {"hd": 20})(
            layers.Rearrange("b h d r -> b (h d r)", d=5)(repeated)
        )


def test_a_model() -> None:
    model, x = Model(), jax.numpy.ones((7, 4, 3))
    parameters = model.init(KEY, x)
    assert jax.tree.map(np.shape, parameters) == {
        "params": {"EinMix_0": {"weight": (2, 3, 5), "bias": (1, 1, 5)}}
    }
    value, gradient = jax.value_and_grad(lambda p: model.apply(p, x).sum())(parameters)
    better = jax.tree.map(lambda w, g: w - 0.01 * g, parameters, gradient)
    assert model.apply(better, x).sum() < value


@pytest.mark.parametrize(("kind", "texts", "lengths", "message"), MISTAKES)
def test_a_module_that_serves_no_input_is_not_built(
    kind: str, texts: Any, lengths: Any, message: str
) -> None:
    for arguments in (lengths, {"sizes": lengths}):
        with pytest.raises(einrs.EinopsError, match=f"^ Error while preparing {kind}") as caught:
            getattr(layers, kind)(*texts, **arguments)
        assert message in str(caught.value)


def test_lengths_in_both_ways_are_joined() -> None:
    module = layers.Rearrange("(a b c) -> a b c", sizes={"a": 2}, b=3)
    assert dict(module.sizes) == {"a": 2, "b": 3}
    with pytest.raises(TypeError, match="sizes"):
        layers.Rearrange("(a b c) -> a b c", {"a": 2}, b=3)


def test_a_wrong_input() -> None:
    with pytest.raises(einrs.EinopsError, match="expected 2 dims"):
        layers.Rearrange("a b -> b a").apply({}, np.ones(3))
    mix = layers.EinMix("a b -> a c", "b c", b=2, c=3)
    parameters = mix.init(KEY, np.ones((5, 2)))
    with pytest.raises(
        einrs.EinopsError, match=r"applying EinMix\('a b -> a c', 'b c', b=2, c=3\)"
    ):
        mix.apply(parameters, np.ones((5, 4)))


def test_a_pickle_and_new_fields() -> None:
    module = layers.EinMix("a b -> a c", "b c", b=2, c=3)
    other = pickle.loads(pickle.dumps(module))
    assert other == module
    assert module.copy(sizes={"b": 2, "c": 4}).sizes["c"] == 4
    assert module.axes_lengths == {"b": 2, "c": 3}


def test_a_callable_reduction() -> None:
    module = layers.Reduce("a b -> a", jax.numpy.max)
    assert module.apply({}, np.eye(2)).tolist() == [1.0, 1.0]
