"""The builtins to functions that Dynamo traces, registered once Dynamo is loaded and never before.

Dynamo does not look into builtins. `torch.compiler.substitute_in_graph` gives it a twin in Python
to trace instead: the readable replay, so that a graph holds plain torch operations.
"""

from __future__ import annotations

import sys

from . import _einrs

# As `typing.TYPE_CHECKING`: `import einrs` is fast, since it imports next to nothing.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

DYNAMO = "torch._dynamo"

TRACED = (
    "rearrange",
    "reduce",
    "repeat",
    "einsum",
    "pack",
    "unpack",
    "parse_shape",
    "asnumpy",
    "layer_rearrange",
    "layer_reduce",
    "layer_repeat",
    "steps",
)
"""Builtins that have a twin."""

FOLDED = (
    "steps",
    "recipe",
    "misfit",
    "bad_length",
    "unknown_reduction",
    "einsum_letters",
    "einsum_misfit",
    "packing",
    "pack_misfit",
    "unpacked",
    "shape_names",
    "shape_misfit",
)
"""Builtins that Dynamo calls by itself while it traces, where their arguments are constants."""

_registered = False


def register_when_loaded() -> None:
    """Registers now if Dynamo is loaded to its end, or right after it will be."""
    loaded = sys.modules.get(DYNAMO)
    if loaded is not None and hasattr(loaded, "optimize"):
        register()
    else:
        sys.meta_path.insert(0, _AfterDynamo())


def register() -> None:
    """Registers the twins, once. A failure must not break the import of Dynamo: it warns."""
    global _registered
    if _registered:
        return
    _registered = True
    try:
        from torch.compiler import substitute_in_graph

        for name in dict.fromkeys((*TRACED, *FOLDED)):
            substitute = substitute_in_graph(
                getattr(_einrs, name),
                can_constant_fold_through=name in FOLDED,
                skip_signature_check=True,
            )
            substitute(_twin(name) if name in TRACED else _refusing(name))
    except Exception as error:
        import warnings

        warnings.warn(f"einrs cannot be traced by torch.compile: {error!r}", stacklevel=2)


def _twin(name: str) -> Callable[..., Any]:
    """What Dynamo traces in place of a builtin; the module with the code is loaded by then."""

    def twin(*arguments: Any, **keywords: Any) -> Any:
        from . import _polyfills

        return getattr(_polyfills, name)(*arguments, **keywords)

    return twin


def _refusing(name: str) -> Callable[..., Any]:
    """What Dynamo traces in place of a builtin that it cannot call, for want of constants."""

    def not_constant(*_arguments: Any) -> Any:
        raise TypeError(f"einrs: {name} needs constants under torch.compile")

    return not_constant


class _AfterDynamo:
    """A finder that waits for Dynamo's import, steps aside, and registers after it."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:  # noqa: ARG002
        if name != DYNAMO:
            return None
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        import importlib.util

        spec = importlib.util.find_spec(name)
        loader = None if spec is None else spec.loader
        if loader is None:
            return spec
        run = loader.exec_module

        def run_and_register(module: ModuleType) -> None:
            run(module)
            register()

        loader.exec_module = run_and_register  # type: ignore[method-assign]
        return spec
