"""Turns a table of layers into those of mlx and paddle, which do what einops does with numpy."""

from __future__ import annotations

import copy
import importlib
import pickle
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from small import SIDES, Side

import einrs
from layer_cases import MISTAKES, MIXES, OPERATIONS, WIDE, Case, check_spread, check_weights, mix


class Layers(NamedTuple):
    """The layers of a framework, and how its tensors are made."""

    side: Side
    module: Any
    parameters: Callable[[Any], dict[str, Any]]


def of_mlx(layer: Any) -> dict[str, Any]:
    from mlx.utils import tree_flatten

    return dict(tree_flatten(layer.parameters()))


PARAMETERS = {"mlx": of_mlx, "paddle": lambda layer: dict(layer.state_dict())}


@pytest.fixture(params=PARAMETERS)
def framework(request: pytest.FixtureRequest) -> Layers:
    (side,) = [side for side in SIDES if side.name == request.param]
    side.require()
    # Its first tensor imports a framework, with the warnings that this takes.
    side.make(np.zeros(1))
    module = importlib.import_module(f"einrs.layers.{side.name}")
    return Layers(side, module, PARAMETERS[side.name])


@pytest.mark.parametrize("case", OPERATIONS, ids=repr)
def test_an_operation_does_what_einops_does(case: Case, framework: Layers) -> None:
    x = framework.side.make(case.input())
    layer = case.build(framework.module)
    arguments = [*map(repr, case.texts), *(f"{n}={length}" for n, length in case.lengths.items())]
    assert str(layer) == repr(layer) == f"{case.kind}({', '.join(arguments)})"
    assert framework.parameters(layer) == {}
    expected = case.expected(case.input())
    for other in (layer, copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        np.testing.assert_allclose(framework.side.values(other(x)), expected, rtol=1e-5)
    if case.shape:
        pieces = [framework.side.make(piece) for piece in case.input()]
        np.testing.assert_allclose(framework.side.values(layer(pieces)), expected, rtol=1e-5)


@pytest.mark.parametrize("case", MIXES, ids=repr)
def test_einmix_does_what_einops_does(case: Case, framework: Layers) -> None:
    values = framework.side.values
    layer = case.build(framework.module)
    weights = {name: values(weight) for name, weight in framework.parameters(layer).items()}
    assert weights.keys() == ({"weight"} if layer.bias is None else {"weight", "bias"})
    check_weights(case, weights["weight"], weights.get("bias"))
    expected = mix(case)(case.input(), weights["weight"], weights.get("bias"))
    result = values(layer(framework.side.make(case.input())))
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


def test_the_weights_fill_their_ranges_on_both_sides_of_zero(framework: Layers) -> None:
    layer = WIDE.build(framework.module)
    check_spread(framework.side.values(layer.weight), framework.side.values(layer.bias))


@pytest.mark.parametrize(("kind", "texts", "lengths", "message"), MISTAKES)
def test_a_layer_that_serves_no_input_is_not_built(
    kind: str, texts: Any, lengths: Any, message: str, framework: Layers
) -> None:
    with pytest.raises(einrs.EinopsError, match=f"^ Error while preparing {kind}") as caught:
        getattr(framework.module, kind)(*texts, **lengths)
    assert message in str(caught.value)


def test_a_wrong_input(framework: Layers) -> None:
    x = framework.side.make(np.ones((5, 4), np.float32))
    with pytest.raises(einrs.EinopsError, match="expected 3 dims"):
        framework.module.Rearrange("a b c -> b a c")(x)
    with pytest.raises(einrs.EinopsError, match="axis 'b'"):
        framework.module.EinMix("a b -> a c", "b c", b=2, c=3)(x)
