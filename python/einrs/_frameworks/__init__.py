"""A tensor's type to the module of its framework, loaded only once the user's program has.

A framework's module is one file here with the five functions of `_readable.Framework` and `owns`.
It is found by the name of the package that defines the tensor's type or one of its bases, so that
a broken or half-loaded framework cannot disturb the tensors of another one.
"""

from __future__ import annotations

import importlib
import sys
import weakref
from types import ModuleType
from typing import Any, cast

from .. import _einrs
from .._readable import Framework

ROOT = __name__.partition(".")[0]

MODULES = {
    "numpy": ("_numpy", "numpy"),
    "torch": ("_torch", "torch"),
    "torch.fx": ("_fx", "torch.fx"),
    "jax": ("_jax", "jax"),
    "jaxlib": ("_jax", "jax"),
    "tensorflow": ("_tensorflow", "tensorflow"),
    "keras": ("_keras", "keras"),
    "cupy": ("_cupy", "cupy"),
    "paddle": ("_paddle", "paddle"),
    "tinygrad": ("_tinygrad", "tinygrad"),
    "mlx": ("_mlx", "mlx.core"),
    "pytensor": ("_pytensor", "pytensor"),
    "oneflow": ("_oneflow", "oneflow"),
    "dask": ("_dask", "dask.array"),
    "xarray": ("_xarray", "xarray"),
}
"""Package that defines a type: our module, and the module that must have been loaded for it. A
package below another one takes its types from it."""

UNKNOWN_TO_EINOPS = ("array_api", "dask", "keras", "xarray")
"""Modules without a counterpart in einops: a program may have brought a backend of its own."""

_overrides: dict[type, Framework] = {}
"""What a program chose itself for a type; never asked for as long as it is empty."""

_known: dict[int, tuple[weakref.ref[type], Framework]] = {}
"""By address, since hashing a type may run a metaclass' code, which may come back here."""


def of(tensor: Any) -> Framework | None:
    """The framework that knows a tensor's type, or None if there is none.

    What is not found is not remembered: its framework may just not be loaded completely.
    """
    kind = type(tensor)
    if _overrides and kind in _overrides:
        return _overrides[kind]
    address = id(kind)
    known = _known.get(address)
    if known is not None and known[0]() is kind:
        return known[1]
    found = _find(kind)
    name = getattr(found, "__name__", "").rpartition("._")[2]
    if found is None or name in UNKNOWN_TO_EINOPS:
        adapter = sys.modules.get(f"{ROOT}.compat.adapter")
        own = found if adapter is None else adapter.find(tensor, found)
        if own is not found or found is None:
            return cast("Framework | None", own)
    _known[address] = (weakref.ref(kind, lambda _: _known.pop(address, None)), found)
    return found


def override(kind: type, framework: Framework) -> None:
    """Lets a framework of the program's own serve a type, also one that is served natively."""
    _overrides[kind] = framework
    _einrs.leave_to_python(kind)


def forget(kind: type) -> None:
    """Takes an override back. A type that was native stays with the readable replay."""
    _overrides.pop(kind, None)


def _find(kind: type) -> Framework | None:
    refused = False
    for base in kind.__mro__:
        entry = _entry(base)
        if entry is None:
            continue
        module = _load(*entry)
        if module is not None and module.owns(kind):
            return cast("Framework", module)
        refused = refused or module is not None
    # What a framework defines and does not own, such as numpy's scalars, is no tensor.
    if not refused and hasattr(kind, "__array_namespace__"):
        return cast("Framework", importlib.import_module("._array_api", __name__))
    return None


def _entry(kind: type) -> tuple[str, str] | None:
    """The entry of the innermost package around a type that has one."""
    package = str(getattr(kind, "__module__", ""))
    while package:
        if package in MODULES:
            return MODULES[package]
        package = package.rpartition(".")[0]
    return None


def _load(name: str, needs: str) -> ModuleType | None:
    """Our module for a framework, unless the framework is a stub or not loaded to its end."""
    if needs not in sys.modules:
        return None
    try:
        return importlib.import_module(f".{name}", __name__)
    except Exception:
        sys.modules.pop(f"{__name__}.{name}", None)
        return None


def is_symbol(length: Any) -> bool:
    """Whether a length stands for an integer that is not known yet, or must not be read."""
    for base in type(length).__mro__:
        entry = _entry(base)
        if entry is not None and entry[1] in sys.modules:
            module = _load(*entry)
            return module is not None and bool(module.is_symbol(length))
    return False
