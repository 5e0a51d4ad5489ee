"""Lists where einsum, pack, unpack, parse_shape and asnumpy differ from einops 0.8.2 on purpose."""

import re
import unicodedata
from dataclasses import replace
from math import prod
from typing import Any

import einops
from einops._backends import get_backend

from deliberate import FIXES, Fix
from einrs.testing import Case


class Twin:
    """einops with other code for what it refuses: lengths beside one of 0, and other containers."""

    EinopsError = einops.EinopsError

    @staticmethod
    def pack(tensors: Any, pattern: str) -> Any:
        tensors, axes = list(tensors), pattern.split()
        before, after = axes.index("*"), len(axes) - axes.index("*") - 1
        backend, flat, shapes = get_backend(tensors[0]), [], []
        for index, tensor in enumerate(tensors):
            shape = backend.shape(tensor)
            if len(shape) < before + after:
                raise einops.EinopsError(
                    f"packed tensor #{index} (enumeration starts with 0) has shape {shape}, "
                    f"while pattern {pattern} assumes at least {before + after} axes"
                )
            end = len(shape) - after
            shapes.append(shape[before:end])
            whole = (*shape[:before], prod(shape[before:end]), *shape[end:])
            flat.append(backend.reshape(tensor, whole))
        return backend.concat(flat, axis=before), shapes

    @staticmethod
    def unpack(tensor: Any, packed_shapes: Any, pattern: str) -> Any:
        shapes = [tuple(map(int, shape)) for shape in packed_shapes]
        whole, axis = tuple(tensor.shape), pattern.split().index("*")
        rest = whole[axis] - sum(prod(shape) for shape in shapes if -1 not in shape)
        pieces, start = [], 0
        for shape in shapes:
            if -1 in shape:
                shape = tuple(rest // -prod(shape) if size == -1 else size for size in shape)
            part = tensor[(slice(None),) * axis + (slice(start, start + prod(shape)),)]
            sizes = (*whole[:axis], *shape, *whole[axis + 1 :])
            pieces.append(get_backend(tensor).reshape(part, sizes))
            start += prod(shape)
        return pieces


def _sizes(case: Case) -> list[list[Any]]:
    """The packed shapes with numbers for what stands for one."""

    def number(size: Any) -> Any:
        size = size[1] if isinstance(size, tuple) else size
        return int(size) if isinstance(size, bool) else size

    packed = case.packed if case.handed != "empty" else ()
    return [[number(size) for size in shape] for shape in packed]


def _all_sizes(case: Case) -> list[Any]:
    return [size for shape in _sizes(case) for size in shape]


def _is_unpack(case: Case) -> bool:
    return case.op == "unpack" and case.handed != "empty"


def _has_plain_sizes(case: Case) -> bool:
    return all(isinstance(size, int) and abs(size) < 2**31 for size in _all_sizes(case))


def _adds_up(case: Case) -> bool:
    """Whether the packed shapes are exactly the axis, for some value of one -1."""
    words, shapes = case.pattern.split(), _sizes(case)
    if case.op != "unpack" or "*" not in words or len(words) != len(case.shape):
        return False
    if not _has_plain_sizes(case) or min(_all_sizes(case), default=0) < -1:
        return False
    length = case.shape[words.index("*")]
    open_shapes = [shape for shape in shapes if -1 in shape]
    rest = length - sum(prod(shape) for shape in shapes if -1 not in shape)
    if not open_shapes:
        return rest == 0
    each = -prod(open_shapes[0])
    return len(open_shapes) == 1 and rest >= 0 and each > 0 and rest % each == 0


def _spelt_out(case: Case) -> Case:
    """Every packed length as the integer it stands for."""
    return replace(case, packed=tuple(map(tuple, _sizes(case))))


def _as_list(case: Case) -> Case:
    return replace(case, handed="list")


def _has_zero(case: Case) -> bool:
    return any(0 in part.shape for part in case.parts())


def _is_strange(case: Case) -> bool:
    """What the two parsers meet in another order, or name otherwise."""
    text = unicodedata.normalize("NFKC", case.pattern)
    sides = re.split(",|->", text)
    stray = "," in text.partition("->")[2] or any(s.count("(") != s.count(")") for s in sides)
    odd = ",>*-" if case.op == "parse_shape" else ">*-"
    stray = stray or not {*odd}.isdisjoint(text.replace("->", ""))
    return stray or re.search(r"\.|[^\w\s(),>*-]", text) is not None


def _has_huge(case: Case) -> bool:
    written = re.findall(r"[0-9]+", case.pattern)
    numbers = [n for n in _all_sizes(case) if isinstance(n, int)]
    return any(abs(number) >= 2**31 for number in (*numbers, *map(int, written)))


def _unpacks(shape: tuple[int, ...], *packed: tuple[Any, ...], pattern: str = "a *") -> Case:
    return Case("unpack", pattern, shape, packed=packed)


SHARED = ("white space", "normalised names", "names with marks", "digits beyond ASCII")
"""Fixes of all patterns."""

JOIN_FIXES = (
    *(fix for fix in FIXES if fix.name in SHARED),
    Fix(
        "arrows of an einsum",
        "the first of several faults is told; einops looks for the arrow before all others",
        lambda case: case.op == "einsum" and case.pattern.count("->") != 1,
        Case("einsum", "i; j", (2, 3)),
        raises=("EinopsError",),
        instead_of=ValueError,
    ),
    Fix(
        "generators",
        "any iterable of tensors or shapes will do; einops takes the first by its index",
        lambda case: case.handed == "generator" and case.op in ("pack", "unpack"),
        Case("pack", "a *", (2, 3), others=(((2,), "float32", "C"),), handed="generator"),
        repair=_as_list,
    ),
    Fix(
        "integers that are no int",
        "einops multiplies lengths, for which an __index__ is not enough",
        lambda case: _is_unpack(case) and repr(_spelt_out(case)) != repr(case),
        _unpacks((2, 10), (("index", 3),), (7,)),
        repair=_spelt_out,
    ),
    Fix(
        "lengths of 0",
        "einops asks the framework for a length beside one of 0, which cannot be inferred; what it "
        "can reshape loses the strides, which decide about those of the result",
        lambda case: case.op == "pack" or (_adds_up(case) and _has_zero(case)),
        Case("pack", "a * b", (2, 3, 0), others=(((2, 0), "float32", "C"),)),
        twin=True,
        leaves_open=("strides",),
    ),
    Fix(
        "diagonals of length 0",
        "where two axes of one name have the lengths 0 and another, numpy answers with memory that "
        "is not the array's",
        lambda case: case.op == "einsum" and any(0 in part.shape for part in case.parts()),
        Case("einsum", "a a -> a", (0, 3)),
        leaves_open=("values",),
    ),
    Fix(
        "dropped data and overlapping pieces",
        "shapes that do not add up to the axis are refused; einops leaves elements out or has "
        "them twice, where its reshapes succeed",
        lambda case: case.op == "unpack" and _has_plain_sizes(case) and not _adds_up(case),
        _unpacks((2, 10), (7,), (-1,), (5,)),
        raises=("EinopsError",),
    ),
    Fix(
        "nothing to pack",
        "an empty list is an EinopsError; einops asks for its first element",
        lambda case: case.op == "pack" and case.handed == "empty",
        Case("pack", "a *", (2, 3), handed="empty"),
        raises=("EinopsError",),
        instead_of=IndexError,
    ),
    Fix(
        "lengths of a wrong type",
        "a float, None or a string is no length; einops computes with it",
        lambda case: any(isinstance(size, (float, str, type(None))) for size in _all_sizes(case)),
        _unpacks((2, 10), (3,), (7.0,)),
        raises=("EinopsError", "TypeError"),
    ),
    Fix(
        "overflow",
        "lengths are checked in 64 bits; einops hands any number to the framework",
        _has_huge,
        _unpacks((2, 10), (2**63,)),
        raises=("EinopsError",),
    ),
    Fix(
        "number of tensors",
        "it is compared with the pattern; torch loses itself where there is an ellipsis",
        lambda case: case.op == "einsum" and case.pattern.count(",") != len(case.others),
        Case(
            "einsum",
            "... a, a ..., a ..., ... a -> ...",
            (3, 3),
            others=(((3, 3), "float32", "C"),) * 2,
        ),
        raises=("EinopsError",),
        instead_of=IndexError,
        shown_on="torch",
    ),
    Fix(
        "other words",
        "characters are shown escaped, a word with a dot is called a bad name, half of a surrogate "
        "pair is refused first, an open bracket is shown by a caret",
        _is_strange,
        Case("parse_shape", "a.b", (2,)),
        raises=("EinopsError",),
        instead_of=einops.EinopsError,
    ),
    Fix(
        "the character of an ellipsis",
        "einops turns three dots into U+2026 and takes one that was written for a name",
        lambda case: case.op in ("einsum", "parse_shape") and "\u2026" in case.pattern,
        Case("parse_shape", "a \u2026", (2, 3)),
        raises=("EinopsError",),
    ),
    Fix(
        "ellipsis in brackets",
        "an ellipsis is no axis; einops takes it for one in an einsum, and stumbles over it in "
        "parse_shape",
        lambda case: (
            case.op in ("einsum", "parse_shape")
            and re.search(r"\([^()]*\.\.\.", case.pattern) is not None
        ),
        Case("parse_shape", "a (...)", (2, 6)),
        raises=("EinopsError",),
    ),
)
