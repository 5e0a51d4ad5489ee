"""Turns the texts of EinMix layers into the core's analysis, which is that of einops."""

import re
import unicodedata
import warnings
from collections.abc import Iterator
from math import prod
from typing import Any, NamedTuple

import einops
import numpy
import pytest
from einops.layers import _einmix

from einrs import _einrs
from einrs.testing import RandomDraw
from layered import NAMES, draw_einmix, words_of
from test_joins import TABLE, Row, row_id

COUNT = 3_000


class Texts(NamedTuple):
    """What a layer is built with; every length is another number."""

    pattern: str
    weight: str
    bias: str | None
    names: tuple[str, ...]

    @classmethod
    def of(cls, row: Row) -> "Texts":
        weight, bar, bias = row.extra.partition("|")
        names = tuple(name for name in row.shapes.split(",") if name != "-")
        pattern = unicodedata.normalize("NFKC", row.pattern)
        return cls(pattern, weight, bias if bar else None, names)

    @property
    def lengths(self) -> dict[str, int]:
        return {name: number + 2 for number, name in enumerate(self.names)}

    def analysed(self) -> tuple[Any, Any]:
        return _einrs.einmix(self.pattern, self.weight, self.bias, self.names)  # type: ignore[no-any-return]


class Debugger(_einmix._EinmixDebugger):  # type: ignore[misc]
    """einops' analysis without a framework."""

    def _create_parameters(
        self, weight_shape: Any, weight_bound: Any, bias_shape: Any, bias_bound: Any
    ) -> None:
        super()._create_parameters(weight_shape, weight_bound, bias_shape, bias_bound)
        self.weight_bound, self.bias_bound = weight_bound, bias_bound


def by_einops(texts: Texts) -> Debugger:
    return Debugger(texts.pattern, texts.weight, texts.bias, **texts.lengths)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Einops warns of a weight without axes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


BUILT = [
    Texts.of(row)
    for row, _ in TABLE
    # Python's names beyond einops' letters, and more names than the 26 letters it has.
    if row.op == "einmix" and row.pattern.isascii() and "A -> B" not in row.pattern
]


def same_analysis(texts: Texts) -> None:
    refusal, parts = texts.analysed()
    assert refusal is None, refusal
    pre, post, einsum, weight, fan_in, bias = parts
    theirs, lengths = by_einops(texts), texts.lengths
    assert einsum == theirs.einsum_pattern
    assert [lengths[axis] for axis in weight] == theirs.saved_weight_shape
    assert (pre is None) == (theirs.pre_reshape_pattern is None)
    assert (post is None) == (theirs.post_reshape_pattern is None)
    for ours, one in ((pre, theirs.pre_reshape_pattern), (post, theirs.post_reshape_pattern)):
        assert ours is None or ours.split() == one.split()
    fan_in_length = prod(lengths[axis] for axis in fan_in)
    assert theirs.weight_bound == (3 / fan_in_length) ** 0.5
    assert theirs.bias_bound == (1 / fan_in_length) ** 0.5
    sizes = None if bias is None else [1 if axis is None else lengths[axis] for axis in bias]
    assert sizes == theirs.saved_bias_shape


@pytest.mark.parametrize("texts", BUILT, ids=lambda texts: f"{texts.pattern} {texts.weight}")
def test_row_is_what_einops_makes_of_it(texts: Texts) -> None:
    same_analysis(texts)


