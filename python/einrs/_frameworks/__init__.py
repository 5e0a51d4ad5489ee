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

from .._readable import Framework

MODULES = {
    "numpy": ("_numpy", "numpy"),
    "torch": ("_torch", "torch"),
    "jax": ("_jax", "jax"),
    "jaxlib": ("_jax", "jax"),
}
"""Package that defines a type: our module, and the package that must have been loaded for it."""

_known: dict[int, tuple[weakref.ref[type], Framework]] = {}
"""By address, since hashing a type may run a metaclass' code, which may come back here."""


def of(kind: type) -> Framework | None:
    """The framework of a type of tensors, or None if there is none.

    What is not found is not remembered: its framework may just not be loaded completely.
    """
    address = id(kind)
    known = _known.get(address)
    if known is not None and known[0]() is kind:
        return known[1]
    found = _find(kind)
    if found is not None:
        _known[address] = (weakref.ref(kind, lambda _: _known.pop(address, None)), found)
    return found


def _find(kind: type) -> Framework | None:
    refused = False
    for base in kind.__mro__:
        package = str(getattr(base, "__module__", "")).partition(".")[0]
        if package not in MODULES:
            continue
        module = _load(*MODULES[package])
        if module is not None and module.owns(kind):
            return cast("Framework", module)
        refused = refused or module is not None
    # What a framework defines and does not own, such as numpy's scalars, is no tensor.
    if not refused and hasattr(kind, "__array_namespace__"):
        return cast("Framework", importlib.import_module("._array_api", __name__))
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
        package = str(getattr(base, "__module__", "")).partition(".")[0]
        if package in MODULES and MODULES[package][1] in sys.modules:
            module = _load(*MODULES[package])
            return module is not None and bool(module.is_symbol(length))
    return False
