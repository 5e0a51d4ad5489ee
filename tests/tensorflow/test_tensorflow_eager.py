"""Checks tensorflow's eager tensors and variables: results, dtypes, gradients, errors."""

from collections.abc import Callable
from typing import Any

import einops
import numpy as np
import pytest

import einrs
from sides import OPERATIONS, differences

tf = pytest.importorskip("tensorflow")

SHAPE = (4, 6)
EAGER = type(tf.constant(0))


def numbers(dtype: str = "float32") -> Any:
    values = np.arange(24) * 7 % 23 - (0 if dtype.startswith("uint") else 9)
    return tf.reshape(tf.cast(tf.constant(values), dtype), SHAPE)


def variable() -> Any:
    return tf.Variable(numbers())


def strings() -> Any:
    return tf.strings.as_string(numbers())


def facts(result: Any, tensor: Any) -> dict[str, Any]:
    """All that einops' result and ours must have in common."""
    return {
        "type": type(result),
        "same object": result is tensor,
        "shape": tuple(result.shape),
        "dtype": result.dtype,
        "device": result.device,
        "value": Rounded(result.numpy()),
    }


class Rounded:
    """Values that are equal up to the last bits: sums are made where the axes stand."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self.inexact = array.dtype.kind in "fc" or "float" in array.dtype.name

    def __eq__(self, other: object) -> bool:
        assert isinstance(other, Rounded)
        if not self.inexact:
            return np.array_equal(self.array, other.array)
        wide = [np.asarray(array, "complex128") for array in (self.array, other.array)]
        tolerance = 1e-5 if self.array.dtype.itemsize >= 4 else 2e-2
        return np.allclose(*wide, tolerance, tolerance, equal_nan=True)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self.array)


FEW = {
    label: call
    for label, call in OPERATIONS.items()
    if any(
        label.startswith(start)
        for start in (
            *("rearrange 'a b -> a b'", "rearrange 'a b -> b a'", "rearrange '(a c) (b d)"),
            *("repeat 'a b -> a b' ", "repeat 'a b -> (a 2) b'", "repeat '(a c) b"),
        )
    )
    or (label.startswith("reduce") and "'(a 2)" in label)
}
"""One call for each way through einrs."""


@pytest.mark.parametrize("make", [numbers, variable, strings])
def test_every_operation(make: Callable[[], Any]) -> None:
    fine = 0
    for label, call in OPERATIONS.items():
        succeeds, found = differences(call, make, facts)
        fine += succeeds
        assert not found, f"{label}: {found}"
    assert fine > 20


@pytest.mark.parametrize("declared", [None, (None, 6), (None, None)])
def test_variables_that_are_declared_wider_than_they_are(declared: Any) -> None:
    tensor = tf.Variable(numbers(), shape=tf.TensorShape(declared))
    result = einrs.rearrange(tensor, "(a c) b -> c b a", c=2)
    assert (
        result.numpy().tolist()
        == einrs.rearrange(numbers().numpy(), "(a c) b -> c b a", c=2).tolist()
    )
    with pytest.raises(einrs.EinopsError, match="axis of length 4 in chunks of 3"):
        einrs.rearrange(tensor, "(a c) b -> c b a", c=3)


DTYPES = [
    *("float16", "float64", "bfloat16", "complex64", "bool"),
    *("int8", "int32", "int64", "uint8", "uint32"),
]


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(dtype: str) -> None:
    fine = 0
    for label, call in FEW.items():
        succeeds, found = differences(call, lambda: numbers(dtype), facts)
        fine += succeeds
        assert not found, f"{label}: {found}"
    assert fine > 2


def test_repeat_where_einops_finds_no_kernel() -> None:
    tensor = numbers("uint16")
    with pytest.raises(tf.errors.UnimplementedError):
        einops.repeat(tensor, "a b -> a b k", k=2)
    repeated = einrs.repeat(tensor, "a b -> a b k", k=2)
    assert repeated.numpy().tolist() == np.repeat(tensor.numpy()[..., None], 2, 2).tolist()


@pytest.mark.parametrize("shape", [(0, 6), (4, 0), (1, 1), (2, 6), (40, 60)])
def test_one_call_meets_many_shapes(shape: tuple[int, int]) -> None:
    for label, call in FEW.items():
        found = differences(call, lambda: tf.zeros(shape, "int32"), facts)[1]
        assert not found, f"{label}: {found}"


def test_more_shapes_than_are_kept() -> None:
    for _ in range(2):
        for length in range(300):
            tensor = tf.zeros((length, 2))
            assert einrs.rearrange(tensor, "a b -> (a b)").shape == (2 * length,)


@pytest.mark.parametrize("rank", [0, 1, 5, 8, 9])
def test_ranks(rank: int) -> None:
    tensor = tf.reshape(tf.range(2**rank), (2,) * rank)
    for pattern in ("... -> (...)", "... -> 1 ...", "... -> ... 1"):
        call = lambda module, x, p=pattern: module.rearrange(x, p)  # noqa: E731
        assert differences(call, lambda: tensor, facts) == (True, []), pattern
    repeated = einrs.repeat(tensor, "... -> (...) 3")
    assert repeated.shape == (2**rank, 3)


LENGTHS: dict[str, Callable[[], Any]] = {
    "an integer of numpy": lambda: np.int64(2),
    "a bool": lambda: True,
    "a tensor": lambda: tf.constant(2),
    "a long tensor": lambda: tf.constant(2, "int64"),
    "a variable": lambda: tf.Variable(2),
    "a Dimension": lambda: tf.compat.v1.Dimension(2),
}


@pytest.mark.parametrize("length", LENGTHS.values(), ids=LENGTHS)
def test_lengths(length: Callable[[], Any]) -> None:
    for pattern in ("(a c) b -> c b a", "a (b c) -> (b a) c"):
        call = lambda module, x, p=pattern: module.rearrange(x, p, c=length())  # noqa: E731
        assert differences(call, numbers, facts) == (True, []), pattern
    repeated = einrs.repeat(numbers(), "a b -> (a k) b", k=length())
    assert repeated.shape == (4 * int(length()), 6)


WRONG: dict[str, Callable[[Any, Any], Any]] = {
    "the rank": lambda m, x: m.rearrange(x, "a b c -> a b c"),
    "the length": lambda m, x: m.rearrange(x, "(a b) c -> a b c", b=5),
    "a product": lambda m, x: m.rearrange(x, "(a b) c -> a b c", a=2, b=3),
    "any of numbers": lambda m, x: m.reduce(x, "a b -> a", "any"),
    "a mean of integers": lambda m, x: m.reduce(tf.cast(x, "int32"), "a b -> a", "mean"),
    "an empty list": lambda m, x: m.rearrange([], "a b -> b a"),
    "a list of two shapes": lambda m, x: m.rearrange([x, x[1:]], "k a b -> k b a"),
    "a tuple": lambda m, x: m.rearrange((x, x), "k a b -> k b a"),
    "a ragged tensor": lambda m, x: m.rearrange(tf.ragged.constant([[1], [2, 3]]), "a b -> b a"),
    "a sparse tensor": lambda m, x: m.rearrange(tf.sparse.from_dense(x), "a b -> b a"),
}


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG)
def test_errors(call: Callable[[Any, Any], Any]) -> None:
    assert differences(call, numbers, facts) == (False, [])


def test_a_length_that_is_no_integer() -> None:
    for length in (tf.constant(2.0), tf.constant([2]), tf.Variable(2.0)):
        with pytest.raises(einrs.EinopsError, match=r"axis 'b'|integer"):
            einrs.rearrange(numbers(), "(a b) c -> a b c", b=length)


def test_an_error_is_raised_again() -> None:
    for _ in range(3):
        with pytest.raises(einrs.EinopsError, match="can't divide axis of length 4 in chunks of 3"):
            einrs.rearrange(numbers(), "(a b) c -> a b c", b=3)


def test_lists_and_callables() -> None:
    for call in (
        lambda m, x: m.rearrange([x, x + 1], "k a b -> a (k b)"),
        lambda m, x: m.reduce([x, x + 1], "k a b -> a b", "max"),
        lambda m, x: m.reduce(x, "(a 2) b -> b", tf.reduce_logsumexp),
        lambda m, x: m.rearrange(tensor=x, pattern="a b -> b a"),
    ):
        assert differences(call, numbers, facts) == (True, [])


@pytest.mark.parametrize("make", [numbers, variable])
def test_gradients(make: Callable[[], Any]) -> None:
    for label, call in OPERATIONS.items():
        if " any " in label or " all " in label:
            continue
        found = []
        for module in (einops, einrs, einrs):
            tensor = make()
            with tf.GradientTape(persistent=True) as tape:
                tape.watch(tensor)
                result = call(module, tensor)
                loss = tf.reduce_sum(result * result)
            gradient = tape.gradient(loss, tensor)
            found.append(None if gradient is None else Rounded(gradient.numpy()))
        assert found[0] == found[1] == found[2], label


def test_second_derivatives_and_forward_mode() -> None:
    def once(module: Any) -> tuple[Any, Any]:
        tensor = numbers()
        with tf.autodiff.ForwardAccumulator(tensor, tf.ones(SHAPE)) as forward:
            with tf.GradientTape(persistent=True) as tape:
                tape.watch(tensor)
                result = module.reduce(tensor, "(a c) b -> b a", "sum", c=2) ** 3
            jacobian = tape.jacobian(result, tensor)
        return Rounded(jacobian.numpy()), Rounded(forward.jvp(result).numpy())

    assert once(einops) == once(einrs) == once(einrs)


def test_joins() -> None:
    tensor = numbers()
    for module in (einops, einrs, einrs):
        packed, shapes = module.pack([tensor, tensor[:, 0]], "a *")
        assert packed.shape == (4, 7)
        assert [tuple(shape) for shape in shapes] == [(6,), ()]
        pieces = module.unpack(packed, shapes, "a *")
        assert [piece.shape.as_list() for piece in pieces] == [[4, 6], [4]]
        product = module.einsum(tensor, tensor, "long b, other b -> other long")
        assert np.allclose(product.numpy(), tensor.numpy() @ tensor.numpy().T)
        assert module.parse_shape(tensor, "a _") == {"a": 4}
        array = module.asnumpy(tensor)
        assert type(array) is np.ndarray
        assert array.tolist() == tensor.numpy().tolist()


def test_functions_that_run_eagerly() -> None:
    tf.config.run_functions_eagerly(True)
    try:
        traced = tf.function(lambda x: einrs.rearrange(x, "(a c) b -> c b a", c=2))
        assert type(traced(numbers())) is EAGER
    finally:
        tf.config.run_functions_eagerly(False)