@pytest.mark.parametrize(
    ("row", "answer"), [pair for pair in TABLE if pair[0].op == "einmix"], ids=row_id
)
def test_parts_compute_what_the_whole_says(row: Row, answer: str) -> None:
    """Rearrangement, contraction and rearrangement are the sum over the axes that vanish."""
    texts = Texts.of(row)
    _, (pre, post, einsum, weight, _, bias) = texts.analysed()
    lengths = dict.fromkeys(re.findall(r"[^\W\d]\w*", texts.pattern), 1) | texts.lengths
    left, right = (re.findall(r"[^\W\d]\w*|\.\.\.", side) for side in texts.pattern.split("->"))
    if len(lengths) > 9:
        return
    hidden = (2, 3) if "..." in left else ()
    shape = [length for axis in left for length in sizes_of(axis, lengths, hidden)]
    flat = numpy.arange(float(prod(shape))).reshape(shape) % 7
    parameters = numpy.arange(float(prod(lengths[a] for a in weight))) % 5
    parameters = parameters.reshape([lengths[axis] for axis in weight])
    letters = {axis: chr(ord("a") + i) for i, axis in enumerate(lengths)} | {"...": "..."}
    spelt = ["".join(letters[axis] for axis in axes) for axes in (left, weight, right)]
    wanted = numpy.einsum(f"{spelt[0]},{spelt[1]}->{spelt[2]}", flat, parameters)
    assert numpy.array_equal(numpy.einsum(einsum, flat, parameters), wanted)
    given = {axis: length for axis, length in lengths.items() if axis in left}
    if pre is not None:
        back = "->".join(reversed(pre.split("->")))
        packed = einops.rearrange(flat, ascii_names(back))
        names = {ascii_names(axis): length for axis, length in given.items()}
        assert numpy.array_equal(einops.rearrange(packed, ascii_names(pre), **names), flat)
    if post is not None:
        assert einops.rearrange(wanted, ascii_names(post)).size == wanted.size
    if bias is not None:
        biased = [1 if axis is None else lengths[axis] for axis in bias]
        assert numpy.broadcast_shapes(wanted.shape, tuple(biased)) == wanted.shape


def sizes_of(axis: str, lengths: dict[str, int], hidden: tuple[int, ...]) -> tuple[int, ...]:
    return hidden if axis == "..." else (lengths[axis],)


def ascii_names(text: str) -> str:
    return re.sub(r"[^\x00-\x7f]", lambda letter: f"u{ord(letter[0])}", text)


# --- drawn layers


def drawn(seed: int) -> Texts:
    """Mostly right texts, now and then with a word or a length too many or too few."""
    draw = RandomDraw(seed)
    case = draw_einmix(draw)
    words = [side for text in case.pattern.split("|") for side in text.split("->")]
    words += [""] * (4 - len(words))
    names = {name for name, _ in case.lengths}
    if draw.integer(0, 2) == 2:
        place = draw.integer(0, 3)
        words[place] = spoilt(draw, words[place])
    if draw.integer(0, 5) == 5:
        names.discard(draw.choice(NAMES))
    if draw.integer(0, 9) == 9:
        names.add(draw.choice(NAMES))
    if draw.integer(0, 5) == 5:
        words[3] = draw.choice((*words_of(words[1]), ""))
        names |= {*words_of(words[3])}
    bias = words[3] if case.pattern.count("|") == 2 else None
    return Texts(f"{words[0]}->{words[1]}", words[2], bias, tuple(sorted(names)))


def spoilt(draw: RandomDraw, text: str) -> str:
    words = text.split() or [""]
    place = draw.integer(0, len(words) - 1)
    change = draw.choice(("drop", "double", "add", "bracket"))
    if change == "drop":
        del words[place]
    elif change == "double":
        words.insert(place, words[place])
    elif change == "bracket":
        words[place] = f"({words[place]})"
    else:
        strange = ("1", "2", "...", "_", "(", ")", "()", "zz", "(zz)", "->", "a")
        words.insert(place, draw.choice(strange))
    return " ".join(words)


def outcomes(seed: int) -> tuple[Texts, Any, Exception | None]:
    texts = drawn(seed)
    try:
        by_einops(texts)
    except Exception as error:
        return texts, texts.analysed()[0], error
    return texts, texts.analysed()[0], None


@pytest.mark.parametrize("start", range(0, COUNT, COUNT // 10))
def test_drawn_layers(start: int) -> None:
    for seed in range(start, start + COUNT // 10):
        texts, refusal, error = outcomes(seed)
        if error is None:
            assert refusal is None, (texts, refusal)
            same_analysis(texts)
        else:
            assert refusal is not None, (texts, error)


def test_drawn_layers_are_of_all_kinds() -> None:
    kinds = {
        None if refusal is None else refusal[0] for _, refusal, _ in map(outcomes, range(COUNT))
    }
    missing = {kind for kind in EINMIX_KINDS if kind not in kinds}
    assert not missing
    assert None in kinds


EINMIX_KINDS = (
    *("UnknownInOutput", "OneEllipsis", "MixEllipsisInGroup", "WeightLength", "UnusedMixLength"),
    *("RedundantWeight", "BiasNotInOutput", "BiasLength", "BiasBeforeEllipsis"),
    *("NumberInEinMix", "GroupInWeight", "UnitInWeight", "EllipsisInWeight"),
)
