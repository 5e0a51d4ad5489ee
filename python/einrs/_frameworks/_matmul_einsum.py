"""An einsum pattern to the matmuls that compute it, for namespaces that have no einsum."""

from __future__ import annotations

import math
from typing import Any

from .._errors import EinopsError

SPARE = "".join(map(chr, range(0x100, 0x180)))
"""Letters of the axes that an ellipsis stands for: no pattern has them."""


def einsum(namespace: Any, pattern: str, *tensors: Any) -> Any:
    """Contracts arrays from the left, each with the result so far by one matmul.

    Args:
        namespace: functions of the array API standard.
        pattern: single letters and "...", such as "ab,bc->ac".
        tensors: one array for each term.

    Raises:
        EinopsError: a term has a letter twice, which asks for a diagonal.

    """
    inputs, output = pattern.split("->")
    terms = inputs.split(",")
    ranks = [len(tensor.shape) for tensor in tensors]
    terms = [_spelt_out(term, rank) for term, rank in zip(terms, ranks, strict=True)]
    longest = max(len(set(term) & set(SPARE)) for term in terms)
    output = output.replace("...", SPARE[len(SPARE) - longest :])
    if any(len(set(term)) < len(term) for term in terms):
        raise EinopsError(
            f'"{pattern}" has an axis twice in one tensor, and the namespace of the arrays has no'
            " einsum that takes the diagonal"
        )
    result, letters = tensors[0], terms[0]
    for number, (tensor, term) in enumerate(zip(tensors[1:], terms[1:], strict=True), 2):
        later = "".join([output, *terms[number:]])
        result, letters = _product(namespace, result, letters, tensor, term, later)
    result, letters = _summed(namespace, result, letters, output)
    return namespace.permute_dims(result, tuple([letters.index(letter) for letter in output]))


def _spelt_out(term: str, rank: int) -> str:
    """The term with the last spare letters for its ellipsis, so that ellipses align at the end."""
    covered = rank - len(term.replace("...", ""))
    return term.replace("...", SPARE[len(SPARE) - covered :])


def _product(
    namespace: Any, left: Any, rows: str, right: Any, columns: str, later: str
) -> tuple[Any, str]:
    """Two arrays by one matmul over the letters that both have and nothing later asks for."""
    left, rows = _summed(namespace, left, rows, columns + later)
    right, columns = _summed(namespace, right, columns, rows + later)
    common = [letter for letter in rows if letter in columns]
    batch = [letter for letter in common if letter in later]
    inner = [letter for letter in common if letter not in later]
    only_left = [letter for letter in rows if letter not in columns]
    only_right = [letter for letter in columns if letter not in rows]
    sizes = dict(zip(rows + columns, left.shape + right.shape, strict=True))
    left = _grouped(namespace, left, rows, batch, only_left, inner)
    right = _grouped(namespace, right, columns, batch, inner, only_right)
    product = namespace.matmul(left, right)
    own = tuple([sizes[letter] for letter in only_left + only_right])
    # The batch may have been broadcast.
    shape = product.shape[: len(batch)] + own
    return namespace.reshape(product, shape), "".join(batch + only_left + only_right)


def _grouped(
    namespace: Any, tensor: Any, letters: str, batch: list[str], *groups: list[str]
) -> Any:
    """The array with the axes of the batch first, then one axis for each group."""
    order = [letters.index(letter) for letter in sum(groups, batch)]
    lengths = [tensor.shape[letters.index(letter)] for letter in batch]
    for group in groups:
        lengths.append(math.prod(tensor.shape[letters.index(letter)] for letter in group))
    return namespace.reshape(namespace.permute_dims(tensor, tuple(order)), tuple(lengths))


def _summed(namespace: Any, tensor: Any, letters: str, wanted: str) -> tuple[Any, str]:
    """The array without the axes that nothing asks for, in its own dtype, as einsum keeps it."""
    axes = tuple([axis for axis, letter in enumerate(letters) if letter not in wanted])
    if not axes:
        return tensor, letters
    summed = namespace.sum(tensor, axis=axes, dtype=tensor.dtype)
    return summed, "".join([letter for letter in letters if letter in wanted])
