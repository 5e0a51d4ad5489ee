"""A layer's recipe and a torch tensor to the result, in what TorchScript compiles of Python.

One recipe serves all ranks: among the axes, that of an ellipsis has any number of sizes.
"""

# No `from __future__ import annotations`: TorchScript wants types, not texts.
from typing import Any, NamedTuple

import torch

from .. import _einrs
from ._base import OperationLayer, operation_of, smallest_rank


class Steps(NamedTuple):
    """A recipe over the axes of a pattern, in einops' order of steps."""

    pattern: str
    reduction: str
    lengths: list[int]
    """The length of each axis, first those of the input; -1 where the input's shape tells it."""
    dims: list[list[int]]
    """The axes of each dimension of the input."""
    inferred: list[int]
    """For each dimension the axis whose length is inferred, or -1."""
    ellipsis: int
    """The dimension that stands for any number of them, or -1."""
    splits: bool
    moves: bool
    reduces: bool
    order: list[int]
    """The axes of the input as they are permuted, the reduced ones last."""
    kept: int
    """How many of them are not reduced."""
    shown: list[int]
    """The axes after the reduction, new ones among them."""
    merges: bool
    output: list[list[int]]
    """The axes of each dimension of the output; [-1] for an ellipsis without brackets."""


def steps(layer: OperationLayer) -> Steps:
    """The recipe of a layer.

    Raises:
        TypeError: the layer has a callable reduction.

    """
    called = layer._verb()
    if not isinstance(called, str):
        raise TypeError(
            f"{layer!r} cannot be scripted: TorchScript calls no Python function, "
            "so the reduction must be the name of one"
        )
    operation, names = operation_of(called), layer._names
    _, ndim = smallest_rank(operation, layer.pattern, names)
    ellipsis = _ellipsis(operation, layer.pattern, names, ndim)
    # With two axes for the ellipsis each step that some rank needs is there.
    ndim += 2 if ellipsis >= 0 else 0
    _, recipe = _einrs.recipe(operation, layer.pattern, names, ndim, False)
    return _in_lists(layer, called, recipe, ellipsis)


def _ellipsis(operation: str, pattern: str, names: tuple[str, ...], ndim: int) -> int:
    """The dimension of the input that the ellipsis is, or -1 if there is none."""
    refusal, _ = _einrs.recipe(operation, pattern, names, ndim + 1, False)
    if refusal is not None:
        return -1
    before = pattern.partition("...")[0]
    return smallest_rank("reduce", f"{before}->", ())[1]


def _in_lists(layer: OperationLayer, called: str, recipe: Any, ellipsis: int) -> Steps:
    lengths, inputs, split, permute, reduce, expand, merge = recipe
    first = inputs[ellipsis][0] if ellipsis >= 0 else len(lengths)

    def one(axes: Any) -> list[int]:
        """Axes with one number for the two of the ellipsis."""
        return [axis - (axis > first) for axis in axes if axis != first + 1]

    inputs = [dim for i, dim in enumerate(inputs) if ellipsis < 0 or i != ellipsis + 1]
    n_left = max([start + count for start, count, _ in inputs], default=0)
    order = tuple(range(max(n_left, first + 2) if ellipsis >= 0 else n_left))
    order = order if permute is None else permute
    kept = order[: len(order) - len(reduce or ())]
    shown = kept if expand is None else [axis for (axis,) in expand[0]]
    output = [] if merge is None else [dim for dim in merge if dim != (first + 1,)]
    spread = [ellipsis >= 0 and dim == (first,) for dim in output]
    numbers = [_length(layer, length) for length in lengths]
    return Steps(
        pattern=layer.pattern,
        reduction=called,
        lengths=[length for i, length in enumerate(numbers) if i != first + 1],
        dims=[one(range(start, start + count)) for start, count, _ in inputs],
        inferred=[-1 if axis is None else one([axis])[0] for _, _, axis in inputs],
        ellipsis=ellipsis,
        splits=split is not None,
        moves=permute is not None,
        reduces=reduce is not None,
        order=one(order),
        kept=len(one(kept)),
        shown=one(shown),
        merges=merge is not None,
        output=[[-1] if flat else one(dim) for flat, dim in zip(spread, output, strict=True)],
    )


def _length(layer: OperationLayer, length: Any) -> int:
    if length is None:
        return -1
    return int(layer._given[length[1]] if isinstance(length, tuple) else length)


