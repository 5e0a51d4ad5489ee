"""Checks jax's arrays, tracers and keys: results, errors and traces as einops gives them."""

from collections.abc import Callable
from typing import Any

import einops
import numpy as np
import pytest

import einrs
import fresh
from sides import OPERATIONS, differences

jax = pytest.importorskip("jax")
pytestmark = pytest.mark.needs_jax
jnp = jax.numpy

from test_jax_transforms import FUNCTIONS  # noqa: E402

SHAPE = (4, 6)


def numbers(dtype: Any = "float32") -> Any:
    values = np.arange(24) * 7 % 23 - 9
    if jnp.issubdtype(jnp.dtype(dtype), jnp.unsignedinteger):
        values = abs(values)
    return jnp.asarray(values, dtype).reshape(SHAPE)


def facts(result: Any, tensor: Any) -> dict[str, Any]:
    """All that einops' result and ours must have in common."""
    if not isinstance(result, jax.Array):
        return {"type": type(result), "value": result}
    found = {
        "type": type(result),
        "same object": result is tensor,
        "shape": result.shape,
        "dtype": result.dtype,
        "weak type": getattr(result, "weak_type", None),
        "devices": result.devices(),
        "committed": result.committed,
    }
    return found | {"value": Rounded(result)}


class Rounded:
    """Values that are equal up to the last bits: XLA sums fused steps in another order."""

    def __init__(self, array: Any) -> None:
        if jnp.issubdtype(array.dtype, jax.dtypes.prng_key):
            array = jax.random.key_data(array)
        self.exact = not jnp.issubdtype(array.dtype, jnp.inexact)
        self.tolerance = 0 if self.exact else 8 * float(jnp.finfo(array.dtype).eps)
        wide = np.complex128 if jnp.issubdtype(array.dtype, jnp.inexact) else None
        self.array = np.asarray(array).astype(wide or np.asarray(array).dtype)

    def __eq__(self, other: object) -> bool:
        assert isinstance(other, Rounded)
        if self.exact:
            return bool(np.array_equal(self.array, other.array))
        return np.allclose(self.array, other.array, self.tolerance, self.tolerance, equal_nan=True)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self.array)


# One call for each way through einrs: jax compiles for each, so that few must do.
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
DTYPES = [
    *("float32", "float16", "bfloat16", "float8_e4m3fn", "complex64"),
    *("bool", "int4", "int8", "int32", "uint8", "uint32"),
]


def test_few_are_enough() -> None:
    starts = [label.split("'")[0] for label in FEW]
    assert {"rearrange ", "repeat ", "reduce max ", "reduce mean ", "reduce any "} <= set(starts)


