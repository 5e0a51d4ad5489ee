"""Turns drawn choices into a valid call of einsum, pack, unpack, parse_shape or asnumpy."""

from math import prod

from ._case import Case, Length, Part
from ._draw import Draw, chance, insert_anywhere, shuffled
from ._menu import NUMPY_MENU, Menu
from ._patterns import ELLIPSIS, draw_name, draw_size

Sizes = dict[str, int]


def draw_join(draw: Draw, menu: Menu = NUMPY_MENU) -> Case:
    """A call that is valid but for what its dtypes refuse."""
    op = draw.choice(menu.joins)
    if op == "einsum":
        return _draw_einsum(draw, menu)
    if op == "pack":
        return _draw_pack(draw, menu)
    if op == "unpack":
        return _draw_unpack(draw, menu)
    if op == "parse_shape":
        return _draw_parse_shape(draw, menu)
    return _with_tensors(draw, menu, Case("asnumpy", "", _draw_shape(draw, menu, 3)), [])


def _with_tensors(draw: Draw, menu: Menu, case: Case, others: list[tuple[int, ...]]) -> Case:
    """The case with a dtype and a layout for each tensor; mostly one dtype for all."""
    dtype = draw.choice(menu.dtypes)
    parts: list[Part] = []
    for shape in others:
        other = draw.choice(menu.dtypes) if chance(draw, 10) else dtype
        parts.append((shape, other, _draw_layout(draw, menu)))
    return Case(
        op=case.op,
        pattern=case.pattern,
        shape=case.shape,
        dtype=dtype,
        layout=_draw_layout(draw, menu),
        others=tuple(parts),
        packed=case.packed,
        handed=case.handed,
    )


def _draw_layout(draw: Draw, menu: Menu) -> str:
    """A list is no tensor here."""
    layout = draw.choice(menu.layouts)
    return "C" if layout == "list" else layout


def _draw_shape(draw: Draw, menu: Menu, rank: int) -> tuple[int, ...]:
    shape: list[int] = []
    for _ in range(draw.integer(0, rank)):
        shape.append(draw_size(draw, menu, prod(shape)))
    return tuple(shape)


def _draw_names(draw: Draw, menu: Menu, count: int) -> Sizes:
    sizes: Sizes = {}
    for _ in range(count):
        sizes[draw_name(draw, sizes)] = draw_size(draw, menu, prod(sizes.values()))
    return sizes


# --- einsum


def _draw_einsum(draw: Draw, menu: Menu) -> Case:
    sizes = _draw_names(draw, menu, draw.integer(1, 5))
    if chance(draw, 8):
        sizes["_"] = draw_size(draw, menu, prod(sizes.values()))
    hidden = _draw_shape(draw, menu, 2) if chance(draw, 30) and prod(sizes.values()) < 50 else None
    operands = [_draw_operand(draw, sizes, hidden) for _ in range(draw.integer(1, 4))]
    present = dict.fromkeys(axis for operand in operands for axis in operand)
    output = [axis for axis in shuffled(draw, list(present)) if chance(draw, 60)]
    if hidden and ELLIPSIS in present and ELLIPSIS not in output:
        # numpy refuses to sum over an ellipsis.
        insert_anywhere(draw, output, ELLIPSIS)
    shapes = [_shape_of(draw, operand, sizes, hidden or ()) for operand in operands]
    sides = [_spelt(draw, operand) for operand in operands]
    comma = draw.choice((", ", ", ", ",", " , "))
    pattern = f"{comma.join(sides)} -> {_spelt(draw, output)}"
    return _with_tensors(draw, menu, Case("einsum", pattern, shapes[0]), shapes[1:])


def _draw_operand(draw: Draw, sizes: Sizes, hidden: tuple[int, ...] | None) -> list[str]:
    axes = [axis for axis in shuffled(draw, list(sizes)) if chance(draw, 55)]
    if axes and chance(draw, 10):
        # A diagonal.
        insert_anywhere(draw, axes, draw.choice(axes))
    if hidden is not None and chance(draw, 70):
        insert_anywhere(draw, axes, ELLIPSIS)
    return axes


