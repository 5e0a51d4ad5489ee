"""A pattern and lengths to a layer of no framework: checks, what is printed, pickled and called.

A framework's layer is one of these classes and the framework's own, and hands its input to
`_apply_recipe` or to the builtin that this one calls.
"""

from __future__ import annotations

from typing import Any, SupportsIndex

from .. import _einrs, _errors, _ops
from .._errors import EinopsError, EinopsTypeError


class PatternLayer:
    """What all layers share.

    Attributes:
        pattern: the pattern.
        axes_lengths: the lengths that were given, by name.

    """

    pattern: str
    _names: tuple[str, ...]
    _given: tuple[Any, ...]

    @property
    def axes_lengths(self) -> dict[str, Any]:
        """The lengths that were given, by name."""
        return dict(zip(self._names, self._given, strict=True))

    def __repr__(self) -> str:
        return described(type(self).__name__, self._texts(), self.axes_lengths)

    def __str__(self) -> str:
        return repr(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Takes what pickle saved, also of a layer of einops.

        Raises:
            EinopsError: it is no state of a layer.

        """
        if "pattern" not in state and not hasattr(self, "pattern"):
            raise EinopsError(
                f"this pickle of {type(self).__name__} holds no pattern: "
                "build the layer anew; if it has weights, load its state_dict"
            )
        state = dict(state)
        lengths = state.pop("axes_lengths", None)
        if lengths is not None:
            # einops leaves out what the framework's own constructor sets.
            super().__init__()
            state |= {"_names": tuple(lengths), "_given": tuple(lengths.values())}
        parent = getattr(super(), "__setstate__", self.__dict__.update)
        parent(state)

    def _texts(self) -> tuple[Any, ...]:
        """The arguments before the lengths, as they are printed."""
        return (self.pattern,)


class OperationLayer(PatternLayer):
    """What the layers of one operation share."""

    _operation = "rearrange"

    def _prepare(self, lengths: dict[str, Any]) -> None:
        """Takes the lengths; the texts are there."""
        self._names = tuple(lengths)
        self._given = checked_lengths(type(self).__name__, self._texts(), self._verb(), lengths)

    def _verb(self) -> Any:
        """The operation, or the reduction of a layer that has one."""
        return getattr(self, "reduction", self._operation)

    def multirecipe(self) -> dict[int, Any]:
        """The recipes of einops, by rank, for programs that use them.

        Raises:
            EinopsError: the pattern or the names are refused.

        """
        from ..compat.recipes import _prepare_recipes_for_all_dims

        return _prepare_recipes_for_all_dims(self.pattern, self._verb(), self._names)

    def recipe(self) -> Any:
        """The recipe for the lowest rank that the pattern takes, as einops up to 0.6 had it."""
        recipes = self.multirecipe()
        return recipes[min(recipes)]

    @property
    def _multirecipe(self) -> dict[int, Any]:
        return self.multirecipe()

    @property
    def _axes_lengths(self) -> tuple[tuple[str, Any], ...]:
        return tuple(self.axes_lengths.items())


class RearrangeMixin(OperationLayer):
    """`einrs.rearrange` as a layer of no framework.

    Args:
        pattern: the pattern.
        axes_lengths: lengths of axes.

    Raises:
        EinopsError: no input would fit, for the pattern or the lengths are refused.

    Examples:
        >>> import numpy as np
        >>> from einrs.layers import RearrangeMixin
        >>> layer = RearrangeMixin("b (h d) -> h b d", h=2)
        >>> layer
        RearrangeMixin('b (h d) -> h b d', h=2)
        >>> layer._apply_recipe(np.zeros((3, 8))).shape
        (2, 3, 4)

    """

    def __init__(self, pattern: str, **axes_lengths: SupportsIndex) -> None:
        super().__init__()
        self.pattern = pattern
        self._prepare(axes_lengths)

    def _apply_recipe(self, x: Any) -> Any:
        """The result for a tensor, or for a list of tensors."""
        return _einrs.layer_rearrange(x, self.pattern, self._names, self._given)


class RepeatMixin(OperationLayer):
    """`einrs.repeat` as a layer of no framework.

    Args:
        pattern: the pattern.
        axes_lengths: lengths of axes, among them all that only the right side has.

    Raises:
        EinopsError: no input would fit, for the pattern or the lengths are refused.

    Examples:
        >>> import numpy as np
        >>> from einrs.layers import RepeatMixin
        >>> RepeatMixin("a -> a b", b=2)._apply_recipe(np.arange(3)).shape
        (3, 2)

    """

    _operation = "repeat"

    def __init__(self, pattern: str, **axes_lengths: SupportsIndex) -> None:
        super().__init__()
        self.pattern = pattern
        self._prepare(axes_lengths)

    def _apply_recipe(self, x: Any) -> Any:
        """The result for a tensor, or for a list of tensors."""
        return _einrs.layer_repeat(x, self.pattern, self._names, self._given)


class ReduceMixin(OperationLayer):
    """`einrs.reduce` as a layer of no framework.

    Args:
        pattern: the pattern.
        reduction: a name, a callable of a tensor and a tuple of axes, or "repeat".
        axes_lengths: lengths of axes.

    Raises:
        EinopsError: no input would fit, for the pattern, the lengths or the reduction are refused.

    Examples:
        >>> import numpy as np
        >>> from einrs.layers import ReduceMixin
        >>> ReduceMixin("a (b 2) -> a b", "sum")._apply_recipe(np.ones((1, 6)))
        array([[2., 2., 2.]])

    """

    reduction: _einrs.Reduction

    def __init__(
        self, pattern: str, reduction: _einrs.Reduction, **axes_lengths: SupportsIndex
    ) -> None:
        super().__init__()
        self.pattern = pattern
        self.reduction = reduction
        self._prepare(axes_lengths)

    def _texts(self) -> tuple[Any, ...]:
        return (self.pattern, self.reduction)

    def _apply_recipe(self, x: Any) -> Any:
        """The result for a tensor, or for a list of tensors."""
        return _einrs.layer_reduce(x, self.pattern, self._names, self._given, self.reduction)


def described(name: str, texts: tuple[Any, ...], lengths: dict[str, Any]) -> str:
    """A layer as the call that builds it."""
    arguments = [repr(text) for text in texts]
    return f"{name}({', '.join(arguments + [f'{axis}={n}' for axis, n in lengths.items()])})"


def operation_of(called: Any) -> str:
    """The operation that a layer does: `Reduce` may be told to repeat, as the function may."""
    return called if isinstance(called, str) and called in _ops.OPERATIONS else "reduce"


def checked_lengths(
    name: str, texts: tuple[Any, ...], called: Any, lengths: dict[str, Any]
) -> tuple[Any, ...]:
    """The lengths as a layer keeps them: exact integers, and symbols as they are.

    Args:
        name: of the layer's class.
        texts: the arguments before the lengths, the pattern first.
        called: the operation, or for a reduction its name or a callable.
        lengths: the lengths.

    Raises:
        EinopsError: no input would fit.

    """
    pattern, operation = texts[0], operation_of(called)
    try:
        _check_texts(called, pattern, lengths)
        if operation == "reduce":
            _check_reduction(called, pattern)
        refusal, ndim = smallest_rank(operation, pattern, tuple(lengths))
        if refusal is not None:
            raise refused(refusal, pattern)
        given = integers(pattern, lengths)
        _check_signs(operation, pattern, tuple(lengths), given, ndim)
    except EinopsError as error:
        raise not_prepared(error, described(name, texts, lengths)) from None
    return given


def refused(refusal: _errors.Refusal, pattern: str) -> EinopsError:
    """The exception for a refusal of the core, without the facts about an input."""
    kind, message, spans = refusal
    return EinopsError(message, kind, pattern, spans)


def not_prepared(error: EinopsError, layer: str) -> EinopsError:
    """An error of the same class whose first line, einops' own, names the layer."""
    message = f" Error while preparing {layer}\n {error}"
    return type(error)(message, error.kind, error.pattern, error.spans)


def integers(pattern: str, lengths: dict[str, Any]) -> tuple[Any, ...]:
    """The lengths as exact integers.

    Raises:
        EinopsError: one of them is neither an integer nor a symbol.

    """
    return tuple([_ops._length(pattern, name, length) for name, length in lengths.items()])


def smallest_rank(
    operation: str, pattern: str, names: tuple[str, ...]
) -> tuple[_errors.Refusal | None, int]:
    """The least number of dimensions that a pattern takes, and what the core refuses besides."""
    ndim = 0
    while True:
        refusal, _ = _einrs.recipe(operation, pattern, names, ndim, False)
        if refusal is None or refusal[0] != "WrongRank":
            return refusal, ndim
        ndim += 1


def _check_texts(called: Any, pattern: Any, lengths: dict[str, Any]) -> None:
    if not isinstance(pattern, str):
        raise _errors.pattern_type(called, pattern)
    for text in (pattern, *lengths):
        if not _ops._is_unicode(text):
            raise _errors.lone_surrogate(text, called, pattern, None, lengths)


def _check_reduction(reduction: Any, pattern: str) -> None:
    if not isinstance(reduction, str):
        if not callable(reduction):
            raise _errors.reduction_type(reduction, pattern)
        return
    if reduction in _ops.REDUCTIONS:
        return
    if not _ops._is_unicode(reduction):
        raise EinopsTypeError(f"Unknown reduction {reduction!a}: half of a surrogate pair")
    raise refused(_einrs.unknown_reduction(pattern, reduction), pattern)


def _check_signs(
    operation: str, pattern: str, names: tuple[str, ...], given: tuple[Any, ...], ndim: int
) -> None:
    if not any(isinstance(length, int) and length < 0 for length in given):
        return
    numbers = tuple([length if isinstance(length, int) else 1 for length in given])
    refusal = _einrs.misfit(operation, pattern, names, (1,) * ndim, numbers)
    if refusal is not None:
        raise refused(refusal, pattern)
