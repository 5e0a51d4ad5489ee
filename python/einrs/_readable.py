"""A recipe and anything that multiplies to a tensor: the five steps in plain Python.

It serves what the native replay leaves alone: symbolic sizes, tracers, unknown types of arrays,
callable reductions. It is also what Dynamo traces, so it keeps to code that Dynamo folds: plain
loops over tuples, f-strings, and calls of builtins whose arguments are constants.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from . import _einrs
from ._errors import EinopsError, Refusal, head

Shape = tuple[Any, ...]
Reduction = str | Callable[[Any, tuple[int, ...]], Any]


class Framework(Protocol):
    """What a framework's module provides: the five steps, how it wants them, and what joins.

    A module may have four functions more. `shape_of_rank(tensor, rank)` gives the shape where the
    tensor does not know how many axes it has. `visible(size)` is a size as the caller is to see it,
    where the module computes with symbols of its own. `split(tensor, axis, lengths)` cuts at
    symbols. `fused(function, tensors, *static)` runs a function of `_joins` as one compiled whole.
    """

    LEAN: bool
    """Whether axes are reduced where they stand and moved together, or in einops' order."""

    def shape(self, tensor: Any, /) -> Shape:
        """The sizes, which may be symbols."""

    def reshape(self, tensor: Any, shape: Shape, /) -> Any:
        """The same elements in another shape."""

    def permute(self, tensor: Any, axes: tuple[int, ...], /) -> Any:
        """The axes in another order."""

    def reduce(self, tensor: Any, name: str, axes: tuple[int, ...], /) -> Any:
        """The tensor without the given axes."""

    def expand(self, tensor: Any, shape: Shape, added: tuple[int, ...], /) -> Any:
        """The tensor with new axes at the given positions, so that it has this shape."""

    def stack(self, tensors: list[Any], /) -> Any:
        """The tensors along a new first axis."""

    def concat(self, tensors: list[Any], axis: int, /) -> Any:
        """The tensors one after the other along an axis."""

    def einsum(self, pattern: str, /, *tensors: Any) -> Any:
        """The framework's own einsum, for a pattern in single letters."""

    def to_numpy(self, tensor: Any, /) -> Any:
        """The values as an `ndarray`."""


def shape_of(framework: Framework, tensor: Any, rank: Callable[[], int | None]) -> Shape:
    """The sizes of a tensor, for which some frameworks ask how many there are.

    Args:
        framework: the module that knows the tensor's type.
        tensor: the tensor.
        rank: says how many dimensions the pattern describes, or None if an ellipsis leaves that
            open.

    """
    described = getattr(framework, "shape_of_rank", None)
    return framework.shape(tensor) if described is None else tuple(described(tensor, rank()))


def steps(
    operation: str,
    pattern: str,
    names: tuple[str, ...],
    shape: Shape,
    given: tuple[Any, ...],
    lean: bool,
) -> tuple[Refusal | None, Any]:
    """What `_einrs.steps` finds for integers, for anything that multiplies.

    Returns:
        None and (split, permute, reduce, expand, merge), in which an idle step is None; or a
        refusal and None.

    """
    refusal, recipe = _einrs.recipe(operation, pattern, names, len(shape), lean)
    if refusal is not None:
        return refusal, None
    axes = axis_lengths(recipe, shape, given)
    if axes is None:
        return misfit(operation, pattern, names, shape, given), None
    _, _, split, permute, reduce, expand, merge = recipe
    return None, (
        None if split is None else sizes(split, axes),
        permute,
        reduce,
        None if expand is None else (sizes(expand[0], axes), expand[1]),
        None if merge is None else sizes(merge, axes),
    )


