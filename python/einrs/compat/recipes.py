"""A pattern to einops' recipe, a recipe and a shape to the five steps, and those to a tensor.

The core reads the pattern and refuses it; what it says is put into einops' fields here. The class
and `_reconstruct_from_shape_uncached` keep to what TorchScript compiles.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

from .. import _einrs, _errors
from .._errors import EinopsError
from .._ops import OPERATIONS, REDUCTIONS
from .expressions import ParsedExpression

Tensor = TypeVar("Tensor")
ReductionCallable = Callable[[Tensor, tuple[int, ...]], Tensor]
Reduction = str | Callable[[Any, tuple[int, ...]], Any]
Size = Any
np_ndarray = Any
HashableAxesLengths = tuple[tuple[str, int], ...]
FakeHashableAxesLengths = list[tuple[str, int]]
CookedRecipe = tuple[
    list[int] | None, list[int] | None, list[int], dict[int, int], list[int] | None, int
]
"""First shape, order of axes, reduced axes, new axes (position to length), last shape, and the
number of axes between the two shapes; None for a step that is idle."""

_reductions = REDUCTIONS

_unknown_axis_length = -999999
"""Stands for a length that the shape tells."""

_expected_axis_length = -99999
"""Stands for a length that the call gives."""


class TransformRecipe:
    """What einops does for a pattern, names and a rank, in indices of elementary axes.

    Elementary axes are counted through the left side, then come those that only the right has.

    Attributes:
        elementary_axes_lengths: a length that the pattern holds, or one of the two numbers above.
        axis_name2elementary_axis: each name whose length the call gives.
        input_composition_known_unknown: for each dimension the axes whose lengths are known, and
            the one whose length is inferred.
        axes_permutation: the axes of the left side as they are transposed, the reduced ones last.
        first_reduced_axis: where the reduced axes start in it.
        added_axes: position among the transposed axes to new elementary axis.
        output_composite_axes: the axes of each dimension of the result.

    """

    def __init__(
        self,
        elementary_axes_lengths: list[int],
        axis_name2elementary_axis: dict[str, int],
        input_composition_known_unknown: list[tuple[list[int], list[int]]],
        axes_permutation: list[int],
        first_reduced_axis: int,
        added_axes: dict[int, int],
        output_composite_axes: list[list[int]],
    ) -> None:
        self.elementary_axes_lengths: list[int] = elementary_axes_lengths
        self.axis_name2elementary_axis: dict[str, int] = axis_name2elementary_axis
        self.input_composition_known_unknown: list[tuple[list[int], list[int]]] = (
            input_composition_known_unknown
        )
        self.axes_permutation: list[int] = axes_permutation
        self.first_reduced_axis: int = first_reduced_axis
        self.added_axes: dict[int, int] = added_axes
        self.output_composite_axes: list[list[int]] = output_composite_axes


def _reconstruct_from_shape_uncached(
    self: TransformRecipe, shape: list[int], axes_dims: FakeHashableAxesLengths
) -> CookedRecipe:
    """The five steps for a shape and pairs of names and lengths, all of which may be symbols.

    Raises:
        EinopsError: the sizes do not fit.

    """
    lengths = _elementary_lengths(self, shape, axes_dims)
    n_left = len(self.axes_permutation)
    needs_split = False
    for known, unknown in self.input_composition_known_unknown:
        if len(known) + len(unknown) != 1:
            needs_split = True
    final: list[int] = []
    needs_merge = False
    for axes in self.output_composite_axes:
        final.append(_product([lengths[axis] for axis in axes]))
        if len(axes) != 1:
            needs_merge = True
    added: dict[int, int] = {}
    for position, axis in self.added_axes.items():
        added[position] = lengths[axis]
    keeps_order = self.axes_permutation == list(range(n_left))
    return (
        lengths[:n_left] if needs_split else None,
        None if keeps_order else self.axes_permutation,
        list(range(self.first_reduced_axis, n_left)),
        added,
        final if needs_merge else None,
        len(added) + n_left,
    )


def _elementary_lengths(
    self: TransformRecipe, shape: list[int], axes_dims: FakeHashableAxesLengths
) -> list[int]:
    """The length of each elementary axis."""
    lengths: list[int] = list(self.elementary_axes_lengths)
    for name, length in axes_dims:
        lengths[self.axis_name2elementary_axis[name]] = length
    for dimension, (known, unknown) in enumerate(self.input_composition_known_unknown):
        size = shape[dimension]
        if len(known) == 0 and len(unknown) == 1:
            lengths[unknown[0]] = size
            continue
        product = _product([lengths[axis] for axis in known])
        checkable = isinstance(size, int) and isinstance(product, int)
        if len(unknown) == 0:
            if checkable and size != product:
                raise EinopsError(f"Shape mismatch, {size} != {product}")
            continue
        if checkable and (product == 0 or size % product != 0):
            raise EinopsError(
                f"Shape mismatch, can't divide axis of length {size} in chunks of {product}"
            )
        lengths[unknown[0]] = size // product
    return lengths


def _product(sequence: list[int]) -> int:
    """The product of numbers or symbols; 1 for an empty list."""
    result = 1
    for element in sequence:
        result = result * element
    return result


_reconstruct_from_shape = lru_cache(1024)(_reconstruct_from_shape_uncached)


@lru_cache(256)
def _prepare_transformation_recipe(
    pattern: str, operation: Reduction, axes_names: tuple[str, ...], ndim: int
) -> TransformRecipe:
    """The recipe for a pattern.

    Args:
        pattern: the pattern.
        operation: "rearrange", "repeat", or a reduction: its name or a callable.
        axes_names: the names whose lengths the call gives.
        ndim: the number of dimensions of the tensor.

    Raises:
        EinopsError: the pattern, the names or the rank are refused.

    Examples:
        >>> from einrs.einops import _prepare_transformation_recipe
        >>> _prepare_transformation_recipe("a b -> b a", "rearrange", (), 2).axes_permutation
        [1, 0]

    """
    if isinstance(operation, str) and operation not in (*OPERATIONS, *REDUCTIONS):
        unknown = _einrs.unknown_reduction(pattern, operation)
        raise _refused(pattern, unknown)
    name = operation if isinstance(operation, str) and operation in OPERATIONS else "reduce"
    refusal, recipe = _einrs.recipe(name, pattern, axes_names, ndim, False)
    if refusal is not None:
        raise _refused(pattern, refusal)
    return _in_fields(recipe, axes_names)


def _refused(pattern: str, refusal: _errors.Refusal) -> EinopsError:
    kind, message, spans = refusal
    return EinopsError(message, kind, pattern, spans)


def _in_fields(recipe: _einrs.Recipe, names: tuple[str, ...]) -> TransformRecipe:
    """The core's recipe, whose steps are in einops' order, as einops' class."""
    lengths, dimensions, _, permute, reduced, expand, merge = recipe
    known_lengths: list[int] = []
    places: dict[str, int] = {}
    for axis, length in enumerate(lengths):
        if isinstance(length, tuple):
            places[names[length[1]]] = axis
            known_lengths.append(_expected_axis_length)
        else:
            known_lengths.append(_unknown_axis_length if length is None else length)
    known_unknown = [
        (
            [axis for axis in range(first, first + count) if axis != inferred],
            [] if inferred is None else [inferred],
        )
        for first, count, inferred in dimensions
    ]
    n_left = sum(count for _, count, _ in dimensions)
    order = list(range(n_left) if permute is None else permute)
    n_kept = n_left - len(reduced or ())
    shown = order[:n_kept] if expand is None else [axes[0] for axes in expand[0]]
    result = [[axis] for axis in shown] if merge is None else [list(axes) for axes in merge]
    return TransformRecipe(
        elementary_axes_lengths=known_lengths,
        axis_name2elementary_axis={name: places[name] for name in names},
        input_composition_known_unknown=known_unknown,
        axes_permutation=order,
        first_reduced_axis=n_kept,
        added_axes={} if expand is None else {place: shown[place] for place in expand[1]},
        output_composite_axes=result,
    )