@pytest.mark.parametrize("op", ["rearrange", "reduce", "repeat"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(dtype: str, op: str) -> None:
    fine = 0
    for label, call in FEW.items():
        if label.startswith(op):
            succeeds, found = differences(call, lambda: numbers(dtype), facts)
            fine += succeeds
            assert not found, f"{label}: {found}"
    assert fine


def test_64_bits() -> None:
    with jax.enable_x64(True):
        for dtype in ("float64", "int64", "uint8"):
            for label, call in FEW.items():
                _, found = differences(call, lambda dtype=dtype: numbers(dtype), facts)
                assert not found, f"{dtype}: {label}: {found}"
        assert einrs.reduce(numbers("bool"), "a b -> a", "sum").dtype == "int64"
    # The same call after the switch is compiled anew.
    assert einrs.reduce(numbers("bool"), "a b -> a", "sum").dtype == "int32"


@pytest.mark.parametrize("op", ["rearrange", "reduce", "repeat"])
def test_weak_types(op: str) -> None:
    def make() -> Any:
        weak = jnp.broadcast_to(jnp.asarray(2.0), SHAPE)
        assert weak.weak_type
        return weak

    for label, call in FEW.items():
        if label.startswith(op):
            _, found = differences(call, make, facts)
            assert not found, f"{label}: {found}"
    assert einrs.rearrange(make(), "a b -> b a").weak_type
    assert not einrs.reduce(make(), "a b -> b", "sum").weak_type


def test_committed_to_a_device() -> None:
    device = jax.devices()[0]
    for label, call in FEW.items():
        _, found = differences(call, lambda: jax.device_put(numbers(), device), facts)
        assert not found, f"{label}: {found}"


def test_keys() -> None:
    def make() -> Any:
        return jax.random.split(jax.random.key(0), SHAPE)

    for label, call in FEW.items():
        if label.startswith("reduce"):
            continue
        assert differences(call, make, facts) == (True, []), label
    for name in ("min", "max", "sum", "mean", "any"):
        with pytest.raises((TypeError, ValueError, RuntimeError, NotImplementedError)):
            einrs.reduce(make(), "a b -> a", name)
    old = jax.random.split(jax.random.PRNGKey(0), 4)
    assert einrs.rearrange(old, "a b -> b a").shape == (2, 4)


def test_nothing_to_do_is_not_done() -> None:
    """Even a deleted array comes back, and nothing is compiled."""
    array = numbers()
    array.delete()
    assert einrs.rearrange(array, "a b -> a b") is array
    assert einrs.reduce(array, "a b -> a b", "sum") is array
    assert einrs.repeat(array, "... -> ...") is array
    with pytest.raises(RuntimeError, match="deleted"):
        einrs.rearrange(array, "a b -> b a")
    with pytest.raises(einrs.EinopsError, match="expected 3 dims"):
        einrs.rearrange(array, "a b c -> a b c")


@pytest.mark.parametrize("count", [1, 3])
def test_lists(count: int) -> None:
    for call in (
        lambda module, x: module.rearrange(x, "k a b -> a b k"),
        lambda module, x: module.reduce(x, "k a b -> a b", "max"),
        lambda module, x: module.reduce(x, "k a b -> b", lambda t, axes: t.sum(axes)),
        lambda module, x: module.repeat(x, "k a b -> k a 2 b"),
    ):
        _, found = differences(call, lambda: [numbers()] * count, lambda r, t: facts(r, t[0]))
        assert not found
    mixed = einrs.rearrange([numbers(), np.zeros(SHAPE, "f4")], "k a b -> a b k")
    assert isinstance(mixed, jax.Array)
    assert isinstance(einrs.rearrange([np.zeros(SHAPE), numbers()], "k a b -> a b k"), np.ndarray)


def test_callables_run_outside_of_jit() -> None:
    """They may look at values and use numpy, which no tracer allows."""
    seen = []

    def reduction(tensor: Any, axes: tuple[int, ...]) -> Any:
        seen.append((type(tensor), tensor.shape, axes))
        if float(tensor[0, 0]) > 1e6:
            raise AssertionError
        return jnp.asarray(np.median(np.asarray(tensor), axis=axes))

    ours = einrs.reduce(numbers(), "a b -> b", reduction)
    theirs = einops.reduce(numbers(), "a b -> b", reduction)
    assert seen[0] == seen[1]
    assert Rounded(ours) == Rounded(theirs)
    # Each call runs the callable anew.
    einrs.reduce(numbers(), "a b -> b", reduction)
    assert len(seen) == 3


def test_errors_are_not_of_jax() -> None:
    for _ in range(2):
        with pytest.raises(einrs.EinopsError, match="can't divide axis of length 4 in chunks of 3"):
            einrs.rearrange(numbers(), "(a c) b -> a c b", c=3)
        with pytest.raises(NotImplementedError, match="non-floating") as caught:
            einrs.reduce(numbers("int32"), "a b -> a", "mean")
        assert isinstance(caught.value, einrs.EinopsError)
    assert einrs.rearrange(numbers(), "(a c) b -> a c b", c=2).shape == (2, 2, 6)


@pytest.mark.parametrize("rank", [0, 1, 8])
def test_ranks(rank: int) -> None:
    array = jnp.arange(2.0**rank).reshape((2,) * rank)
    assert einrs.rearrange(array, "... -> (...)").shape == (2**rank,)
    assert einrs.repeat(array, "... -> ... 3").shape == (2,) * rank + (3,)
    assert float(einrs.reduce(array, "... ->", "max")) == 2**rank - 1


def test_empty_arrays() -> None:
    for make in (lambda: jnp.zeros((0, 6)), lambda: jnp.zeros((4, 0))):
        for call in (
            lambda module, x: module.rearrange(x, "a b -> (b a)"),
            lambda module, x: module.reduce(x, "a b -> a", "sum"),
            lambda module, x: module.reduce(x, "a b -> b", "max"),
            lambda module, x: module.repeat(x, "a b -> (a 2) b k", k=0),
        ):
            _, found = differences(call, make, facts)
            assert not found


def test_settings() -> None:
    """What users switch on to find mistakes finds none here."""
    x = numbers()
    calls = [FUNCTIONS[name] for name in ("split", "mean", "repeat")]
    settings: list[Callable[[], Any]] = [
        lambda: jax.disable_jit(),
        lambda: jax.debug_nans(True),
        lambda: jax.numpy_rank_promotion("raise"),
        lambda: jax.numpy_dtype_promotion("strict"),
        lambda: jax.transfer_guard("disallow"),
        lambda: jax.checking_leaks(),
    ]
    for setting in settings:
        with setting():
            for call in calls:
                assert Rounded(call(einrs, x)) == Rounded(call(einops, x))


def test_after_clearing_jaxs_caches() -> None:
    expected = einrs.rearrange(numbers(), "(a c) b -> c b a", c=2)
    jax.clear_caches()
    assert Rounded(einrs.rearrange(numbers(), "(a c) b -> c b a", c=2)) == Rounded(expected)


def test_one_compilation_for_a_shape() -> None:
    traced = []

    def counted(function: Any) -> Any:
        def body(tensor: Any) -> Any:
            traced.append(tensor.shape)
            return function(tensor)

        return jax.jit(body)

    from einrs._frameworks import _jax

    original, _jax._jit = _jax._jit, counted
    try:
        einrs.cache_clear()
        for shape in ((4, 6), (4, 6), (8, 6), (4, 6), (8, 6)):
            einrs.rearrange(jnp.zeros(shape), "(a c) b -> c b a", c=2)
    finally:
        _jax._jit = original
        einrs.cache_clear()
    assert traced == [(4, 6), (8, 6)]


def test_first_call_inside_a_trace() -> None:
    """Arrays that are made inside a trace are tracers: they must not be taken for concrete ones."""
    program = """
        import jax, jax.numpy as jnp, einrs
        x = jnp.ones((2, 3))
        traced = jax.jit(lambda x: einrs.rearrange(x, "a b -> b a"))(x)
        einrs.cache_clear()
        einrs.rearrange(x, "a b -> b a")
        print(traced.shape, einrs.cache_info().size)
    """
    assert fresh.run(program) == "(3, 2) 1\n"
