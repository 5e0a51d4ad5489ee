"""The operations for arrays of the array API standard, by the functions of their own namespace.

The main functions take such arrays as well. These differ for an array that einrs serves in another
way, such as numpy's: new axes are broadcast and not copied, and `mean` takes what the namespace's
own `mean` takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .. import _einrs, _errors, _ops, _readable
from .._frameworks import _array_api
from .patterns import Shape as Shape


def reduce(tensor: Any, pattern: str, reduction: _readable.Reduction, **axes_lengths: Any) -> Any:
    """`einrs.reduce` by the functions of the array's namespace.

    Args:
        tensor: an array, or a list of arrays of one shape.
        pattern: the pattern.
        reduction: a name, or a callable of an array and a tuple of axes.
        axes_lengths: lengths of axes.

    Raises:
        EinopsError: the pattern, the sizes or the arguments are refused.

    Examples:
        >>> import numpy as np
        >>> from einrs import array_api
        >>> array_api.reduce(np.arange(6).reshape(2, 3), "a b -> a", "mean")
        array([1., 4.])

    """
    if isinstance(reduction, str) and reduction in _ops.OPERATIONS:
        return _run(reduction, tensor, pattern, None, axes_lengths)
    _ops.check_reduction(tensor, pattern, reduction, axes_lengths)
    return _run("reduce", tensor, pattern, reduction, axes_lengths)


def repeat(tensor: Any, pattern: str, **axes_lengths: Any) -> Any:
    """`einrs.repeat` by the functions of the array's namespace; it may return a view.

    Raises:
        EinopsError: the pattern, the sizes or the arguments are refused.

    Examples:
        >>> import numpy as np
        >>> from einrs import array_api
        >>> array_api.repeat(np.arange(2), "a -> (a b)", b=2)
        array([0, 0, 1, 1])

    """
    return _run("repeat", tensor, pattern, None, axes_lengths)


def rearrange(tensor: Any, pattern: str, **axes_lengths: Any) -> Any:
    """`einrs.rearrange` by the functions of the array's namespace.

    Raises:
        EinopsError: the pattern, the sizes or the arguments are refused.

    Examples:
        >>> import numpy as np
        >>> from einrs import array_api
        >>> array_api.rearrange(np.zeros((2, 3)), "a b -> b a").shape
        (3, 2)

    """
    return _run("rearrange", tensor, pattern, None, axes_lengths)


def pack(tensors: Sequence[Any], pattern: str) -> tuple[Any, list[Any]]:
    """`einrs.pack`: arrays of several shapes to one array, and those shapes.

    Raises:
        EinopsError: the pattern or the shapes are refused.

    """
    return _einrs.pack(tensors, pattern)


def unpack(tensor: Any, packed_shapes: Iterable[Any], pattern: str) -> list[Any]:
    """`einrs.unpack`: an array to the arrays that `pack` made it of.

    Raises:
        EinopsError: the pattern or the shapes are refused.

    """
    return _einrs.unpack(tensor, packed_shapes, pattern)


def asnumpy(tensor: Any) -> Any:
    """The array as an `ndarray`, by DLPack, which shares memory where it can."""
    return _array_api.to_numpy(tensor)


def _run(
    operation: str,
    tensor: Any,
    pattern: Any,
    reduction: _readable.Reduction | None,
    lengths: dict[str, Any],
) -> Any:
    first = tensor[0] if isinstance(tensor, list) and tensor else tensor
    if not (isinstance(first, list) or hasattr(first, "__array_namespace__")):
        called = operation if reduction is None else reduction
        raise _errors.unknown_tensor(first, called, pattern)
    return _ops.run(operation, tensor, pattern, reduction, lengths, _array_api)