def _prepare_recipes_for_all_dims(
    pattern: str, operation: Reduction, axes_names: tuple[str, ...]
) -> dict[int, TransformRecipe]:
    """Rank to recipe; a pattern with an ellipsis has eight of them, from none to seven axes.

    Raises:
        EinopsError: the pattern or the names are refused.

    """
    left = ParsedExpression(pattern.partition("->")[0])
    ranks = [len(left.composition)]
    if left.has_ellipsis:
        ranks = [len(left.composition) - 1 + axes for axes in range(8)]
    return {
        ndim: _prepare_transformation_recipe(pattern, operation, axes_names, ndim) for ndim in ranks
    }


def _apply_recipe(
    backend: Any,
    recipe: TransformRecipe,
    tensor: Any,
    reduction_type: Reduction,
    axes_lengths: HashableAxesLengths,
) -> Any:
    """The tensor that a recipe makes, by the methods of a backend.

    Raises:
        EinopsError: the sizes do not fit.

    """
    cooked = _reconstruct_from_shape_uncached(recipe, backend.shape(tensor), list(axes_lengths))
    split, order, reduced, added, merge, n_axes = cooked
    if split is not None:
        tensor = backend.reshape(tensor, split)
    if order is not None:
        tensor = backend.transpose(tensor, order)
    if reduced:
        tensor = _reduce_axes(tensor, reduction_type, reduced, backend)
    if added:
        tensor = backend.add_axes(tensor, n_axes=n_axes, pos2len=added)
    if merge is not None:
        tensor = backend.reshape(tensor, merge)
    return tensor


