"""A program's own backend to a framework of einrs, and a tensor to its backend.

`_frameworks.of` asks `find` for a tensor that no framework of einrs owns, once this is loaded.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, MutableMapping
from typing import Any

from .. import _errors, _frameworks
from .._errors import EinopsError
from .._readable import Framework, Shape
from .abstract import AbstractBackend

OURS = __name__.rpartition(".")[0]
"""The package of the backends that stand for frameworks which einrs serves itself."""


class Adapter:
    """The steps of a pattern by a backend's own methods, as einops calls them."""

    LEAN = False
    """In einops' order, which is what a backend was written for."""

    def __init__(self, backend: Any) -> None:
        self.backend = backend

    def is_symbol(self, length: Any) -> bool:
        """Whatever is no integer may be a size of a symbolic tensor."""
        return not isinstance(length, int)

    def shape(self, tensor: Any) -> Shape:
        """The sizes, which may be symbols."""
        return tuple(self.backend.shape(tensor))

    def reshape(self, tensor: Any, shape: Shape) -> Any:
        """By the method of that name."""
        return self.backend.reshape(tensor, list(shape))

    def permute(self, tensor: Any, axes: tuple[int, ...]) -> Any:
        """By `transpose`."""
        return self.backend.transpose(tensor, list(axes))

    def reduce(self, tensor: Any, name: str, axes: tuple[int, ...]) -> Any:
        """By the method of that name, after the question whether the numbers have a mean."""
        if name == "mean" and not self.backend.is_float_type(tensor):
            raise _errors.not_floating(getattr(tensor, "dtype", None))
        return self.backend.reduce(tensor, name, axes)

    def expand(self, tensor: Any, shape: Shape, added: tuple[int, ...]) -> Any:
        """By `add_axes`."""
        lengths = {axis: shape[axis] for axis in added}
        return self.backend.add_axes(tensor, n_axes=len(shape), pos2len=lengths)

    def stack(self, tensors: list[Any]) -> Any:
        """By `stack_on_zeroth_dimension`."""
        return self.backend.stack_on_zeroth_dimension(tensors)

    def concat(self, tensors: list[Any], axis: int) -> Any:
        """By the method of that name."""
        return self.backend.concat(tensors, axis=axis)

    def einsum(self, pattern: str, *tensors: Any) -> Any:
        """By the method of that name."""
        return self.backend.einsum(pattern, *tensors)

    def to_numpy(self, tensor: Any) -> Any:
        """By the method of that name."""
        return self.backend.to_numpy(tensor)


class _FrameworkBackend(AbstractBackend):
    """A framework of einrs that einops does not know, as a backend."""

    framework_name = "einrs"

    def __init__(self, framework: Framework) -> None:
        self.framework = framework

    def is_appropriate_type(self, tensor: Any) -> bool:
        return _frameworks.of(tensor) is self.framework

    def to_numpy(self, x: Any) -> Any:
        return self.framework.to_numpy(x)

    def shape(self, x: Any) -> Any:
        return self.framework.shape(x)

    def reshape(self, x: Any, shape: Any) -> Any:
        return self.framework.reshape(x, tuple(shape))

    def transpose(self, x: Any, axes: Any) -> Any:
        return self.framework.permute(x, tuple(axes))

    def reduce(self, x: Any, operation: str, axes: tuple[int, ...]) -> Any:
        return self.framework.reduce(x, operation, axes)

    def stack_on_zeroth_dimension(self, tensors: list[Any]) -> Any:
        return self.framework.stack(tensors)

    def add_axis(self, x: Any, new_position: int) -> Any:
        return self.add_axes(x, len(self.shape(x)) + 1, {new_position: 1})

    def add_axes(self, x: Any, n_axes: int, pos2len: dict[int, Any]) -> Any:
        kept = iter(self.shape(x))
        sizes = [pos2len[i] if i in pos2len else next(kept) for i in range(n_axes)]
        return self.framework.expand(x, tuple(sizes), tuple(pos2len))

    def concat(self, tensors: list[Any], axis: int) -> Any:
        return self.framework.concat(tensors, axis)

    def is_float_type(self, x: Any) -> bool:
        return "float" in str(x.dtype)

    def einsum(self, pattern: str, *x: Any) -> Any:
        return self.framework.einsum(pattern, *x)


