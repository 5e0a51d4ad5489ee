"""pytensor's variables: nodes of its graph, with sizes that are symbols where none are declared."""

from __future__ import annotations

import sys
from typing import Any

from .._readable import Shape
from ._numpy_like import of_namespace, permute, reduce, reshape

__all__ = ["concat", "einsum", "expand", "permute", "reduce", "reshape", "stack"]

pt = sys.modules["pytensor.tensor"]

LEAN = False
"""As einops: the graph is then the same."""

expand, stack, concat, einsum = of_namespace(pt)


def owns(kind: type) -> bool:
    """Whether a type is a variable: an input, a result, a shared variable or a constant."""
    return issubclass(kind, pt.TensorVariable)


def is_symbol(length: Any) -> bool:
    """Variables: what they hold is known when the graph runs."""
    return isinstance(length, pt.TensorVariable)


def shape(tensor: Any) -> Shape:
    """The sizes: integers where the type declares them, nodes of the graph elsewhere."""
    symbols, static = tensor.shape, tensor.type.shape
    return tuple([symbols[i] if size is None else size for i, size in enumerate(static)])


def to_numpy(tensor: Any) -> Any:
    """The value; pytensor refuses a variable that depends on inputs."""
    return tensor.eval()
