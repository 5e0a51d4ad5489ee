"""Turns einops' backend of tensorflow into tests: ours does what that one does."""

from typing import Any

import einops._backends
import pytest

import einrs
import einrs._backends
from backend_methods import METHODS, compare

tf = pytest.importorskip("tensorflow")


@pytest.mark.parametrize("method", METHODS)
def test_a_method_does_what_that_of_einops_does(method: str) -> None:
    compare(*(m._backends.TensorflowBackend() for m in (einops, einrs)), method)


def test_a_tensor_finds_its_backend() -> None:
    assert type(einrs._backends.get_backend(tf.zeros(3))) is einrs._backends.TensorflowBackend


@pytest.mark.parametrize("shape", [(2, 3), (None, 3), (0, 3)])
def test_the_shape_in_a_graph(shape: Any) -> None:
    """Einops asks the graph also for a length that is known to be 0."""
    seen = []

    @tf.function(input_signature=[tf.TensorSpec(shape)])
    def traced(x: Any) -> Any:
        sizes = einrs._backends.TensorflowBackend().shape(x)
        seen.append([size if isinstance(size, int) else None for size in sizes])
        hash(sizes)
        return tf.reshape(x, list(sizes))

    concrete = tuple(5 if length is None else length for length in shape)
    assert tuple(traced(tf.zeros(concrete)).shape) == concrete
    assert seen == [list(shape)]
