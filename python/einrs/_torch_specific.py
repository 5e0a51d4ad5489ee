"""The names of einops' module `einops._torch_specific`; torch is imported by what needs it."""

import sys
from typing import TYPE_CHECKING, Any

from . import _dynamo
from .compat.recipes import TransformRecipe as TransformRecipe
from .compat.recipes import _reconstruct_from_shape_uncached as _reconstruct_from_shape_uncached

if TYPE_CHECKING:
    from .compat.scripted import TorchJitBackend as TorchJitBackend
    from .compat.scripted import apply_for_scriptable_torch as apply_for_scriptable_torch

_ops_were_registered_in_torchdynamo = True
"""They are by the import of einrs, whenever Dynamo is loaded."""


def allow_ops_in_compiled_graph() -> None:
    """Makes sure that `torch.compile` traces the operations, which it does without this call.

    They are not allowed in a graph as calls of einrs: that would hide the torch operations in them.
    """
    if hasattr(sys.modules.get(_dynamo.DYNAMO), "optimize"):
        _dynamo.register()


def __getattr__(name: str) -> Any:
    if name not in ("TorchJitBackend", "apply_for_scriptable_torch", "torch"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .compat import scripted

    return getattr(scripted, name)