def replay(
    framework: Framework,
    operation: str,
    tensor: Any,
    shape: Shape,
    pattern: str,
    reduction: Reduction | None,
    lengths: dict[str, Any],
    find: Callable[..., tuple[Refusal | None, Any]] = steps,
) -> Any:
    """Replays a pattern on a tensor that `framework` owns.

    Args:
        framework: the module that knows the tensor's type.
        operation: "rearrange", "reduce" or "repeat".
        tensor: the tensor; lists are stacked before.
        shape: its sizes, as `framework.shape` gives them.
        pattern: the pattern.
        reduction: for "reduce", a name or a callable.
        lengths: lengths of axes: ints, or symbols that multiply.
        find: `steps`, or a function that does the same.

    Raises:
        EinopsError: the pattern or the sizes are refused.

    """
    called = operation if reduction is None else reduction
    # A callable sees the axes as einops shows them: each by itself, the reduced ones last.
    lean = framework.LEAN and not callable(reduction)
    names, given = tuple(lengths), tuple(lengths.values())
    refusal, found = find(operation, pattern, names, shape, given, lean)
    if refusal is not None:
        raise refused(refusal, called, pattern, shape, lengths)
    split, permute, reduce, expand, merge = found
    if split is not None:
        tensor = framework.reshape(tensor, split)
    if permute is not None:
        tensor = framework.permute(tensor, permute)
    if reduce is not None and callable(reduction):
        tensor = reduction(tensor, reduce)
    elif reduce is not None and isinstance(reduction, str):
        tensor = framework.reduce(tensor, reduction, reduce)
    if expand is not None:
        tensor = framework.expand(tensor, *expand)
    if merge is not None:
        tensor = framework.reshape(tensor, merge)
    return tensor


def axis_lengths(recipe: _einrs.Recipe, shape: Shape, given: tuple[Any, ...]) -> list[Any] | None:
    """The length of each elementary axis, or None if the sizes do not fit the pattern.

    Only integers are checked: a symbol is not known to be wrong.
    """
    lengths: list[Any] = []
    for length in recipe[0]:
        if isinstance(length, tuple):
            length = given[length[1]]
            if isinstance(length, int) and length < 0:
                return None
        lengths.append(length)
    for size, (first, count, inferred) in zip(shape, recipe[1], strict=True):
        if count == 1 and inferred is not None:
            lengths[first] = size
            continue
        known = [lengths[axis] for axis in range(first, first + count) if axis != inferred]
        length = quotient(size, product(known), inferred is not None)
        if length is None:
            return None
        if inferred is not None:
            lengths[inferred] = length
    return lengths


def quotient(size: Any, known: Any, divides: bool) -> Any | None:
    """`size // known`, or `size` itself if all is known; None if the two do not fit."""
    checkable = isinstance(size, int) and isinstance(known, int)
    if not divides:
        return None if checkable and size != known else size
    if checkable and (known == 0 or size % known != 0):
        return None
    # Dividing by 1 would leave a node in a traced graph.
    return size if isinstance(known, int) and known == 1 else size // known


def sizes(factors: tuple[tuple[int, ...], ...], axes: list[Any]) -> Shape:
    """The sizes that lists of axes multiply to."""
    return tuple([product([axes[axis] for axis in dim]) for dim in factors])


def product(lengths: list[Any]) -> Any:
    """The product; it starts with the first factor, since 1 * symbol is one node more."""
    if not lengths:
        return 1
    result = lengths[0]
    for length in lengths[1:]:
        result = result * length
    return result


def misfit(
    operation: str, pattern: str, names: tuple[str, ...], shape: Shape, given: tuple[Any, ...]
) -> Refusal:
    """Why the sizes do not fit. Symbols that have been compared are as good as their values."""
    unexplained = "Misfit", f"sizes {shape} and lengths {given} do not fit the pattern", ()
    try:
        numbers = tuple([int(size) for size in shape])
        lengths = tuple([int(length) for length in given])
        refusal = _einrs.misfit(operation, pattern, names, numbers, lengths)
    except Exception:
        # A symbol without a value, such as a jagged dimension, next to sizes that do not fit; or
        # one that a trace leaves open.
        return unexplained
    return unexplained if refusal is None else refusal


def refused(
    refusal: Refusal, called: object, pattern: str, shape: object, lengths: dict[str, Any]
) -> EinopsError:
    """The exception for a refusal of the core."""
    kind, message, spans = refusal
    return EinopsError(f"{head(called, pattern, shape, lengths)}\n {message}", kind, pattern, spans)
