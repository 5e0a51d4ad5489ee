"""The name einops to einrs, for every import that follows in this process, and back.

A finder in `sys.meta_path` answers for einops and all that lies below it. The package is a module
of its own, since its version is that of einops; a submodule is the very module object of einrs,
so that a class is one class under both names.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from _thread import allocate_lock
from importlib import util
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

EINOPS = "einops"
EINRS = __name__.partition(".")[0]

VERSION = "0.8.2"
"""The version of einops that einrs stands in for. From this one on, torch's own hook for einops
leaves the functions to Dynamo's tracing; of an older one it would put the calls into graphs."""

# einops.__all__
FUNCTIONS = ["asnumpy", "einsum", "pack", "parse_shape", "rearrange", "reduce", "repeat", "unpack"]
PUBLIC = ["EinopsError", *FUNCTIONS]
LAYERS = ["EinMix", "Rearrange", "Reduce", "keras_custom_objects"]

LATE = (
    "einops was imported before einrs.install(): its functions and layers are replaced where they "
    "are looked up from now on, as in `einops.rearrange`, but names bound before, as by `from "
    "einops import rearrange`, stay einops'. Call einrs.install() before the first import of "
    "einops, or run the whole program by `python -m einrs run`."
)

_ABSENT = object()

_lock = allocate_lock()

_saved: dict[str, ModuleType] = {}
"""What stood in `sys.modules` under einops' names before."""

_patches: list[tuple[ModuleType, str, object, object]] = []
"""Module, name, and what the name meant before and since."""


def install() -> None:
    """Lets the name `einops`, and every name below it, mean einrs in this process.

    Call it before anything imports einops, which need not be installed. `einops.__version__` is
    then that of the einops whose interface einrs has; `einops.layers.torch` and the other
    submodules are those of einrs, loaded when they are first asked for. Only `einops.tests` still
    is einops' own, where it is installed. A second call does nothing.

    If einops itself was imported before, this warns, and replaces its functions, its layers and
    `EinopsError` in those of its modules that are loaded; their private names stay einops'. So
    does what a program bound before, as by `from einops import rearrange`: an `EinopsError` bound
    before catches no error of einrs, and a layer made before cannot be pickled until `uninstall`.

    Processes that this one starts anew (`subprocess`, multiprocessing's "spawn") have to call it
    themselves; forked ones need not.

    Warns:
        UserWarning: einops itself was imported before.

    Examples:
        >>> import einrs
        >>> einrs.install()
        >>> import einops
        >>> einops.rearrange is einrs.rearrange
        True
        >>> einrs.uninstall()

    """
    if is_installed():
        return
    if any(_loaded().values()):
        warnings.warn(LATE, UserWarning, stacklevel=2)
    with _lock:
        if is_installed():
            return
        loaded = _loaded()
        # Complete before anything changes, since it may import.
        replacements = [_replacements(name, module) for name, module in loaded.items() if module]
        _saved.update(loaded)
        sys.meta_path.insert(0, _finder)
        for module, values in replacements:
            _replace(module, values)
        if not replacements:
            _forget()
            importlib.import_module(EINOPS)


def uninstall() -> None:
    """Undoes `install`: the next import of einops finds einops itself, if it is installed.

    What was imported from the name einops meanwhile stays einrs' where it is bound. Without an
    `install` before, this does nothing.

    Examples:
        >>> import sys, einrs
        >>> einrs.install()
        >>> einrs.uninstall()
        >>> "einops" in sys.modules
        False

    """
    with _lock:
        if not is_installed():
            return
        sys.meta_path.remove(_finder)
        _forget()
        _unpatch()
        sys.modules.update(_saved)
        _saved.clear()


def is_installed() -> bool:
    """Whether the name einops means einrs.

    Examples:
        >>> from einrs import _swap
        >>> _swap.is_installed()
        False

    """
    return _finder in sys.meta_path


def _loaded() -> dict[str, ModuleType]:
    """The modules of einops that are loaded; one whose import is forbidden counts as None."""
    return {name: sys.modules[name] for name in list(sys.modules) if _root(name) == EINOPS}


