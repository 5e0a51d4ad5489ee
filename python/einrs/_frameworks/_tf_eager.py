"""A recipe to tensorflow's raw operations on an eager tensor, whose arguments are kept as tensors.

A list or a tuple as a shape costs more than the operation itself: tensorflow then leaves its fast
path and makes a tensor of it at each call.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from .. import _einrs, _ops
from .._readable import Shape, axis_lengths, sizes

tf = sys.modules["tensorflow"]

Step = Callable[[Any, Any], Any]
"""An operation on a tensor and one argument, which is a tensor as well."""

Steps = tuple[tuple[Step, Any], ...]
"""What is done one after the other, each step with its argument."""

MAX_SHAPES = 256
"""Shapes that one pattern keeps its arguments for."""

INT32_MAX = 2**31 - 1


def _constant(numbers: Shape) -> Any:
    """A tensor that outlives the graph which may be being built, where operations read it from."""
    dtype = tf.int32 if max(numbers, default=0) <= INT32_MAX else tf.int64
    with tf.init_scope(), tf.device("CPU:0"):
        return tf.constant(numbers, dtype)


EAGER = type(_constant(()))


def _operation(name: str) -> Callable[..., Any]:
    """A raw operation, less the wrapper that checks that its arguments are named."""
    operation: Callable[..., Any] = getattr(tf.raw_ops, name)
    unwrapped: Callable[..., Any] = getattr(operation, "__wrapped__", operation)
    return unwrapped


_RESHAPE, _TRANSPOSE, _BROADCAST = map(_operation, ("Reshape", "Transpose", "BroadcastTo"))


def _reshape(tensor: Any, shape: Any) -> Any:
    return _RESHAPE(tensor=tensor, shape=shape)


def _permute(tensor: Any, axes: Any) -> Any:
    return _TRANSPOSE(x=tensor, perm=axes)


def _expand(tensor: Any, shape: Any) -> Any:
    return _BROADCAST(input=tensor, shape=shape)


def _reduction(name: str) -> Step:
    operation = _operation(name)
    return lambda tensor, axes: operation(input=tensor, axis=axes)


REDUCTIONS = {
    name: _reduction(name.capitalize())
    for name in ("min", "max", "sum", "mean", "prod", "any", "all")
}

FLOATING = (tf.float16, tf.float32, tf.float64, tf.bfloat16)
"""The dtypes that have a mean, as in einops."""

DTYPES = {"mean": FLOATING, "any": (tf.bool,), "all": (tf.bool,)}
"""What a reduction is for; tensors of other dtypes go the readable way, to einops' error."""


def program(
    operation: str,
    pattern: str,
    names: tuple[str, ...],
    lengths: tuple[int, ...],
    reduction: str | None,
    recipe: _einrs.Recipe,
) -> tuple[list[tuple[Any, None]], tuple[Any, ...]]:
    """One function that does all steps for the shape it meets."""
    prepared: dict[Shape, Steps] = {}
    given = dict(zip(names, lengths, strict=True))
    readably = partial(_readably, operation, pattern, reduction, given)
    steps_for = _planner(operation, pattern, names, lengths, reduction, recipe)

    def replay(tensor: Any) -> Any:
        # A graph that is being built would capture the arguments.
        if not tf.executing_eagerly():
            return readably(tensor)
        shape = tuple(tensor.shape.as_list())
        steps = prepared.get(shape)
        if steps is None:
            steps = steps_for(shape)
            if steps is None:
                return readably(tensor)
            if len(prepared) >= MAX_SHAPES:
                prepared.clear()
            prepared[shape] = steps
        for step, argument in steps:
            tensor = step(tensor, argument)
        return tensor

    return [(replay, None)], DTYPES.get(reduction or "", ())


def _readably(
    operation: str, pattern: str, reduction: str | None, given: dict[str, int], tensor: Any
) -> Any:
    return _ops.run(operation, tensor, pattern, reduction, given)


def _planner(
    operation: str,
    pattern: str,
    names: tuple[str, ...],
    lengths: tuple[int, ...],
    reduction: str | None,
    recipe: _einrs.Recipe,
) -> Callable[[Shape], Steps | None]:
    """What turns a shape into steps, or into None if the readable way has an error to raise."""
    _, _, split, permute, reduce, expand, merge = recipe
    permuted = None if permute is None else _constant(permute)
    reduced = None if reduce is None else _constant(reduce)

    def steps_for(shape: Shape) -> Steps | None:
        if _einrs.misfit(operation, pattern, names, shape, lengths) is not None:
            return None
        axes = axis_lengths(recipe, shape, lengths)
        if axes is None:
            return None
        steps: list[tuple[Step, Any]] = []
        if split is not None:
            steps.append((_reshape, _constant(sizes(split, axes))))
        if permuted is not None:
            steps.append((_permute, permuted))
        if reduced is not None and reduction is not None:
            steps.append((REDUCTIONS[reduction], reduced))
        if expand is not None:
            steps.append((_expand, _constant(sizes(expand[0], axes))))
        if merge is not None:
            steps.append((_reshape, _constant(sizes(merge, axes))))
        return tuple(steps)

    return steps_for
