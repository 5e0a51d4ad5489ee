"""Checks sizes that are not known while a graph is built: pytensor, tinygrad, paddle, dask."""

import warnings
from typing import Any

import einops
import numpy as np
import pytest
from small import pytensor_mode

import einrs

X = np.arange(24.0, dtype="float32").reshape(4, 6)

# An operation and the sizes that pytensor and paddle still know, None for those they do not.
SYMBOLIC: list[tuple[Any, list[int | None]]] = [
    (lambda module, x: module.rearrange(x, "a b -> b a"), [6, None]),
    (lambda module, x: module.rearrange(x, "a (b c) -> b (a c)", b=3), [3, None]),
    (lambda module, x: module.rearrange(x, "(a d) b -> d a b", d=2), [2, None, 6]),
    (lambda module, x: module.rearrange(x, "(a d) b -> d a b", a=2), [None, 2, 6]),
    (lambda module, x: module.rearrange(x, "a b -> (a b)"), [None]),
    (lambda module, x: module.rearrange(x, "... b -> b ..."), [6, None]),
    (lambda module, x: module.reduce(x, "a b -> a", "max"), [None]),
    (lambda module, x: module.reduce(x, "a (b c) -> c", "sum", b=2), [3]),
    (lambda module, x: module.reduce(x, "(a 2) b -> a b", "mean"), [None, 6]),
    (lambda module, x: module.repeat(x, "a b -> a k b", k=2), [None, 2, 6]),
    (lambda module, x: module.repeat(x, "a b -> (a 3) b"), [None, 6]),
    (lambda module, x: module.rearrange([x, x], "k a b -> a k b"), [None, 2, 6]),
    (lambda module, x: module.pack([x, x], "* b")[0], [None, 6]),
    (lambda module, x: module.einsum(x, x, "a b, c b -> a c"), [None, None]),
]


# --- pytensor


@pytest.fixture
def pt() -> Any:
    return pytest.importorskip("pytensor.tensor")


def run(inputs: list[Any], output: Any, *values: Any) -> Any:
    import pytensor

    return pytensor.function(inputs, output, mode=pytensor_mode())(*values)


@pytest.mark.filterwarnings("ignore:.*np.dot.. is faster on contiguous arrays:Warning")
@pytest.mark.parametrize(("call", "known"), SYMBOLIC)
def test_pytensor(pt: Any, call: Any, known: list[int | None]) -> None:
    """Works for any length of the first axis; what the type declares stays declared."""
    x = pt.tensor("x", shape=(None, 6), dtype="float32")
    result = call(einrs, x)
    assert all(size in (known[i], None) for i, size in enumerate(result.type.shape))
    for array in (X, X[:2]):
        np.testing.assert_allclose(run([x], result, array), call(einops, array), rtol=1e-6)


def test_pytensors_types_keep_declared_sizes(pt: Any) -> None:
    x = pt.tensor("x", shape=(None, 6), dtype="float32")
    assert einrs.rearrange(x, "a (b c) -> b a c", b=2).type.shape == (2, None, 3)
    assert einrs.repeat(x, "a b -> a k b", k=2).type.shape == (None, 2, 6)
    assert einrs.rearrange(pt.matrix("y", shape=(4, 6)), "a b -> (a b)").type.shape == (24,)
    with pytest.raises(einrs.EinopsError, match=r"can't divide|do not fit"):
        einrs.rearrange(x, "a (b c) -> b a c", b=4)


def test_pytensors_variables_as_lengths(pt: Any) -> None:
    x, k = pt.tensor("x", shape=(None, 6), dtype="float32"), pt.lscalar("k")
    split = einrs.rearrange(x, "(a k) b -> k a b", k=k)
    repeated = einrs.repeat(x, "a b -> (a k) b", k=k)
    for number in (1, 2, 4):
        expected = einops.rearrange(X, "(a k) b -> k a b", k=number)
        np.testing.assert_array_equal(run([x, k], split, X, number), expected)
        expected = einops.repeat(X, "a b -> (a k) b", k=number)
        np.testing.assert_array_equal(run([x, k], repeated, X, number), expected)


def test_pytensors_gradient(pt: Any) -> None:
    x = pt.tensor("x", shape=(None, 6), dtype="float64")
    repeated = einrs.repeat(x, "a (b c) -> c (a 3) b", c=2)
    gradient = pt.grad((repeated**2).sum(), x)
    np.testing.assert_allclose(run([x], gradient, X.astype("float64")), 6 * X)


def test_pytensors_shared_variables(pt: Any) -> None:
    import pytensor

    shared = pytensor.shared(X)
    result = einrs.rearrange(shared, "a b -> b a")
    np.testing.assert_array_equal(run([], result), X.T)
    np.testing.assert_array_equal(einrs.asnumpy(result), X.T)


def test_pytensors_inputs_have_no_values(pt: Any) -> None:
    with pytest.raises(Exception, match="input"):
        einrs.asnumpy(pt.matrix("x"))


# --- tinygrad


