"""Turns drawn choices into a valid call: axes with their lengths, then two sides, then text."""

import re
from math import prod

from ._case import Case, Length
from ._draw import Draw, chance, insert_anywhere, shuffled
from ._menu import NAMES, NUMPY_MENU, ODD_NAMES, UNICODE_NAMES, Menu

ELLIPSIS = "..."

# A list of dimensions: a token (a name, a number, an ellipsis) or a list of the tokens in a group.
Side = list[str | list[str]]
Sizes = dict[str, int]


def draw_case(draw: Draw, menu: Menu = NUMPY_MENU) -> Case:
    """A call that is valid but for what its dtype or its callable refuses."""
    op = draw.choice(menu.operations)
    sizes = _draw_axes(draw, menu)
    hidden = _draw_hidden_axes(draw, menu, sizes)
    left = _draw_left(draw, op, list(sizes), hidden is not None)
    new = _draw_new_axes(draw, menu, sizes) if op == "repeat" else {}
    right = _draw_right(draw, op, left, list(new))
    lengths = _draw_lengths(draw, left, sizes) + list(new.items())
    return Case(
        op=op,
        pattern=_draw_text(draw, left, right),
        shape=_shape_of(left, sizes, hidden or ()),
        lengths=_disguised(draw, [(name, n) for name, n in lengths if not name.isdecimal()]),
        reduction=draw.choice(menu.reductions) if op == "reduce" else None,
        dtype=draw.choice(menu.dtypes),
        layout=draw.choice(menu.layouts),
    )


def draw_name(draw: Draw, taken: Sizes) -> str:
    """A name that is not taken yet."""
    kind = draw.integer(0, 63)
    pool = ODD_NAMES if kind == 63 else UNICODE_NAMES if kind > 56 else NAMES
    name = draw.choice(pool)
    while name in taken:
        name += str(draw.integer(0, 9))
    return name


def _draw_axes(draw: Draw, menu: Menu) -> Sizes:
    sizes: Sizes = {}
    for _ in range(draw.integer(0, 5)):
        sizes[draw_name(draw, sizes)] = draw_size(draw, menu, prod(sizes.values()))
    return sizes


def draw_size(draw: Draw, menu: Menu, others: int) -> int:
    """A size that leaves a tensor with `others` elements small."""
    size = draw.choice(menu.sizes)
    return size if size * others <= menu.elements else 1


def _draw_hidden_axes(draw: Draw, menu: Menu, sizes: Sizes) -> tuple[int, ...] | None:
    """The lengths of the axes under an ellipsis, or None where the pattern has none."""
    if not chance(draw, 35):
        return None
    hidden: list[int] = []
    for _ in range(draw.integer(0, 3)):
        hidden.append(draw_size(draw, menu, prod(sizes.values()) * prod(hidden)))
    return tuple(hidden)


def _draw_new_axes(draw: Draw, menu: Menu, sizes: Sizes) -> Sizes:
    """New axes of a repeat; the key of an anonymous one is its number, so no two are alike."""
    new: Sizes = {}
    for _ in range(draw.integer(0, 2)):
        size = draw_size(draw, menu, menu.elements // 10 * prod(new.values()))
        if size > 1 and chance(draw, 30):
            new[str(size)] = size
        else:
            new[draw_name(draw, sizes | new)] = size
    return new


def _draw_left(draw: Draw, op: str, names: list[str], ellipsis: bool) -> Side:
    side = _grouped(draw, names)
    _add_units(draw, side)
    if op == "reduce" and chance(draw, 25):
        _add_token(draw, side, draw.choice(("2", "3", "4")))
    if ellipsis:
        insert_anywhere(draw, side, ELLIPSIS)
    return side


def _draw_right(draw: Draw, op: str, left: Side, new: list[str]) -> Side:
    tokens = [token for item in left for token in _tokens(item) if not token.isdecimal()]
    if op == "rearrange" and chance(draw, 10):
        return left
    if op == "reduce":
        tokens = [token for token in tokens if not chance(draw, 40)]
    elif not chance(draw, 10):
        tokens = shuffled(draw, tokens)
    for name in new:
        insert_anywhere(draw, tokens, name)
    side = _grouped(draw, tokens)
    _add_units(draw, side)
    return side


def _grouped(draw: Draw, tokens: list[str]) -> Side:
    side: Side = []
    for token in tokens:
        fate = draw.integer(0, 9)
        last = side[-1] if side else None
        if fate > 4 and isinstance(last, list):
            last.append(token)
        elif fate > 6:
            side.append([token])
        else:
            side.append(token)
    return side


def _add_units(draw: Draw, side: Side) -> None:
    while chance(draw, 25):
        _add_token(draw, side, draw.choice(("1", "1", "()")))


def _add_token(draw: Draw, side: Side, token: str) -> None:
    groups = [item for item in side if isinstance(item, list)]
    if token == "()":
        insert_anywhere(draw, side, [])
    elif groups and chance(draw, 30):
        insert_anywhere(draw, draw.choice(groups), token)
    else:
        insert_anywhere(draw, side, token)


def _tokens(item: str | list[str]) -> list[str]:
    return [item] if isinstance(item, str) else item


def _shape_of(left: Side, sizes: Sizes, hidden: tuple[int, ...]) -> tuple[int, ...]:
    shape: list[int] = []
    for item in left:
        if item == ELLIPSIS:
            shape.extend(hidden)
        else:
            shape.append(prod(_size_of(token, sizes) for token in _tokens(item)))
    return tuple(shape)


def _size_of(token: str, sizes: Sizes) -> int:
    return sizes[token] if token in sizes else int(token)


def _draw_lengths(draw: Draw, left: Side, sizes: Sizes) -> list[tuple[str, int]]:
    """Of every group at most one length is left to be inferred, and sometimes none."""
    given: list[str] = []
    for item in left:
        names = [token for token in _tokens(item) if token in sizes]
        if isinstance(item, list) and names:
            free = draw.choice(names)
            others = prod(_size_of(token, sizes) for token in item if token != free)
            if others != 0 and not chance(draw, 15):
                names.remove(free)
        elif not chance(draw, 8):
            names = []
        given.extend(names)
    return [(name, sizes[name]) for name in given]


def _disguised(draw: Draw, lengths: list[tuple[str, int]]) -> tuple[tuple[str, Length], ...]:
    """The lengths in a drawn order, now and then one as another kind of integer."""
    ordered = shuffled(draw, lengths)
    result: list[tuple[str, Length]] = [*ordered]
    if ordered and chance(draw, 4):
        name, size = ordered[-1]
        kind = draw.choice(("int64", "uint8", "index"))
        result[-1] = (name, size == 1 if size < 2 else (kind, size))
    return tuple(result)


def _draw_text(draw: Draw, left: Side, right: Side) -> str:
    text = f"{_spaced(left)} -> {_spaced(right)}"
    style = draw.integer(0, 19)
    if style == 19:
        return f" {text}  ".replace(" ", "  ").replace("(", "( ")
    if style == 18:
        return re.sub(r" ?(\(|\)|->) ?", r"\1", text)
    return text


def _spaced(side: Side) -> str:
    return " ".join(item if isinstance(item, str) else f"({' '.join(item)})" for item in side)