class _Types(dict[type, Any]):
    """Types to backends; what a program writes into it serves the type from then on."""

    def __setitem__(self, kind: type, backend: Any) -> None:
        super().__setitem__(kind, backend)
        if _is_ours(type(backend)) and _frameworks._find(kind) is not None:
            _frameworks.forget(kind)
        else:
            _frameworks.override(kind, Adapter(backend))

    def __delitem__(self, kind: type) -> None:
        super().__delitem__(kind)
        _frameworks.forget(kind)

    def pop(self, kind: type, *default: Any) -> Any:
        found = super().pop(kind, *default)
        _frameworks.forget(kind)
        return found

    # dict's own would not come to the methods above.
    update = MutableMapping.update
    setdefault = MutableMapping.setdefault
    popitem = MutableMapping.popitem
    clear = MutableMapping.clear


_loaded_backends: dict[str, Any] = {}
"""Name of a framework to the backend that stands for it."""

_type2backend = _Types()

_debug_importing = False


def get_backend(tensor: Any) -> Any:
    """The backend for a tensor.

    Raises:
        EinopsError: there is none.

    Examples:
        >>> import numpy as np
        >>> from einrs._backends import get_backend
        >>> get_backend(np.zeros(3))
        <einops backend for numpy>

    """
    kind = type(tensor)
    if kind in _type2backend:
        return _type2backend[kind]
    framework = _frameworks.of(tensor)
    if framework is None:
        raise EinopsError(f"Tensor type unknown to einops {kind}")
    if isinstance(framework, Adapter):
        return framework.backend
    backend = _standing_for(framework, tensor)
    dict.__setitem__(_type2backend, kind, backend)
    return backend


def find(tensor: Any, otherwise: Framework | None = None) -> Framework | None:
    """The framework of a program's own backend that serves a tensor.

    Backends are asked in the order in which einops asks them. One that raises does not keep the
    others from serving the tensor: its error is raised if nothing does.

    Args:
        tensor: the tensor.
        otherwise: what serves it if no backend of the program does.

    """
    failure: Exception | None = None
    for backend in _own_backends():
        try:
            serves = backend.is_appropriate_type(tensor)
        except Exception as error:
            failure = failure or error
            continue
        if serves:
            _type2backend[type(tensor)] = backend
            return Adapter(backend)
    if failure is not None and otherwise is None:
        raise failure
    return otherwise


def _own_backends() -> Iterator[Any]:
    """The program's backends: those that are loaded, then those whose framework is."""
    loaded = [backend for backend in list(_loaded_backends.values()) if not _is_ours(type(backend))]
    yield from loaded
    classes = {type(backend) for backend in loaded}
    for kind in _subclasses(AbstractBackend):
        name = getattr(kind, "framework_name", None)
        if _is_ours(kind) or kind in classes or name not in sys.modules:
            continue
        backend = kind()
        key = name if name not in _loaded_backends else f"{kind.__module__}.{kind.__qualname__}"
        _loaded_backends[key] = backend
        yield backend


def _subclasses(kind: type) -> Iterator[type]:
    """All subclasses: the last one first, and the nested ones after their own parents."""
    waiting: list[type] = kind.__subclasses__()
    while waiting:
        last = waiting.pop()
        waiting += last.__subclasses__()
        yield last


def _is_ours(kind: type) -> bool:
    return kind.__module__.startswith(OURS)


def _standing_for(framework: Framework, tensor: Any) -> Any:
    """The backend of that name which einops has for a framework, or else a general one."""
    # A class is found among the subclasses only once its module is imported.
    from . import backends, small_backends  # noqa: F401

    name = str(getattr(framework, "__name__", "")).rpartition("._")[2]
    for kind in _subclasses(AbstractBackend):
        if _is_ours(kind) and getattr(kind, "framework_name", None) == name:
            if name not in _loaded_backends:
                _loaded_backends[name] = kind()
            if _loaded_backends[name].is_appropriate_type(tensor):
                return _loaded_backends[name]
    return _FrameworkBackend(framework)


def _enumerate_directions(x: Any) -> list[Any]:
    """For each axis a tensor of its indices, of length 1 along all other axes.

    Examples:
        >>> import numpy as np
        >>> from einrs.einops import _enumerate_directions
        >>> [index.shape for index in _enumerate_directions(np.zeros((2, 3)))]
        [(2, 1), (1, 3)]

    """
    backend = get_backend(x)
    shape = backend.shape(x)
    directions = []
    for axis, length in enumerate(shape):
        sizes = [1] * len(shape)
        sizes[axis] = length
        directions.append(backend.reshape(backend.arange(0, length), sizes))
    return directions
