"""Turns drawn calls into tests: einops' recipe and ours are one, and do the same to a tensor."""

from typing import Any

import einops._backends
import einops.einops
import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import einrs.einops
from einrs import EinopsError
from einrs._backends import get_backend
from einrs.testing import Case, cases

pytestmark = pytest.mark.filterwarnings("ignore:It is discouraged")

KNOWN_UNKNOWN = "input_composition_known_unknown"


def plain(case: Case) -> bool:
    """Whether einops makes a recipe of the case, and from the same text as einrs."""
    hashable = not (case.reduction or "").startswith("unhashable")
    spaced = all(c == " " or not c.isspace() for c in case.pattern)
    return case.pattern.isascii() and case.plain and hashable and spaced


def recipe(module: Any, case: Case, reduction: Any = None) -> Any:
    operation = reduction if case.op == "reduce" else case.op
    names = tuple(name for name, _ in case.lengths)
    return module._prepare_transformation_recipe(case.pattern, operation, names, len(case.shape))


def fields(recipe: Any) -> dict[str, Any]:
    """The fields; einops' sets of axes have no order, and new axes are numbered by one."""
    n_left = len(recipe.axes_permutation)
    shown = [axis for axes in recipe.output_composite_axes for axis in axes]
    new = [axis for axis in shown if axis >= n_left]
    number = {axis: n_left + place for place, axis in enumerate(new)}
    lengths = list(recipe.elementary_axes_lengths)
    return {
        "lengths": lengths[:n_left] + [lengths[axis] for axis in new],
        "names": {n: number.get(a, a) for n, a in recipe.axis_name2elementary_axis.items()},
        "names in order": list(recipe.axis_name2elementary_axis),
        KNOWN_UNKNOWN: [(sorted(k), sorted(u)) for k, u in getattr(recipe, KNOWN_UNKNOWN)],
        "permutation": recipe.axes_permutation,
        "first reduced": recipe.first_reduced_axis,
        "added": {place: number[axis] for place, axis in recipe.added_axes.items()},
        "result": [[number.get(axis, axis) for axis in a] for a in recipe.output_composite_axes],
    }


@given(cases())
@example(Case("repeat", "a b -> (a 3) b k 1 (c a2)", (2, 6), (("k", 2), ("c", 2), ("a2", 3))))
@example(Case("reduce", "a (b 2) ... -> ... (a 1)", (2, 6, 3, 4), reduction="max"))
@example(Case("rearrange", "() (a 1) b -> b (a) ()", (1, 2, 3)))
def test_the_recipe_is_einops(case: Case) -> None:
    assume(plain(case))
    reducer = case.reducer()
    theirs, ours = (recipe(module, case, reducer) for module in (einops.einops, einrs.einops))
    assert fields(ours) == fields(theirs)


@given(cases())
def test_a_shape_gives_einops_steps(case: Case) -> None:
    assume(plain(case))
    reducer = case.reducer()
    cooked = []
    for module in (einops.einops, einrs.einops):
        made = recipe(module, case, reducer)
        try:
            cooked.append(module._reconstruct_from_shape(made, case.shape, case.lengths))
        except (ZeroDivisionError, EinopsError, einops.EinopsError):
            cooked.append("refused")
    assert cooked[0] == cooked[1]


@given(cases())
def test_an_applied_recipe_is_the_operation(case: Case) -> None:
    """With einops' backend and with ours, and by the functions of an array namespace."""
    assume(plain(case) and case.op != "reduce" and 0 not in case.shape)
    assume(all(length for _, length in case.lengths))
    # einops takes no length of an axis that is called like one of its parameters.
    assume(not {"tensor", "pattern", "reduction"} & set(case.kwargs()))
    array = np.arange(np.prod(case.shape, dtype=int)).reshape(case.shape)
    expected = getattr(einops, case.op)(array, case.pattern, **case.kwargs())
    made = recipe(einrs.einops, case)
    for backend in (get_backend(array), einops._backends.NumpyBackend()):
        result = einrs.einops._apply_recipe(backend, made, array, case.op, case.lengths)
        np.testing.assert_array_equal(result, expected)
    result = einrs.einops._apply_recipe_array_api(np, made, array, case.op, case.lengths)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("reduction", ["sum", "mean", lambda x, axes: x.sum(axes) + 1])
def test_an_applied_recipe_reduces(reduction: Any) -> None:
    array = np.arange(24.0).reshape(2, 3, 4)
    made = einrs.einops._prepare_transformation_recipe("a b c -> b", reduction, (), 3)
    expected = einops.reduce(array, "a b c -> b", reduction)
    result = einrs.einops._apply_recipe(get_backend(array), made, array, reduction, ())
    np.testing.assert_array_equal(result, expected)
    result = einrs.einops._apply_recipe_array_api(np, made, array, reduction, ())
    np.testing.assert_array_equal(result, expected)


