"""tensorflow's tensors and variables: raw operations for eager ones, few nodes in graphs."""

from __future__ import annotations

import sys
from typing import Any

from .. import _einrs
from .._errors import EinopsError, EinopsTypeError, EinopsValueError, not_floating
from .._readable import Shape
from . import _tf_eager
from ._dims import Dim, open_shape, value, with_inferred

tf = sys.modules["tensorflow"]

LEAN = False
"""As einops: each split is a reshape of its own, which checks sizes when a graph runs."""


class GraphDim(Dim):
    """An open size that tensorflow takes for a tensor, as an end of a slice must be."""

    dtype = tf.int32
    shape = tf.TensorShape(())

    def operand(self, size: Any) -> Any:
        """Sizes are of one dtype, while a length may be a tensor of another."""
        return _integer(value(size))

    def __tf_tensor__(self, dtype: Any = None, name: Any = None) -> Any:
        """The size as a tensor, for tensorflow's own conversion."""
        return tf.cast(self.value(), dtype or tf.int32)


def owns(kind: type) -> bool:
    """Whether a type is a tensor or a variable; ragged and sparse tensors are neither."""
    return issubclass(kind, (tf.Tensor, tf.Variable))


def is_symbol(length: Any) -> bool:
    """Tensors without a value, open sizes, and variables, whose value may change."""
    return isinstance(length, (tf.Tensor, tf.Variable, Dim)) and not _has_value(length)


def shape(tensor: Any) -> Shape:
    """The sizes: integers where they are known, so that a 0 stays 0 and is no symbol."""
    static = tensor.shape
    if not static.is_fully_defined() and tf.executing_eagerly():
        # A variable may have been declared with a wider shape than its value has.
        static = tf.convert_to_tensor(tensor).shape
    if static.rank is None:
        raise EinopsValueError("the tensor's rank is unknown: call its set_shape or ensure_shape")
    sizes = static.as_list()
    if None not in sizes:
        return tuple(sizes)
    return open_shape(tensor, sizes, _measured, GraphDim)


def visible(size: Any) -> Any:
    """A size as it is handed to the caller: an open one as a tensor."""
    return value(size)


def reshape(tensor: Any, shape: Shape) -> Any:
    """By -1 where that is sound, else by a shape that the graph computes."""
    inferred = with_inferred(shape)
    return tf.reshape(tensor, _packed(shape) if inferred is None else inferred)


def permute(tensor: Any, axes: tuple[int, ...]) -> Any:
    """One transpose."""
    return tf.transpose(tensor, axes)


def reduce(tensor: Any, name: str, axes: tuple[int, ...]) -> Any:
    """By the function that einops calls, which refuses `any` and `all` of numbers."""
    if name == "mean" and tensor.dtype not in _tf_eager.FLOATING:
        raise not_floating(tensor.dtype)
    return getattr(tf, f"reduce_{name}")(tensor, axis=axes)


def expand(tensor: Any, shape: Shape, added: tuple[int, ...]) -> Any:
    """By `tile`, which those that convert graphs know."""
    for axis in added:
        tensor = tf.expand_dims(tensor, axis)
    counts = tuple([shape[i] if i in added else 1 for i in range(len(shape))])
    return tf.tile(tensor, _packed(counts))


def stack(tensors: list[Any]) -> Any:
    """Along a new first axis."""
    return tf.stack(tensors)


def concat(tensors: list[Any], axis: int) -> Any:
    """One after the other."""
    return tf.concat(tensors, axis)


def split(tensor: Any, axis: int, lengths: list[Any]) -> list[Any]:
    """Pieces of these lengths, of which one may be -1; the graph checks that they fill the axis."""
    if not lengths:
        return []
    # A single piece is not checked: an empty one beside it makes two.
    several = lengths if len(lengths) > 1 else [*lengths, 0]
    pieces: list[Any] = tf.split(tensor, _packed(tuple(several)), axis, len(several))
    return pieces[: len(lengths)]


def einsum(pattern: str, *tensors: Any) -> Any:
    """By `tf.einsum`."""
    return tf.einsum(pattern, *tensors)


def to_numpy(tensor: Any) -> Any:
    """The values, fetched from the device."""
    if not _has_value(tensor) and not tf.executing_eagerly():
        raise EinopsError("a tensor has no values while a graph is built")
    return tensor.numpy()


def _has_value(tensor: Any) -> bool:
    """Whether it is an eager tensor: tensors of a graph have no such method."""
    return isinstance(tensor, tf.Tensor) and hasattr(tensor, "numpy")


def _measured(tensor: Any) -> Any:
    """All sizes, by two nodes."""
    return tf.unstack(tf.shape(tensor))


def _packed(shape: Shape) -> Any:
    """A shape as tensorflow's functions take it."""
    if all(isinstance(size, int) for size in shape):
        return shape
    return tf.stack([_integer(value(size)) for size in shape])


def _integer(size: Any) -> Any:
    """A size in the dtype of measured ones; lengths may be tensors of other integer dtypes."""
    if isinstance(size, int):
        return size
    if not size.dtype.is_integer:
        raise EinopsTypeError(f"a length must be an integer, not a tensor of {size.dtype.name}")
    return tf.cast(size, tf.int32)


_einrs.register_steps(
    (_tf_eager.EAGER,),
    _tf_eager.program,
    reduce_in_place=True,
    fold_new_axes=True,
    keyed_by_lengths=True,
    binds_shape=True,
)
_einrs.register_joins(
    _tf_eager.EAGER,
    reshape=tf.reshape,
    concat=tf.concat,
    einsum=lambda letters: (tf.einsum, (letters,)),
    to_numpy=to_numpy,
)
