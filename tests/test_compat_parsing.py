"""Turns drawn texts into tests: `ParsedExpression` says of each what einops' says, or refuses.

Left out of the comparison is what is meant to differ: white space other than the space, names that
are not normalised, and names with combining marks.
"""

import re
import unicodedata
import warnings
from collections.abc import Callable
from typing import Any

import einops.packing
import einops.parsing
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import einrs.packing
import einrs.parsing
from einrs import EinopsError

WORDS = ["a", "b1", "_", "_a", "a_", "0", "1", "2", "12", "a", "2a", "...", "….", "axis", "if", "ß"]
WORDS += ["é", "٣", "²", "…", "a...", "-", "*", "->", "(", ")", "( )", "((", " ", "", "()"]
texts = st.one_of(
    st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join),
    st.lists(st.sampled_from(WORDS), max_size=8).map("".join),
    st.text(max_size=8),
    st.text(alphabet="ab1_.() ", max_size=12),
)


def outcome(call: Callable[..., Any], *args: Any, **keywords: Any) -> tuple[str, Any]:
    """What a call returns, or the base of its error; warnings go into it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = call(*args, **keywords)
        except (EinopsError, einops.EinopsError):
            return "refused", None
    return "accepted", (result, [(one.category, str(one.message)) for one in caught])


def shown(axis: object) -> object:
    return ("number", axis.value) if hasattr(axis, "value") else axis


def facts(expression: Any) -> dict[str, Any]:
    return {
        "composition": [
            [shown(axis) for axis in axes] if isinstance(axes, list) else axes
            for axes in expression.composition
        ],
        "identifiers": sorted(str(shown(axis)) for axis in expression.identifiers),
        "has_ellipsis": expression.has_ellipsis,
        "has_ellipsis_parenthesized": expression.has_ellipsis_parenthesized,
        "has_non_unitary": expression.has_non_unitary_anonymous_axes,
        "composed": expression.has_composed_axes(),
    }


def is_meant_to_differ(text: str) -> bool:
    """Whether there is other white space, or a name that einops does not take as it is."""
    if any(c.isspace() and c != " " for c in text):
        return True
    names = [word for word in re.split("[() ]", text) if word.isidentifier()]
    return any(
        unicodedata.normalize("NFKC", name) != name
        or not all(c.isalnum() or c == "_" for c in name)
        for name in names
    )


@given(texts, st.booleans(), st.booleans())
@example("a (b … 3) 1", False, False)
@example("... a (b ...)", False, False)
@example("a a", False, True)
@example("_ _ a_", True, False)
@example("(a (b))", False, False)
@example("a if axis", False, False)
def test_an_expression_is_read_as_einops_reads_it(text: str, one: bool, many: bool) -> None:
    assume(not is_meant_to_differ(text))
    options = {"allow_underscore": one, "allow_duplicates": many}
    verdict, theirs = outcome(einops.parsing.ParsedExpression, text, **options)
    our_verdict, ours = outcome(einrs.parsing.ParsedExpression, text, **options)
    assert our_verdict == verdict
    if theirs is None:
        return
    assert facts(ours[0]) == facts(theirs[0])
    assert ours[1] == theirs[1]


@given(texts)
@example("a (b 2) 1 c")
def test_the_flat_order_is_einops(text: str) -> None:
    assume(not is_meant_to_differ(text))
    verdict, theirs = outcome(einops.parsing.ParsedExpression, text)
    if verdict == "refused":
        return
    ours = einrs.parsing.ParsedExpression
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if "…" in theirs[0].composition:
            with pytest.raises(AssertionError, match="ellipsis"):
                ours(text).flat_axes_order()
        else:
            flat = [shown(axis) for axis in theirs[0].flat_axes_order()]
            assert [shown(axis) for axis in ours(text).flat_axes_order()] == flat


@given(st.one_of(texts, st.text(max_size=4)), st.booleans())
@example("_", True)
@example("", False)
def test_a_name_is_judged_as_einops_judges_it(name: str, underscore: bool) -> None:
    theirs = einops.parsing.ParsedExpression.check_axis_name_return_reason
    ours = einrs.parsing.ParsedExpression.check_axis_name_return_reason
    expected = outcome(theirs, name, allow_underscore=underscore)
    assert outcome(ours, name, allow_underscore=underscore) == expected
    expected = outcome(einops.parsing.ParsedExpression.check_axis_name, name)
    assert outcome(einrs.parsing.ParsedExpression.check_axis_name, name) == expected


@pytest.mark.parametrize("digits", ["2", "17", "1", "0", "-3"])
def test_an_anonymous_axis(digits: str) -> None:
    verdict, theirs = outcome(einops.parsing.AnonymousAxis, digits)
    our_verdict, ours = outcome(einrs.parsing.AnonymousAxis, digits)
    assert our_verdict == verdict
    if theirs is not None:
        assert (ours[0].value, repr(ours[0])) == (theirs[0].value, repr(theirs[0]))
        assert ours[0] != einrs.parsing.AnonymousAxis(digits)


@pytest.mark.parametrize(
    ("text", "composition"),
    [
        ("a\tb\n(c\u00a0d)", [["a"], ["b"], ["c", "d"]]),
        ("µ ﬁ", [["μ"], ["fi"]]),
        ("क्ष a", [["क्ष"], ["a"]]),
    ],
    ids=["white space", "NFKC", "marks"],
)
def test_what_is_meant_to_differ(text: str, composition: list[list[str]]) -> None:
    with pytest.raises(AssertionError):
        assert outcome(einops.parsing.ParsedExpression, text)[0] == "accepted"
        assert einops.parsing.ParsedExpression(text).composition == composition
    assert einrs.parsing.ParsedExpression(text).composition == composition


def test_two_spellings_of_a_name_are_one() -> None:
    with pytest.raises(EinopsError, match="duplicate"):
        einrs.parsing.ParsedExpression("µ μ")


@given(st.lists(st.sampled_from(["a", "b", "*", "* ", "_", "a1", "2", "...", ""]), max_size=5))
@example(["a", "*", "b"])
@example(["*", "a", "a"])
def test_a_pattern_of_pack_is_analysed_as_einops_does(words: list[str]) -> None:
    pattern = " ".join(words)
    expected = outcome(einops.packing.analyze_pattern, pattern, "pack")
    assert outcome(einrs.packing.analyze_pattern, pattern, "pack") == expected