def test_a_mean_of_integers_is_refused() -> None:
    array = np.arange(6).reshape(2, 3)
    made = einrs.einops._prepare_transformation_recipe("a b -> a", "mean", (), 2)
    with pytest.raises(NotImplementedError, match="mean"):
        einrs.einops._apply_recipe(get_backend(array), made, array, "mean", ())


@pytest.mark.parametrize(
    ("pattern", "operation", "names", "ndim"),
    [
        ("a b", "rearrange", (), 2),
        ("a -> b", "rearrange", (), 1),
        ("a b -> a", "rearrange", (), 2),
        ("a -> a k", "repeat", (), 1),
        ("a -> a", "median", (), 1),
        ("(a b) -> a b", "rearrange", (), 1),
        ("a b -> a b", "rearrange", (), 3),
        ("a ... -> ...", "sum", (), 0),
        ("a -> a", "rearrange", ("z",), 1),
    ],
)
def test_what_einops_refuses_is_refused(
    pattern: str, operation: str, names: tuple[str, ...], ndim: int
) -> None:
    arguments = pattern, operation, names, ndim
    with pytest.raises((einops.EinopsError, ValueError)):
        einops.einops._prepare_transformation_recipe(*arguments)
    with pytest.raises(EinopsError):
        einrs.einops._prepare_transformation_recipe(*arguments)


@pytest.mark.parametrize(("shape", "b"), [((2, 7), 2), ((2, 6), 4), ((2, 6), 0)])
def test_sizes_that_do_not_fit_are_refused(shape: tuple[int, int], b: int) -> None:
    made = einrs.einops._prepare_transformation_recipe("a (b c) -> a b c", "rearrange", ("b",), 2)
    with pytest.raises(EinopsError, match="Shape mismatch"):
        einrs.einops._reconstruct_from_shape(made, shape, (("b", b),))


@pytest.mark.parametrize("pattern", ["a b -> b a", "a ... -> ... a", "... -> (...)", "() -> "])
def test_recipes_for_all_ranks(pattern: str) -> None:
    theirs, ours = (
        module._prepare_recipes_for_all_dims(pattern, "rearrange", ())
        for module in (einops.einops, einrs.einops)
    )
    assert {rank: fields(one) for rank, one in ours.items()} == {
        rank: fields(one) for rank, one in theirs.items()
    }


def test_the_cached_function_can_be_unwrapped() -> None:
    """As torch unwraps einops' own, and programs that replace it by one with a larger cache."""
    assert (
        einrs.einops._reconstruct_from_shape.__wrapped__
        is einrs.einops._reconstruct_from_shape_uncached
    )
    assert einrs.einops._prepare_transformation_recipe.__wrapped__
    assert einrs.einops._compactify_pattern_for_einsum.__wrapped__


shapes = st.lists(st.integers(1, 4), max_size=6)


@given(shapes, st.randoms(use_true_random=False))
def test_joined_axes_are_einops(shape: list[int], random: Any) -> None:
    reduced = tuple(axis for axis in range(len(shape)) if random.random() < 0.4)
    order = list(range(len(shape) - len(reduced)))
    random.shuffle(order)
    arguments = shape, reduced, order, [7]
    theirs, ours = (
        module._optimize_transformation(*arguments) for module in (einops.einops, einrs.einops)
    )
    assert [list(one) for one in ours] == [list(one) for one in theirs]


@pytest.mark.parametrize(
    "pattern",
    [
        "a b, b c -> a c",
        "... x1 _y, ... _ -> ...",
        "i i ->",
        " one  two , three four->two  four ",
        "a -> b",
        "a b",
        "a (b c) -> a",
        "a () -> a",
        "a 2 -> a",
        "a 2j -> a",
    ],
)
def test_letters_for_einsum(pattern: str) -> None:
    try:
        expected = einops.einops._compactify_pattern_for_einsum(pattern)
    except (RuntimeError, ValueError) as error:
        kind = EinopsError if isinstance(error, einops.EinopsError) else type(error)
        with pytest.raises(kind):
            einrs.einops._compactify_pattern_for_einsum(pattern)
    else:
        assert einrs.einops._compactify_pattern_for_einsum(pattern) == expected


def test_letters_for_einsum_end() -> None:
    many = " ".join(f"a{i}" for i in range(52))
    expected = einops.einops._compactify_pattern_for_einsum(f"{many} -> a0")
    assert einrs.einops._compactify_pattern_for_einsum(f"{many} -> a0") == expected
    with pytest.raises(RuntimeError, match=r"^Too many axes"):
        einrs.einops._compactify_pattern_for_einsum(f"{many} b -> a0")


@pytest.mark.parametrize("shape", [(), (1,), (2, 3, 5)])
def test_directions(shape: tuple[int, ...]) -> None:
    array = np.zeros(shape)
    theirs, ours = (m._enumerate_directions(array) for m in (einops.einops, einrs.einops))
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("composition", [[["a"], "…"], [["a", "…"]], []])
def test_an_ellipsis_outside_parentheses(composition: list[Any]) -> None:
    found = einrs.einops.is_ellipsis_not_in_parenthesis(composition)
    assert found is ("…" in composition)
