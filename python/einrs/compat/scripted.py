"""A recipe and a torch tensor to the result, in the part of Python that TorchScript compiles."""

from __future__ import annotations

import torch

from .recipes import TransformRecipe, _reconstruct_from_shape_uncached


class TorchJitBackend:
    """The methods of a backend, as functions for torch's tensors."""

    @staticmethod
    def reduce(x: torch.Tensor, operation: str, reduced_axes: list[int]) -> torch.Tensor:
        """The tensor without some axes, which are given in ascending order.

        Raises:
            NotImplementedError: there is no such reduction.

        """
        if operation == "min":
            return x.amin(dim=reduced_axes)
        if operation == "max":
            return x.amax(dim=reduced_axes)
        if operation == "sum":
            return x.sum(dim=reduced_axes)
        if operation == "mean":
            return x.mean(dim=reduced_axes)
        if operation not in ["prod", "any", "all"]:
            raise NotImplementedError(f"Unknown reduction {operation}")
        for axis in reduced_axes[::-1]:
            if operation == "prod":
                x = x.prod(dim=axis)
            elif operation == "any":
                x = x.any(dim=axis)
            else:
                x = x.all(dim=axis)
        return x

    @staticmethod
    def transpose(x: torch.Tensor, axes: list[int]) -> torch.Tensor:
        """The axes in another order."""
        return x.permute(axes)

    @staticmethod
    def stack_on_zeroth_dimension(tensors: list[torch.Tensor]) -> torch.Tensor:
        """The tensors along a new first axis."""
        return torch.stack(tensors)

    @staticmethod
    def tile(x: torch.Tensor, repeats: list[int]) -> torch.Tensor:
        """The tensor repeated along each axis."""
        return x.repeat(repeats)

    @staticmethod
    def add_axes(x: torch.Tensor, n_axes: int, pos2len: dict[int, int]) -> torch.Tensor:
        """The tensor with new axes, each at a position with a length."""
        sizes = [-1] * n_axes
        for position, length in pos2len.items():
            x = torch.unsqueeze(x, position)
            sizes[position] = length
        return x.expand(sizes)

    @staticmethod
    def is_float_type(x: torch.Tensor) -> bool:
        """Whether the numbers have a mean."""
        return x.dtype in [torch.float16, torch.float32, torch.float64, torch.bfloat16]

    @staticmethod
    def shape(x: torch.Tensor) -> list[int]:
        """The sizes."""
        return list(x.shape)

    @staticmethod
    def reshape(x: torch.Tensor, shape: list[int]) -> torch.Tensor:
        """The same elements in another shape."""
        return x.reshape(shape)


def apply_for_scriptable_torch(
    recipe: TransformRecipe,
    tensor: torch.Tensor,
    reduction_type: str,
    axes_dims: list[tuple[str, int]],
) -> torch.Tensor:
    """The tensor that a recipe makes; it can be called inside `torch.jit.script`.

    Args:
        recipe: the recipe for the rank of the tensor.
        tensor: the tensor.
        reduction_type: the name of a reduction; of no account if nothing is reduced.
        axes_dims: names and lengths, a tuple or a list.

    Raises:
        EinopsError: the sizes do not fit.

    """
    backend = TorchJitBackend
    split, order, reduced, added, merge, n_axes = _reconstruct_from_shape_uncached(
        recipe, backend.shape(tensor), axes_dims
    )
    if split is not None:
        tensor = backend.reshape(tensor, split)
    if order is not None:
        tensor = backend.transpose(tensor, order)
    if len(reduced) > 0:
        tensor = backend.reduce(tensor, operation=reduction_type, reduced_axes=reduced)
    if len(added) > 0:
        tensor = backend.add_axes(tensor, n_axes=n_axes, pos2len=added)
    if merge is not None:
        tensor = backend.reshape(tensor, merge)
    return tensor
