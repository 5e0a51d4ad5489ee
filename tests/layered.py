"""Turns a library's torch layers into a module of functions, and draws EinMix layers as cases."""

import importlib
import re
from math import prod
from types import ModuleType
from typing import Any

from einrs.testing import NUMPY_MENU, Case, Draw, Menu, draw_case, mutate

NAMES = ("a", "b", "c", "d", "h", "w", "time_step", "x0", "Z")
SIZES = (2, 3, 1, 2, 4)


class Layers:
    """Operations that build a layer for each call, and call it once."""

    def __init__(self, package: ModuleType) -> None:
        self.EinopsError = package.EinopsError
        self.name = package.__name__

    def _layer(self, name: str, *texts: Any, **lengths: Any) -> Any:
        layers = importlib.import_module(f"{self.name}.layers.torch")
        return getattr(layers, name)(*texts, **lengths)

    def rearrange(self, tensor: Any, pattern: str, **lengths: Any) -> Any:
        return self._layer("Rearrange", pattern, **lengths)(tensor)

    def reduce(self, tensor: Any, pattern: str, reduction: Any, **lengths: Any) -> Any:
        return self._layer("Reduce", pattern, reduction, **lengths)(tensor)

    def repeat(self, tensor: Any, pattern: str, **lengths: Any) -> Any:
        return self._layer("Repeat", pattern, **lengths)(tensor)

    def einmix(self, tensor: Any, texts: str, **lengths: Any) -> Any:
        """The output and the gradients, for weights that are the same in every library."""
        import torch

        pattern, *shapes = texts.split("|", 2)
        layer = self._layer("EinMix", pattern, *shapes, **lengths)
        for parameter in layer.parameters():
            numbers = torch.arange(parameter.numel()) * 37 % 11 - 5
            parameter.data.copy_(numbers.reshape(parameter.shape))
        result = layer(tensor)
        result.sum().backward()
        return [result.detach(), *[parameter.grad for parameter in layer.parameters()]]


def draw_layer(draw: Draw, menu: Menu = NUMPY_MENU) -> Case:
    """A call of a layer: every third an EinMix."""
    return draw_einmix(draw, menu) if draw.integer(0, 2) == 2 else draw_case(draw, menu)


def mutate_layer(draw: Draw, case: Case) -> Case:
    """A layer that is wrong in one place, and is of the kind that it was."""
    broken = mutate(draw, case)
    return case if (broken.op == "einmix") != (case.op == "einmix") else broken


def draw_einmix(draw: Draw, menu: Menu = NUMPY_MENU) -> Case:
    """A layer whose texts `einmix` takes: the pattern, and the shapes of weight and bias."""
    free = list(NAMES)
    names = [free.pop(draw.integer(0, len(free) - 1)) for _ in range(draw.integer(1, 6))]
    fates = ("kept", "kept", "summed", "new", "weighted", "batch")
    fate = {name: draw.choice(fates) for name in names}
    sizes = {name: draw.choice(SIZES) for name in names}
    left = [name for name in names if fate[name] != "new"]
    right = [name for name in reversed(names) if fate[name] != "summed"]
    weight = [name for name in names if fate[name] in ("summed", "new", "weighted")]
    hidden = draw.choice((None, None, (), (2,), (3, 2)))
    if hidden is not None:
        left.insert(draw.integer(0, len(left)), "...")
        right.insert(draw.integer(0, len(right)), "...")
    behind = right[right.index("...") + 1 :] if hidden is not None else right
    bias = [name for name in behind if draw.integer(0, 1)]
    groups, text = grouped(draw, left)
    given = {*weight, *bias, *[axis for group in groups for axis in group[1:]]} - {"..."}
    texts = [f"{text} -> {grouped(draw, right)[1]}", " ".join(weight), " ".join(bias)]
    shape: list[int] = []
    for group in groups:
        whole = [prod(sizes[axis] for axis in group)] if "..." not in group else hidden or ()
        shape.extend(whole)
    return Case(
        "einmix",
        "|".join(texts if draw.integer(0, 1) else texts[:2]),
        tuple(shape),
        tuple((name, sizes[name]) for name in names if name in given),
    )


def grouped(draw: Draw, words: list[str]) -> tuple[list[list[str]], str]:
    """The axes of each dimension, and how they are written."""
    groups, text = [], []
    while words:
        count = 1 if "..." in words[:3] else draw.choice((1, 1, 1, 2, 3))
        group, words = words[:count], words[count:]
        in_brackets = len(group) > 1 or (group != ["..."] and draw.integer(0, 9) == 9)
        groups.append(group)
        text.append(f"({' '.join(group)})" if in_brackets else group[0])
        if draw.integer(0, 9) == 9:
            groups.append([])
            text.append(draw.choice(("1", "()")))
    return groups, " ".join(text)


def words_of(text: str) -> list[str]:
    """The names in a text."""
    return re.findall(r"[^\W\d]\w*", text)