def _shape_of(
    draw: Draw, operand: list[str], sizes: Sizes, hidden: tuple[int, ...]
) -> tuple[int, ...]:
    """The sizes of an operand; now and then an axis has length 1, which is broadcast."""
    broadcast = draw.choice(operand) if operand and chance(draw, 8) else ""
    shape: list[int] = []
    for axis in operand:
        if axis == ELLIPSIS:
            shape.extend(hidden)
        else:
            shape.append(1 if axis == broadcast and operand.count(axis) == 1 else sizes[axis])
    return tuple(shape)


def _spelt(draw: Draw, axes: list[str]) -> str:
    """The names, rarely one in brackets of its own."""
    words = [f"({axis})" if axis != ELLIPSIS and chance(draw, 3) else axis for axis in axes]
    return " ".join(words)


# --- pack and unpack


def _draw_packing(draw: Draw, menu: Menu) -> tuple[str, tuple[int, ...], tuple[int, ...]]:
    """A pattern, and the sizes before the star and after it."""
    sizes = _draw_names(draw, menu, draw.integer(0, 3))
    words = list(sizes)
    star = draw.integer(0, len(words))
    lengths = tuple(sizes.values())
    pattern = " ".join([*words[:star], "*", *words[star:]])
    if chance(draw, 10):
        pattern = f"  {pattern.replace(' ', '  ')} "
    return pattern, lengths[:star], lengths[star:]


def _draw_packed(draw: Draw, menu: Menu, others: int) -> list[tuple[int, ...]]:
    return [_draw_sizes(draw, menu, others) for _ in range(draw.integer(1, 4))]


def _draw_sizes(draw: Draw, menu: Menu, others: int) -> tuple[int, ...]:
    sizes: list[int] = []
    for _ in range(draw.integer(0, 3)):
        sizes.append(draw_size(draw, menu, others * prod(sizes)))
    return tuple(sizes)


def _draw_pack(draw: Draw, menu: Menu) -> Case:
    pattern, before, after = _draw_packing(draw, menu)
    packed = _draw_packed(draw, menu, prod(before) * prod(after))
    shapes = [(*before, *middle, *after) for middle in packed]
    handed = draw.choice(("list", "list", "list", "tuple", "generator"))
    case = Case("pack", pattern, shapes[0], handed=handed)
    return _with_tensors(draw, menu, case, shapes[1:])


def _draw_unpack(draw: Draw, menu: Menu) -> Case:
    pattern, before, after = _draw_packing(draw, menu)
    packed: list[tuple[Length, ...]] = []
    whole = 0
    for sizes in _draw_packed(draw, menu, prod(before) * prod(after)):
        packed.append(sizes)
        whole += prod(sizes)
    if chance(draw, 40):
        place = draw.integer(0, len(packed) - 1)
        packed[place] = _with_unknown(draw, packed[place])
    if chance(draw, 5):
        packed = [tuple([_disguised(draw, size) for size in shape]) for shape in packed]
    handed = draw.choice(("list", "list", "list", "tuple", "lists", "generator"))
    shape = (*before, whole, *after)
    case = Case("unpack", pattern, shape, packed=tuple(packed), handed=handed)
    return _with_tensors(draw, menu, case, [])


def _with_unknown(draw: Draw, shape: tuple[Length, ...]) -> tuple[Length, ...]:
    """The shape with -1 for one length, unless nothing can be inferred beside the others."""
    if not shape:
        return shape
    place = draw.integer(0, len(shape) - 1)
    others = (*shape[:place], *shape[place + 1 :])
    return shape if 0 in others else (*shape[:place], -1, *shape[place + 1 :])


def _disguised(draw: Draw, size: Length) -> Length:
    if not isinstance(size, int) or size < 0:
        return size
    kinds: tuple[Length, ...] = (size, ("int64", size), ("uint8", size))
    return draw.choice(kinds)


# --- parse_shape


def _draw_parse_shape(draw: Draw, menu: Menu) -> Case:
    words: list[str] = []
    shape: list[int] = []
    for name, size in _draw_names(draw, menu, draw.integer(0, 5)).items():
        numbers = (name, name, "_", str(size) if size > 1 else "1" if size else name)
        words.append(draw.choice((*numbers, f"({name})", "()" if size == 1 else name)))
        shape.append(size)
    if chance(draw, 30):
        place = draw.integer(0, len(words))
        words.insert(place, ELLIPSIS)
        shape[place:place] = _draw_shape(draw, menu, 2)
    return _with_tensors(draw, menu, Case("parse_shape", " ".join(words), tuple(shape)), [])
