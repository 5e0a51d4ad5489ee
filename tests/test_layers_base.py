"""Turns wrong and right arguments of layers into errors and results, without any framework."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import einops.layers
import einops.layers._einmix
import numpy as np
import pytest

import einrs
import einrs.layers
import fresh
from einrs.layers import _einmix
from layer_cases import MISTAKES, MIXES, OPERATIONS, Case, mix

CLASSES = {
    "Rearrange": einrs.layers.RearrangeMixin,
    "Repeat": einrs.layers.RepeatMixin,
    "Reduce": einrs.layers.ReduceMixin,
    "EinMix": _einmix._EinmixDebugger,
}


class Layer(_einmix._EinmixMixin):
    """A layer of numpy."""

    def _parameter(self, name: str, shape: list[int], bound: float, **_options: Any) -> Any:
        return np.random.default_rng(len(name)).uniform(-bound, bound, shape)

    def __call__(self, x: Any) -> Any:
        return self._mix(x, np.einsum)


@pytest.mark.parametrize(("kind", "texts", "lengths", "message"), MISTAKES)
def test_a_layer_that_serves_no_input_is_not_built(
    kind: str, texts: tuple[Any, ...], lengths: dict[str, Any], message: str
) -> None:
    with pytest.raises(einrs.EinopsError) as caught:
        CLASSES[kind](*texts, **lengths)
    first, _, rest = str(caught.value).partition("\n")
    arguments = [*map(repr, texts), *(f"{name}={length}" for name, length in lengths.items())]
    assert first == f" Error while preparing {CLASSES[kind].__name__}({', '.join(arguments)})"
    assert message in rest


@pytest.mark.parametrize(
    ("kind", "texts", "lengths"),
    [
        ("Rearrange", (3,), {}),
        ("Rearrange", ("a -> a",), {"a": 2.0}),
        ("Reduce", ("a -> ", None), {}),
        ("EinMix", ("b c -> b d", None), {"c": 2, "d": 3}),
        ("EinMix", ("b c -> b d", "c d"), {"c": 2, "d": "3"}),
    ],
)
def test_a_wrong_type_is_a_type_error(kind: str, texts: Any, lengths: Any) -> None:
    with pytest.raises(einrs.EinopsTypeError, match="Error while preparing"):
        CLASSES[kind](*texts, **lengths)


@pytest.mark.parametrize(
    ("kind", "texts", "lengths", "text", "marked"),
    [
        ("Rearrange", ("(a b) -> a b",), {}, 0, ["a", "b"]),
        ("Reduce", ("a (b -> a", "sum"), {}, 0, ["("]),
        ("EinMix", ("b c -> b  d", "c e"), {"c": 2, "e": 3}, 0, ["d"]),
        ("EinMix", ("b c -> b d", "c  (d)", "d"), {"c": 2, "d": 3}, 1, ["(d)"]),
        ("EinMix", ("b c -> b d", "c d", "d  e"), {"c": 2, "d": 3}, 2, ["e"]),
    ],
)
def test_the_error_knows_the_text_and_the_places(
    kind: str, texts: Any, lengths: Any, text: int, marked: list[str]
) -> None:
    with pytest.raises(einrs.EinopsError) as caught:
        CLASSES[kind](*texts, **lengths)
    assert caught.value.pattern == texts[text]
    assert [texts[text][start:end] for start, end in caught.value.spans] == marked


@pytest.mark.parametrize("case", [case for case in OPERATIONS if case.kind != "Repeat"], ids=repr)
def test_a_mixin_is_that_of_einops(case: Case) -> None:
    ours = getattr(einrs.layers, f"{case.kind}Mixin")(*case.texts, **case.lengths)
    theirs = getattr(einops.layers, f"{case.kind}Mixin")(*case.texts, **case.lengths)
    assert repr(ours) == str(ours) == repr(theirs)
    assert vars(theirs).keys() <= {*vars(ours), "axes_lengths", "_multirecipe", "_axes_lengths"}
    assert ours.axes_lengths == theirs.axes_lengths
    assert ours._axes_lengths == theirs._axes_lengths
    assert ours._multirecipe.keys() == ours.multirecipe().keys() == theirs.multirecipe().keys()
    np.testing.assert_array_equal(ours._apply_recipe(case.input()), case.expected(case.input()))


@pytest.mark.parametrize("case", OPERATIONS, ids=repr)
def test_a_copy_is_as_good(case: Case) -> None:
    layer = CLASSES[case.kind](*case.texts, **case.lengths)
    for other in (copy.copy(layer), copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert repr(other) == repr(layer)
        np.testing.assert_array_equal(
            other._apply_recipe(case.input()), case.expected(case.input())
        )


@pytest.mark.parametrize("case", [case for case in OPERATIONS if case.kind != "Repeat"], ids=repr)
def test_the_state_that_einops_pickles_is_taken(case: Case) -> None:
    theirs = getattr(einops.layers, f"{case.kind}Mixin")(*case.texts, **case.lengths)
    kind = CLASSES[case.kind]
    layer = kind.__new__(kind)
    layer.__setstate__(theirs.__getstate__())
    assert repr(layer) == repr(CLASSES[case.kind](*case.texts, **case.lengths))
    np.testing.assert_array_equal(layer._apply_recipe(case.input()), case.expected(case.input()))


def test_a_state_without_a_pattern_says_what_to_do() -> None:
    layer = einrs.layers.RearrangeMixin.__new__(einrs.layers.RearrangeMixin)
    with pytest.raises(einrs.EinopsError, match="build the layer anew"):
        layer.__setstate__({"_recipe": None, "axes_lengths": {}})


def test_a_program_derives_its_own_layer() -> None:
    class Base:
        def __init__(self) -> None:
            self.ready = True

    class Own(einrs.layers.ReduceMixin, Base):
        def forward(self, x: Any) -> Any:
            return self._apply_recipe(x)

    layer = Own("a b -> a", "sum")
    assert layer.ready
    assert repr(layer) == "Own('a b -> a', 'sum')"
    np.testing.assert_array_equal(layer.forward(np.ones((2, 3))), [3.0, 3.0])


def test_what_looks_like_an_integer_is_kept_as_one() -> None:
    layer = einrs.layers.RearrangeMixin("(a b c) -> a b c", a=np.int64(2), b=True)
    assert layer.axes_lengths == {"a": 2, "b": 1}
    assert [type(length) for length in layer._given] == [int, int]


@pytest.mark.parametrize("case", MIXES, ids=repr)
def test_einmix_decomposes_as_in_einops(case: Case) -> None:
    ours = _einmix._EinmixDebugger(*case.texts, **case.lengths)
    theirs = einops.layers._einmix._EinmixDebugger(*case.texts, **case.lengths)
    expected = dict(vars(theirs))
    assert expected.pop("axes_lengths") == ours.axes_lengths
    assert {name: getattr(ours, name) for name in expected} == expected
    assert repr(ours) == repr(theirs)


@pytest.mark.parametrize("case", MIXES, ids=repr)
def test_einmix_is_the_einsum_of_einops(case: Case) -> None:
    layer = Layer(*case.texts, **case.lengths)
    x = case.input()
    expected = mix(case)(x, layer.weight, layer.bias)
    np.testing.assert_array_equal(layer(x), expected)
    if len(case.shape) > 1:
        np.testing.assert_array_equal(layer(list(x)), expected)


@pytest.mark.parametrize("case", MIXES, ids=repr)
def test_the_bounds_are_those_of_einops(case: Case) -> None:
    texts = (*case.texts, None)[:3]
    ours = _einmix.analysed("EinMix", *texts, case.lengths)
    assert (ours.weight_bound, ours.bias_bound) == mix(case).bounds


WRONG_INPUTS = [
    (("b c -> b d", "c d", "d"), {"c": 4, "d": 3}, (2, 5), "axis 'c' .* length 5 .* length 4"),
    (("b c -> b d", "c d"), {"c": 4, "d": 3}, (2, 3, 4), "#0 is the input, #1 is the weight$"),
    (("b ... c -> b ... d", "c d"), {"c": 4, "d": 3}, (4,), "1 dimensions, .* at least 2"),
    (("b c -> b c", "c", "b c"), {"b": 2, "c": 3}, (4, 3), "axis 'b' .* tensor #2"),
    (("b (h c) -> b h", "c"), {"c": 4}, (2, 6), "can't divide axis of length 6 in chunks of 4"),
]


@pytest.mark.parametrize(("texts", "lengths", "shape", "message"), WRONG_INPUTS)
def test_einmix_names_what_does_not_fit(
    texts: tuple[str, ...], lengths: dict[str, int], shape: tuple[int, ...], message: str
) -> None:
    with pytest.raises(einrs.EinopsError, match=rf"(?s){message}"):
        Layer(*texts, **lengths)(np.zeros(shape))


def test_einmix_leaves_alone_what_the_sizes_do_not_explain() -> None:
    def einsum(*_operands: Any) -> Any:
        raise ZeroDivisionError("of the framework")

    layer = Layer("b c -> b d", "c d", c=2, d=3)
    with pytest.raises(ZeroDivisionError, match="of the framework"):
        layer._mix(np.zeros((4, 2)), einsum)


def test_einmix_warns_of_a_weight_that_is_a_number() -> None:
    with pytest.warns(UserWarning, match="weight has no dimensions") as caught:
        layer = Layer("b c -> b c", "")
    assert caught[0].filename == __file__
    assert layer(np.ones((2, 3))).shape == (2, 3)


def test_einmix_sums_over_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        layer = Layer("b c -> b d", "c d", "d", c=0, d=3)
    np.testing.assert_array_equal(layer(np.ones((2, 0))), np.zeros((2, 3)))


def test_einmix_takes_more_axes_than_there_are_small_letters() -> None:
    names = [f"x{i}" for i in range(30)]
    pattern = f"{' '.join(names[:-2])} {names[-2]} -> {' '.join(names[:-2])} {names[-1]}"
    layer = Layer(pattern, f"{names[-2]} {names[-1]}", **{names[-2]: 2, names[-1]: 3})
    assert layer(np.ones((1,) * 28 + (2,))).shape == (1,) * 28 + (3,)


def test_einmix_normalises_names() -> None:
    name = "\N{MICRO SIGN}"
    layer = Layer(f"(a {name}) -> a d", f"{name} d", **{name: 2, "d": 3})
    assert layer(np.ones(8)).shape == (4, 3)


def test_a_class_that_makes_no_weights_says_so() -> None:
    with pytest.raises(
        NotImplementedError, match="_EinmixMixin does not say how to make its weight"
    ):
        _einmix._EinmixMixin("a b -> a c", "b c", b=2, c=3)


def test_layers_load_no_framework() -> None:
    program = """
    import sys, einrs
    einrs.layers.RearrangeMixin("a b -> b a")
    print(sorted({"numpy", "torch", "jax", "flax", "tensorflow", "keras"} & set(sys.modules)))
    """
    assert fresh.run(program) == "[]\n"
