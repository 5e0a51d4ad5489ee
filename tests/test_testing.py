"""Tests einrs.testing itself: what it draws is varied, mostly valid, seeded, and survives JSON."""

import itertools
import json
import subprocess
import sys
import unicodedata
import warnings
from collections.abc import Iterator

import einops
import numpy as np
import pytest
from hypothesis import find, given, settings

from einrs import testing
from einrs.testing import _menu

COUNT = 2_000


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def drawn(seed: int) -> list[testing.Case]:
    draw = testing.RandomDraw(seed)
    return [testing.draw_case(draw) for _ in range(COUNT)]


def mutated(seed: int) -> list[testing.Case]:
    draw = testing.RandomDraw(seed)
    return [testing.mutate(draw, case) for case in drawn(seed)]


def refused(case: testing.Case) -> bool:
    try:
        case.apply(einops, testing.build_array(case))
    except einops.EinopsError:
        return True
    except Exception:
        return False
    return False


def test_drawn_cases_are_valid() -> None:
    """An axis called like a parameter, and what the framework refuses, are no EinopsErrors."""
    assert [case for case in drawn(1) if refused(case)] == []


def test_most_mutated_cases_are_refused() -> None:
    assert sum(map(refused, mutated(1))) > 0.5 * COUNT


@pytest.mark.parametrize("make", [drawn, mutated])
def test_a_seed_always_draws_the_same(make: object) -> None:
    assert callable(make)
    assert make(3) == make(3) != make(4)


@pytest.mark.parametrize("make", [drawn, mutated])
def test_rows_survive_json(make: object) -> None:
    assert callable(make)
    for case in make(2):
        again = testing.Case.from_row(json.loads(json.dumps(case.to_row())))
        assert repr(again) == repr(case)


def test_everything_on_the_menu_is_drawn() -> None:
    cases, menu = drawn(5), testing.NUMPY_MENU
    assert {case.op for case in cases} == set(menu.operations)
    assert {case.layout for case in cases} == set(menu.layouts)
    assert {case.dtype for case in cases} == set(menu.dtypes)
    assert {case.reduction for case in cases} == {*menu.reductions, None}
    assert {n for case in cases for n in case.shape} >= {0, 1}


@pytest.mark.parametrize("part", ["...", "(...)", " 1", "()", "(2", " 2", "λ", "日本", "ﬁ", "in "])
def test_every_part_of_a_pattern_is_drawn(part: str) -> None:
    assert any(part in case.pattern for case in drawn(6))


@pytest.mark.parametrize("mutation", testing.MUTATIONS)
def test_every_mutation_changes_cases(mutation: object) -> None:
    assert callable(mutation)
    draw = testing.RandomDraw(7)
    cases = drawn(7)[:100]
    assert sum(mutation(draw, case) != case for case in cases) > 20


def test_arrays_are_as_the_case_says() -> None:
    for case in drawn(8):
        array = testing.build_array(case)
        listed = isinstance(array, list)
        assert not listed or len(array) == case.shape[0]
        for part in array if listed else [array]:
            assert part.shape == (case.shape[1:] if listed else case.shape)
            assert part.dtype == case.dtype


LAYOUT_FACTS = {
    "F": lambda array: array.flags.f_contiguous and not array.flags.c_contiguous,
    "transposed": lambda array: array.strides[0] == array.itemsize,
    "sliced": lambda array: array.strides[-1] == 2 * array.itemsize,
    "reversed": lambda array: max(array.strides) < 0,
    "broadcast": lambda array: array.strides[0] == 0 and not array.flags.writeable,
    "readonly": lambda array: not array.flags.writeable,
    "unaligned": lambda array: not array.flags.aligned,
    "subclass": lambda array: type(array) is not np.ndarray,
    "masked": lambda array: array.mask.any(),
    "matrix": lambda array: isinstance(array, np.matrix),
    "list": lambda array: isinstance(array, list) and len(array) == 3,
}


@pytest.mark.parametrize("layout", LAYOUT_FACTS)
def test_layout(layout: str) -> None:
    case = testing.Case("rearrange", "a b -> b a", (3, 4), layout=layout)
    assert LAYOUT_FACTS[layout](testing.build_array(case))


def test_every_layout_has_a_fact() -> None:
    assert {*LAYOUT_FACTS, "C"} == set(testing.NUMPY_MENU.layouts)


@given(testing.cases())
@settings(max_examples=50)
def test_strategy_draws_valid_cases(case: testing.Case) -> None:
    assert not refused(case)


@given(testing.patterns())
@settings(max_examples=20)
def test_pattern_strategy_has_an_arrow(pattern: str) -> None:
    assert pattern.count("->") == 1


def test_strategies_shrink_to_small_cases() -> None:
    case = find(testing.broken_cases(), refused, settings=settings(max_examples=2000))
    assert len(case.pattern) <= 8


def test_hypothesis_is_imported_on_request_only() -> None:
    code = (
        "import sys; from einrs import testing; assert 'hypothesis' not in sys.modules;"
        "testing.cases; assert 'hypothesis' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_unknown_name() -> None:
    with pytest.raises(AttributeError, match="nothing_like_it"):
        assert testing.nothing_like_it


def test_cases_are_drawn_without_end() -> None:
    draw = testing.RandomDraw("any text is a seed")
    assert len(list(itertools.islice(iter(lambda: testing.draw_case(draw), None), 10))) == 10


def test_names_stay_distinct_when_they_are_normalised() -> None:
    names = [*_menu.NAMES, *_menu.UNICODE_NAMES, *_menu.ODD_NAMES]
    assert len({unicodedata.normalize("NFKC", name) for name in names}) == len(names)