def apply(tensor: torch.Tensor, steps: Steps) -> torch.Tensor:
    """The result for a tensor.

    Raises:
        RuntimeError: the tensor's rank or sizes do not fit.

    """
    sizes = axis_sizes(tensor.shape, steps)
    if steps.splits:
        tensor = tensor.reshape(joined([sizes[axis] for axis in range(len(steps.order))]))
    if steps.moves:
        tensor = tensor.permute(permutation(sizes, steps.order))
    if steps.reduces:
        kept = joined([sizes[axis] for axis in steps.order[: steps.kept]])
        tensor = reduce(tensor, steps.reduction, list(range(len(kept), tensor.dim())))
    if len(steps.shown) != steps.kept:
        tensor = expand(tensor, sizes, steps.shown, len(steps.order))
    if steps.merges:
        tensor = tensor.reshape(output_shape(sizes, steps))
    return tensor


def axis_sizes(shape: list[int], steps: Steps) -> list[list[int]]:
    """The sizes of each axis: one, or any number for that of the ellipsis."""
    sizes = [[length] for length in steps.lengths]
    any_rank = steps.ellipsis >= 0
    fixed = len(steps.dims) - int(any_rank)
    extra = len(shape) - fixed
    if extra < 0 or (extra > 0 and not any_rank):
        least = ">=" if any_rank else ""
        raise RuntimeError(
            f"Wrong shape: expected {least}{fixed} dims. Received {len(shape)}-dim tensor. "
            f"Pattern: {steps.pattern}"
        )
    position = 0
    for dim, axes in enumerate(steps.dims):
        if dim == steps.ellipsis:
            sizes[axes[0]] = shape[position : position + extra]
            position += extra
        else:
            split(shape[position], axes, steps.inferred[dim], sizes, steps.pattern)
            position += 1
    return sizes


def split(size: int, axes: list[int], inferred: int, sizes: list[list[int]], pattern: str) -> None:
    """Checks the axes of a dimension, and sets the one whose length is inferred."""
    known = 1
    for axis in axes:
        if axis != inferred:
            known = known * sizes[axis][0]
    if inferred < 0:
        if size != known:
            raise RuntimeError(f"Shape mismatch, {size} != {known}. Pattern: {pattern}")
    elif known == 0 or size % known != 0:
        raise RuntimeError(
            f"Shape mismatch, can't divide axis of length {size} in chunks of {known}. "
            f"Pattern: {pattern}"
        )
    else:
        sizes[inferred] = [size // known]


def joined(sizes: list[list[int]]) -> list[int]:
    """Lists one after the other."""
    result: list[int] = []
    for some in sizes:
        result.extend(some)
    return result


def permutation(sizes: list[list[int]], order: list[int]) -> list[int]:
    """The order of axes as that of dimensions."""
    starts: list[int] = []
    start = 0
    for axis in range(len(order)):
        starts.append(start)
        start += len(sizes[axis])
    result: list[int] = []
    for axis in order:
        for i in range(len(sizes[axis])):
            result.append(starts[axis] + i)
    return result


def reduce(tensor: torch.Tensor, reduction: str, dims: list[int]) -> torch.Tensor:
    """The tensor without some dimensions; the steps are einops', rounding included."""
    if len(dims) == 0:
        return tensor
    if reduction == "min":
        return tensor.amin(dim=dims)
    if reduction == "max":
        return tensor.amax(dim=dims)
    if reduction == "sum":
        return tensor.sum(dim=dims)
    if reduction == "mean":
        return tensor.mean(dim=dims)
    for dim in dims[::-1]:
        if reduction == "prod":
            tensor = tensor.prod(dim=dim)
        elif reduction == "any":
            tensor = tensor.any(dim=dim)
        else:
            tensor = tensor.all(dim=dim)
    return tensor


def expand(
    tensor: torch.Tensor, sizes: list[list[int]], shown: list[int], n_left: int
) -> torch.Tensor:
    """The tensor with the axes that the input lacks."""
    shape: list[int] = []
    for axis in shown:
        if axis >= n_left:
            tensor = tensor.unsqueeze(len(shape))
        shape.extend(sizes[axis])
    return tensor.expand(shape)


def output_shape(sizes: list[list[int]], steps: Steps) -> list[int]:
    """The sizes of the output."""
    shape: list[int] = []
    for axes in steps.output:
        if axes == [-1]:
            ellipsis = steps.dims[steps.ellipsis][0]
            shape.extend(sizes[ellipsis])
        else:
            length = 1
            for axis in axes:
                for size in sizes[axis]:
                    length = length * size
            shape.append(length)
    return shape
