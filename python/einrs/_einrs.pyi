"""Types of the compiled extension."""

from collections.abc import Callable
from typing import Any, Literal, TypeAlias, TypeVar, overload

_Tensor = TypeVar("_Tensor")

_Reduction: TypeAlias = (
    Literal["min", "max", "sum", "mean", "prod", "any", "all"]
    | Callable[[_Tensor, tuple[int, ...]], _Tensor]
)

_Axes: TypeAlias = tuple[int, ...]
_Factors: TypeAlias = tuple[_Axes, ...]
_Refusal: TypeAlias = tuple[str, str, tuple[tuple[int, int], ...]]

Recipe: TypeAlias = tuple[
    tuple[int | tuple[str, int] | None, ...],
    tuple[tuple[int, int, int | None], ...],
    _Factors | None,
    _Axes | None,
    _Axes | None,
    tuple[_Factors, _Axes] | None,
    _Factors | None,
]

__version__: str

@overload
def rearrange(tensor: list[_Tensor], pattern: str, **axes_lengths: Any) -> _Tensor: ...
@overload
def rearrange(tensor: _Tensor, pattern: str, **axes_lengths: Any) -> _Tensor: ...
@overload
def reduce(
    tensor: list[_Tensor], pattern: str, reduction: _Reduction[_Tensor], **axes_lengths: Any
) -> _Tensor: ...
@overload
def reduce(
    tensor: _Tensor, pattern: str, reduction: _Reduction[_Tensor], **axes_lengths: Any
) -> _Tensor: ...
@overload
def repeat(tensor: list[_Tensor], pattern: str, **axes_lengths: Any) -> _Tensor: ...
@overload
def repeat(tensor: _Tensor, pattern: str, **axes_lengths: Any) -> _Tensor: ...
def _panic() -> None: ...
def cache_info() -> tuple[int, int, int, int]: ...
def cache_clear() -> None: ...
def recipe(
    op: str, pattern: str, names: tuple[str, ...], ndim: int, lean: bool
) -> tuple[_Refusal | None, Recipe]: ...
def misfit(
    op: str,
    pattern: str,
    names: tuple[str, ...],
    shape: tuple[int, ...],
    lengths: tuple[int, ...],
) -> _Refusal | None: ...
def length_type(pattern: str, name: str, given: str) -> _Refusal: ...
def huge_length(pattern: str, name: str, length: str) -> _Refusal: ...
def unknown_reduction(pattern: str, name: str) -> _Refusal: ...
def register_numpy(
    kind: type, api: object, reductions: dict[str, Callable[..., Any]], divide: Callable[..., Any]
) -> None: ...
def register_steps(
    types: tuple[type, ...],
    program: Callable[..., tuple[list[tuple[Any, Any]], tuple[Any, ...]]],
    reduce_in_place: bool,
    fold_new_axes: bool,
    keyed_by_lengths: bool,
) -> None: ...