def _reduce_axes(
    tensor: Any, reduction_type: Reduction, reduced_axes: list[int], backend: Any
) -> Any:
    """The tensor without some axes.

    Raises:
        EinopsError: the mean of numbers that are not floating; also a NotImplementedError.

    """
    axes = tuple(reduced_axes)
    if not isinstance(reduction_type, str):
        return reduction_type(tensor, axes)
    if reduction_type == "mean" and not backend.is_float_type(tensor):
        raise _errors.not_floating(getattr(tensor, "dtype", None))
    return backend.reduce(tensor, reduction_type, axes)


class _Namespace:
    """The functions of an array API namespace as the methods of a backend."""

    def __init__(self, xp: Any) -> None:
        self.xp = xp

    def shape(self, tensor: Any) -> Any:
        return tensor.shape

    def reshape(self, tensor: Any, shape: list[int]) -> Any:
        return self.xp.reshape(tensor, tuple(shape))

    def transpose(self, tensor: Any, axes: list[int]) -> Any:
        return self.xp.permute_dims(tensor, tuple(axes))

    def reduce(self, tensor: Any, name: str, axes: tuple[int, ...]) -> Any:
        return getattr(self.xp, name)(tensor, axis=axes)

    def is_float_type(self, _tensor: Any) -> bool:
        """The standard's own `mean` says which numbers it takes."""
        return True

    def add_axes(self, tensor: Any, n_axes: int, pos2len: dict[int, int]) -> Any:  # noqa: ARG002
        for axis in pos2len:
            tensor = self.xp.expand_dims(tensor, axis=axis)
        shape = [pos2len.get(axis, length) for axis, length in enumerate(tensor.shape)]
        return self.xp.broadcast_to(tensor, tuple(shape))


def _apply_recipe_array_api(
    xp: Any,
    recipe: TransformRecipe,
    tensor: Any,
    reduction_type: Reduction,
    axes_lengths: HashableAxesLengths,
) -> Any:
    """The tensor that a recipe makes, by the functions of an array API namespace.

    Raises:
        EinopsError: the sizes do not fit.

    """
    return _apply_recipe(_Namespace(xp), recipe, tensor, reduction_type, axes_lengths)