def test_tinygrads_bound_variables() -> None:
    """The shapes alone: to run them a compiler is needed."""
    tinygrad = pytest.importorskip("tinygrad")
    n = tinygrad.Variable("n", 1, 10).bind(4)
    x = tinygrad.Tensor(np.zeros((10, 6), "float32"), device="PYTHON")[:n]
    rows = x.shape[0]
    assert einrs.rearrange(x, "a b -> b a").shape == (6, rows)
    assert einrs.rearrange(x, "a (b c) -> b a c", b=2).shape == (2, rows, 3)
    assert einrs.reduce(x, "a b -> b", "max").shape == (6,)
    assert einrs.repeat(x, "a b -> a k b", k=2).shape == (rows, 2, 6)
    y = tinygrad.Tensor(np.zeros((1, 6), "float32"), device="PYTHON")
    assert einrs.repeat(y, "1 b -> k b", k=n).shape == (n, 6)
    with pytest.raises(einrs.EinopsError, match=r"can't divide|do not fit"):
        einrs.rearrange(x, "a (b c) -> b a c", b=4)


# --- paddle


@pytest.fixture
def paddle() -> Any:
    with warnings.catch_warnings():
        # Its import warns where a compiler cache is missing.
        warnings.simplefilter("ignore")
        return pytest.importorskip("paddle")


@pytest.mark.parametrize(("call", "known"), SYMBOLIC)
def test_paddles_static_graphs(paddle: Any, call: Any, known: list[int | None]) -> None:
    """Works for any length of the first axis; what the graph knows it still knows."""
    paddle.enable_static()
    try:
        program = paddle.static.Program()
        with paddle.static.program_guard(program):
            x = paddle.static.data("x", [None, 6], "float32")
            result = call(einrs, x)
        assert [None if size < 0 else size for size in result.shape] == known
        executor = paddle.static.Executor(paddle.CPUPlace())
        for array in (X, X[:2]):
            (values,) = executor.run(program, feed={"x": array}, fetch_list=[result])
            np.testing.assert_allclose(values, call(einops, array), rtol=1e-6)
    finally:
        paddle.disable_static()


def test_paddles_to_static(paddle: Any) -> None:
    def function(x: Any) -> Any:
        return einrs.rearrange(x, "(a d) (b c) -> d (a c) b", d=2, b=2)

    spec = [paddle.static.InputSpec([None, 6])]
    compiled = paddle.jit.to_static(function, input_spec=spec, full_graph=True)
    for array in (X, X[:2]):
        expected = einops.rearrange(array, "(a d) (b c) -> d (a c) b", d=2, b=2)
        np.testing.assert_array_equal(compiled(paddle.to_tensor(array)).numpy(), expected)


def test_paddles_parameters_and_gradients(paddle: Any) -> None:
    parameter = paddle.create_parameter([4, 6], "float32")
    result = einrs.repeat(einrs.rearrange(parameter, "a b -> b a"), "b a -> b (a 3)")
    (result * 2).sum().backward()
    assert parameter.grad.numpy().tolist() == np.full((4, 6), 6.0).tolist()
    assert einrs.asnumpy(parameter).shape == (4, 6)


def test_paddles_values_as_lengths(paddle: Any) -> None:
    def function(x: Any, y: Any) -> Any:
        split = einrs.rearrange(x, "(a k) b -> k a b", k=paddle.shape(y)[0])
        return einrs.repeat(split, "k a b -> k a (b n)", n=paddle.shape(y)[0])

    specs = [paddle.static.InputSpec([None, 6]), paddle.static.InputSpec([None])]
    compiled = paddle.jit.to_static(function, input_spec=specs, full_graph=True)
    for n in (1, 2, 4):
        result = compiled(paddle.to_tensor(X), paddle.zeros([n])).numpy()
        split = einops.rearrange(X, "(a k) b -> k a b", k=n)
        np.testing.assert_array_equal(result, einops.repeat(split, "k a b -> k a (b n)", n=n))


def test_paddles_means_of_bfloat16(paddle: Any) -> None:
    """They are paddle's affair, which has a kernel on a GPU and none on a CPU; einops refuses."""
    tensor = paddle.to_tensor(X).astype("bfloat16")
    outcomes = []
    for mean in (lambda: tensor.mean(axis=1), lambda: einrs.reduce(tensor, "a b -> a", "mean")):
        try:
            outcomes.append(str(mean()))
        except RuntimeError as error:
            outcomes.append(repr(type(error)))
    assert outcomes[0] == outcomes[1]


# --- dask


def test_dasks_unknown_sizes() -> None:
    """Whole axes are moved and reduced; what needs a number says how to get it."""
    da = pytest.importorskip("dask.array")
    x = da.from_array(X, chunks=2)
    x = x[x[:, 0] > 3]
    expected = X[X[:, 0] > 3]
    np.testing.assert_array_equal(einrs.rearrange(x, "a b -> b a"), expected.T)
    np.testing.assert_array_equal(einrs.reduce(x, "a b -> b", "max"), expected.max(0))
    for call in (
        lambda: einrs.rearrange(x, "a (b c) -> a b c", b=2),
        lambda: einrs.repeat(x, "a b -> a b 2"),
    ):
        with pytest.raises(einrs.EinopsError, match="compute_chunk_sizes"):
            call()
    x.compute_chunk_sizes()
    assert einrs.rearrange(x, "a (b c) -> a b c", b=2).shape == (3, 2, 3)
