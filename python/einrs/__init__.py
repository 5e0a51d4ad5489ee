"""Tensor patterns, compiled: `import einrs as einops`."""

from __future__ import annotations

from . import _dynamo
from ._einrs import (
    __version__,
    asnumpy,
    einsum,
    pack,
    parse_shape,
    rearrange,
    reduce,
    repeat,
    unpack,
)
from ._errors import (
    EinopsDtypeError,
    EinopsError,
    EinopsTypeError,
    EinopsUnsupportedError,
    EinopsValueError,
)

# As `typing.TYPE_CHECKING`: `import einrs` is fast, since it imports next to nothing.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._cache import CacheInfo, cache_clear, cache_info
    from ._swap import install, uninstall

__all__ = [
    "CacheInfo",
    "EinopsDtypeError",
    "EinopsError",
    "EinopsTypeError",
    "EinopsUnsupportedError",
    "EinopsValueError",
    "__version__",
    "asnumpy",
    "cache_clear",
    "cache_info",
    "einsum",
    "install",
    "pack",
    "parse_shape",
    "rearrange",
    "reduce",
    "repeat",
    "uninstall",
    "unpack",
]


SUBMODULES = (
    "_backends",
    "_torch_specific",
    "array_api",
    "einops",
    "experimental",
    "layers",
    "packing",
    "parsing",
)
"""Modules that `import einops` makes attributes of the package, or that programs expect there."""


LATE = {
    "CacheInfo": "_cache",
    "cache_clear": "_cache",
    "cache_info": "_cache",
    "install": "_swap",
    "uninstall": "_swap",
}
"""Names that few programs need, and the modules that define them."""


def __getattr__(name: str) -> Any:
    """A submodule, or a name of `LATE`, loaded when it is first asked for."""
    from importlib import import_module

    if name in SUBMODULES:
        return import_module(f"{__name__}.{name}")
    if name in LATE:
        return getattr(import_module(f"{__name__}.{LATE[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, those that are not loaded yet among them."""
    return sorted({*globals(), *__all__})


_dynamo.register_when_loaded()
