"""A pytest plugin that makes einrs answer to the name einops, for einops' own tests.

`pytest -p swap` imports this before any test. The package einops is put together anew from its own
files: `EinopsError` is einrs' from the beginning, so that every file of einops raises and catches
that one, and `rearrange`, `reduce` and `repeat` are einrs'. What einrs does not have stays einops':
einsum, pack, unpack, parse_shape, the layers, the array-API functions, the helpers that tests look
at. A file of einops that was imported before the swap would keep the old names, so none may be.
"""

import importlib
import importlib.metadata
import sys
from importlib.util import find_spec
from types import ModuleType

import einrs

SWAPPED = ("rearrange", "reduce", "repeat")
EINOPS = ("asnumpy", "einsum", "parse_shape")
PACKING = ("pack", "unpack")


def install() -> ModuleType:
    """Puts the package into sys.modules and returns it."""
    spec = find_spec("einops")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    for name in [name for name in sys.modules if name.partition(".")[0] == "einops"]:
        del sys.modules[name]
    package = ModuleType("einops")
    package.__spec__, package.__path__ = spec, list(spec.submodule_search_locations)
    package.__file__ = spec.origin
    package.__version__ = importlib.metadata.version("einops")
    package.EinopsError = einrs.EinopsError
    sys.modules["einops"] = package
    _fill(package)
    return package


def _fill(package: ModuleType) -> None:
    core = importlib.import_module("einops.einops")
    for name in SWAPPED:
        setattr(core, name, getattr(einrs, name))
    for name in SWAPPED + EINOPS:
        setattr(package, name, getattr(core, name))
    packing = importlib.import_module("einops.packing")
    for name in PACKING:
        setattr(package, name, getattr(packing, name))


install()
