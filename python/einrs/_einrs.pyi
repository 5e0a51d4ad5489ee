"""Types of the compiled extension.

Type checkers read this file and nothing runs it, so it may import numpy: where numpy is not
installed its names mean Any.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, Protocol, SupportsIndex, TypeAlias, TypeVar, overload

import numpy as np
from typing_extensions import Never

__all__: list[str]
__version__: str

class _HasShape(Protocol):
    """What every tensor has, and no tuple, list or number."""

    @property
    def shape(self) -> Any: ...

_DType = TypeVar("_DType", bound=np.dtype[Any])
_DType_co = TypeVar("_DType_co", bound=np.dtype[Any], covariant=True)
_Inexact = TypeVar("_Inexact", bound=np.dtype[np.inexact[Any]])

class _Ndarray(Protocol[_DType_co]):
    """`numpy.ndarray`, by an attribute that only it has.

    An overload for the class itself would match every tensor where numpy is not installed.
    """

    @property
    def ctypes(self) -> Any: ...
    @property
    def dtype(self) -> _DType_co: ...

_Item_co = TypeVar("_Item_co", covariant=True)

class _List(Protocol[_Item_co]):
    """A list that is only read, so that a list of a subclass is one as well."""

    def __iter__(self) -> Iterator[_Item_co]: ...
    def pop(self, index: SupportsIndex = -1, /) -> _Item_co: ...

_Tensor = TypeVar("_Tensor", bound=_HasShape)
_Array = TypeVar("_Array", bound=_Ndarray[Any])
_Result = TypeVar("_Result")

_Arrays: TypeAlias = _Ndarray[_DType] | _List[_Ndarray[_DType]]
# An array of any rank: no pattern is evaluated by a type checker.
_AnyRank: TypeAlias = np.ndarray[tuple[Any, ...], _DType]

_Name: TypeAlias = Literal["min", "max", "sum", "mean", "prod", "any", "all"]
_Reducer: TypeAlias = Callable[[_Tensor, tuple[int, ...]], _Tensor]
# What layers take, which do not know the type of their tensor when they are made.
Reduction: TypeAlias = _Name | Callable[[Any, tuple[int, ...]], Any]
_Shape: TypeAlias = tuple[int, ...]
# Integers of any kind, symbolic ones and tensors that hold one; not floats and None.
_Length: TypeAlias = SupportsIndex

# The first overload of each operation is for Any and a list of Any, which give Any back. They match
# the others as well, and of overloads that all match pyright may take the first.

@overload
def rearrange(tensor: _List[Never], pattern: str, **axes_lengths: _Length) -> Any: ...
@overload
def rearrange(
    tensor: _Arrays[_DType], pattern: str, **axes_lengths: _Length
) -> _AnyRank[_DType]: ...
@overload
def rearrange(tensor: _List[_Tensor], pattern: str, **axes_lengths: _Length) -> _Tensor: ...
@overload
def rearrange(tensor: _Tensor, pattern: str, **axes_lengths: _Length) -> _Tensor: ...
@overload
def reduce(
    tensor: _List[Never],
    pattern: str,
    reduction: Reduction,
    **axes_lengths: _Length,
) -> Any: ...
@overload
def reduce(
    tensor: _Arrays[_DType], pattern: str, reduction: Literal["min", "max"], **axes_lengths: _Length
) -> _AnyRank[_DType]: ...
@overload
def reduce(
    tensor: _Arrays[_Inexact],
    pattern: str,
    reduction: Literal["sum", "mean", "prod"],
    **axes_lengths: _Length,
) -> _AnyRank[_Inexact]: ...
@overload
def reduce(
    tensor: _Arrays[_DType], pattern: str, reduction: Literal["any", "all"], **axes_lengths: _Length
) -> _AnyRank[np.dtype[np.bool_]]: ...
@overload
def reduce(
    tensor: _Arrays[_DType],
    pattern: str,
    reduction: _Name | Callable[[_AnyRank[_DType], tuple[int, ...]], Any],
    **axes_lengths: _Length,
) -> _AnyRank[np.dtype[Any]]: ...
@overload
def reduce(
    tensor: _List[_Tensor],
    pattern: str,
    reduction: _Name | _Reducer[_Tensor],
    **axes_lengths: _Length,
) -> _Tensor: ...
@overload
def reduce(
    tensor: _Tensor,
    pattern: str,
    reduction: _Name | _Reducer[_Tensor],
    **axes_lengths: _Length,
) -> _Tensor: ...
@overload
def repeat(tensor: _List[Never], pattern: str, **axes_lengths: _Length) -> Any: ...
@overload
def repeat(tensor: _Arrays[_DType], pattern: str, **axes_lengths: _Length) -> _AnyRank[_DType]: ...
@overload
def repeat(tensor: _List[_Tensor], pattern: str, **axes_lengths: _Length) -> _Tensor: ...
@overload
def repeat(tensor: _Tensor, pattern: str, **axes_lengths: _Length) -> _Tensor: ...

# From three tensors on, the place of the pattern is not checked: mypy 2.4 crashes on a `*list` that
# meets the exact type, a tuple of tensors and a str.
@overload
def einsum(tensor: Never, /, *tensors_and_pattern: str) -> Any: ...
@overload
def einsum(tensor: _Ndarray[_DType], pattern: str, /) -> _AnyRank[_DType]: ...
@overload
def einsum(
    tensor1: _Ndarray[_DType], tensor2: _Ndarray[_DType], pattern: str, /
) -> _AnyRank[_DType]: ...
@overload
def einsum(
    tensor1: _Ndarray[_DType],
    tensor2: _Ndarray[_DType],
    tensor3: _Ndarray[_DType],
    /,
    *tensors_and_pattern: _Ndarray[_DType] | str,
) -> _AnyRank[_DType]: ...
@overload
def einsum(tensor: _Tensor, pattern: str, /) -> _Tensor: ...
@overload
def einsum(tensor1: _Tensor, tensor2: _Tensor, pattern: str, /) -> _Tensor: ...
@overload
def einsum(
    tensor1: _Tensor, tensor2: _Tensor, tensor3: _Tensor, /, *tensors_and_pattern: _Tensor | str
) -> _Tensor: ...
@overload
def pack(tensors: Iterable[Never], pattern: str) -> tuple[Any, list[_Shape]]: ...
@overload
def pack(
    tensors: Iterable[_Ndarray[_DType]], pattern: str
) -> tuple[_AnyRank[_DType], list[_Shape]]: ...
@overload
def pack(tensors: Iterable[_Tensor], pattern: str) -> tuple[_Tensor, list[_Shape]]: ...
@overload
def unpack(
    tensor: Never, packed_shapes: Iterable[Iterable[_Length]], pattern: str
) -> list[Any]: ...
@overload
def unpack(
    tensor: _Ndarray[_DType], packed_shapes: Iterable[Iterable[_Length]], pattern: str
) -> list[_AnyRank[_DType]]: ...
@overload
def unpack(
    tensor: _Tensor, packed_shapes: Iterable[Iterable[_Length]], pattern: str
) -> list[_Tensor]: ...
def parse_shape(x: _HasShape, pattern: str) -> dict[str, int]: ...
@overload
def asnumpy(tensor: _Array) -> _Array: ...
@overload
def asnumpy(tensor: _HasShape) -> _AnyRank[np.dtype[Any]]: ...

# For layers: `rearrange(tensor, pattern, **dict(zip(names, lengths)))` and so on. A layer says
# itself what its tensors are.

def layer_rearrange(
    tensor: Any, pattern: str, names: tuple[str, ...], lengths: tuple[_Length, ...]
) -> Any: ...
def layer_repeat(
    tensor: Any, pattern: str, names: tuple[str, ...], lengths: tuple[_Length, ...]
) -> Any: ...
def layer_reduce(
    tensor: Any,
    pattern: str,
    names: tuple[str, ...],
    lengths: tuple[_Length, ...],
    reduction: str | Callable[..., Any],
) -> Any: ...

# What the core says of patterns and sizes.

# Kind, message, and the places in the pattern, counted in characters.
_Refusal: TypeAlias = tuple[str, str, tuple[tuple[int, int], ...]]

# `(None, answer)` or `(refusal, None)`: callers raise the refusal before they touch the answer, but
# a checker does not connect the two once they have names.
_Answer: TypeAlias = tuple[_Refusal | None, _Result]

_Axes: TypeAlias = tuple[int, ...]
_Factors: TypeAlias = tuple[_Axes, ...]

# Lengths (fixed, ("given", i), or None if inferred); inputs (first axis, how many, the inferred
# one); split; permute; reduce; expand (sizes, new dimensions); merge. An idle step is None.
Recipe: TypeAlias = tuple[
    tuple[int | tuple[str, int] | None, ...],
    tuple[tuple[int, int, int | None], ...],
    _Factors | None,
    _Axes | None,
    _Axes | None,
    tuple[_Factors, _Axes] | None,
    _Factors | None,
]

# Split, permute, reduce, expand (shape, new dimensions), merge. An idle step is None.
_Steps: TypeAlias = tuple[
    _Axes | None, _Axes | None, _Axes | None, tuple[_Axes, _Axes] | None, _Axes | None
]

# Rearrangement before, rearrangement after, einsum, axes of the weight, axes that are summed over,
# and the axes of the bias, None where it has length 1.
_EinMix: TypeAlias = tuple[
    str | None,
    str | None,
    str,
    tuple[str, ...],
    tuple[str, ...],
    tuple[str | None, ...] | None,
]

def recipe(
    op: str, pattern: str, names: Sequence[str], ndim: int, lean: bool
) -> _Answer[Recipe]: ...
def steps(
    op: str,
    pattern: str,
    names: Sequence[str],
    shape: Sequence[int],
    lengths: Sequence[int],
    lean: bool,
) -> _Answer[_Steps]: ...
def misfit(
    op: str, pattern: str, names: Sequence[str], shape: Sequence[int], lengths: Sequence[int]
) -> _Refusal | None: ...
def bad_length(pattern: str, name: str, given: str, huge: bool) -> _Refusal: ...
def unknown_reduction(pattern: str, name: str) -> _Refusal: ...
def rank(pattern: str) -> _Answer[tuple[int, bool]]: ...
def einsum_letters(pattern: str) -> _Answer[str]: ...
def einsum_misfit(pattern: str, shapes: Sequence[Sequence[int]]) -> _Refusal | None: ...
def packing(pattern: str) -> _Answer[tuple[int, int]]: ...
def pack_misfit(pattern: str, shapes: Sequence[Sequence[int]]) -> _Refusal | None: ...
def unpacked(
    pattern: str, shape: Sequence[int], packed: Sequence[Sequence[int]]
) -> _Answer[tuple[tuple[int, int, int], ...]]: ...
def shape_names(
    pattern: str, ndim: int
) -> _Answer[tuple[tuple[tuple[int, str], ...], tuple[tuple[int, int], ...]]]: ...
def shape_misfit(pattern: str, shape: Sequence[int]) -> _Refusal | None: ...
def einmix(
    pattern: str, weight: str, bias: str | None, names: Sequence[str]
) -> _Answer[_EinMix]: ...

# What the modules of frameworks tell the warm path.

# A callable and its second argument, in order, and the dtypes that they are for.
_Program: TypeAlias = tuple[list[tuple[Callable[..., Any], Any]], tuple[Any, ...]]

def register_numpy(
    kind: type,
    api: object,
    reductions: dict[str, Callable[..., Any]],
    divide: Callable[..., Any],
) -> None: ...
def register_steps(
    types: tuple[type, ...],
    program: Callable[[str, str, tuple[str, ...], tuple[int, ...], str | None, Recipe], _Program],
    reduce_in_place: bool,
    fold_new_axes: bool,
    keyed_by_lengths: bool,
    binds_shape: bool = False,
) -> None: ...
def register_joins(
    kind: type,
    reshape: Callable[..., Any] | None,
    concat: Callable[..., Any] | None,
    einsum: Callable[[str], tuple[Callable[..., Any], tuple[Any, ...]]],
    to_numpy: Callable[[Any], Any],
) -> None: ...
def leave_to_python(kind: type) -> None: ...
def cache_info() -> tuple[int, int, int, int]: ...
def cache_clear() -> None: ...
def _panic() -> None: ...