def _forget() -> None:
    for name in _loaded():
        del sys.modules[name]


def _root(name: str) -> str:
    return name.partition(".")[0]


def _find(name: str) -> ModuleSpec | None:
    try:
        return util.find_spec(name)
    except ModuleNotFoundError:
        return None


def _replacements(name: str, module: ModuleType) -> tuple[ModuleType, dict[str, object]]:
    """A module of einops itself, and what is to be replaced in it."""
    einrs = vars(sys.modules[EINRS])
    if name == EINOPS:
        return module, {key: einrs[key] for key in PUBLIC} | {"__version__": VERSION}
    ours = EINRS + name.removeprefix(EINOPS)
    new = einrs if _find(ours) is None else einrs | vars(importlib.import_module(ours))
    return module, {key: new[key] for key in PUBLIC + LAYERS if key in vars(module) and key in new}


def _replace(module: ModuleType, values: dict[str, object]) -> None:
    for name, value in values.items():
        _patches.append((module, name, vars(module).get(name, _ABSENT), value))
        setattr(module, name, value)


def _unpatch() -> None:
    """Takes back what is still as it was replaced, and submodules that were imported since."""
    while _patches:
        module, name, old, new = _patches.pop()
        if vars(module).get(name) is new:
            delattr(module, name) if old is _ABSENT else setattr(module, name, old)
    before = list(filter(None, _saved.values()))
    for module in before:
        for name, value in list(vars(module).items()):
            below = isinstance(value, ModuleType) and _root(value.__name__) in (EINOPS, EINRS)
            if below and value not in before:
                delattr(module, name)


class _Finder:
    """Finds the module einops, and what lies below it among the modules of einrs."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:  # noqa: ARG002
        if _root(name) != EINOPS:
            return None
        if name == EINOPS:
            # einops itself, patched, may be reloaded from its own file.
            reloaded = target is not None and target is _saved.get(EINOPS)
            return None if reloaded else _spec(name, EINRS, _Facade())
        ours = EINRS + name.removeprefix(EINOPS)
        if _find(ours) is not None:
            return _spec(name, ours, _Alias(ours))
        return _tests_of_einops() if name == f"{EINOPS}.tests" else None


def _spec(name: str, ours: str, loader: Any) -> ModuleSpec:
    found = _find(ours)
    assert found is not None
    spec = ModuleSpec(name, loader, origin=found.origin)
    spec.submodule_search_locations = found.submodule_search_locations
    return spec


def _tests_of_einops() -> ModuleSpec | None:
    einops = PathFinder.find_spec(EINOPS)
    if einops is None or einops.submodule_search_locations is None:
        return None
    return PathFinder.find_spec(f"{EINOPS}.tests", einops.submodule_search_locations)


class _Facade:
    """Fills the module einops."""

    def create_module(self, spec: ModuleSpec) -> None:
        """Leaves it to the import system to make the module."""

    def exec_module(self, module: ModuleType) -> None:
        einrs = sys.modules[EINRS]
        names = {name: getattr(einrs, name) for name in PUBLIC}

        def missing(name: str) -> Any:
            """Any other name: a submodule, imported now, or what einrs calls so."""
            if name.isidentifier() and not name.startswith("__"):
                if _find(f"{EINRS}.{name}") is not None:
                    return importlib.import_module(f"{EINOPS}.{name}")
                if hasattr(einrs, name):
                    return getattr(einrs, name)
            message = f"module {EINOPS!r} has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=module)

        module.__doc__, module.__file__ = einrs.__doc__, einrs.__file__
        vars(module).update(names, __all__=PUBLIC, __version__=VERSION, __getattr__=missing)


class _Alias:
    """Gives the module of einrs, unchanged, to an import under einops' name."""

    def __init__(self, ours: str) -> None:
        self.ours = ours
        self.spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:  # noqa: ARG002
        module = importlib.import_module(self.ours)
        self.spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        # The import system has just given the module the spec of this import.
        module.__spec__ = self.spec


_finder = _Finder()
