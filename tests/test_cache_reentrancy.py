"""Checks calls made while einrs runs: by callables, lengths, destructors and types."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import einrs
import fresh


@pytest.fixture(autouse=True)
def cold() -> Iterator[None]:
    einrs.cache_clear()
    yield
    einrs.cache_clear()


X = np.arange(24.0).reshape(2, 3, 4)


def call_all() -> None:
    """Calls on all ways: warm, cold, readable and wrong; then all is forgotten."""
    for pattern in ("a b c -> c b a", "a b c -> (a b c)", "a  b  c -> b a c"):
        einrs.rearrange(X, pattern)
    einrs.reduce(X, "a b c -> a", "max")
    einrs.reduce(X, "a b c -> a", np.max)
    einrs.rearrange(X, "a (b d) c -> d a b c", b=np.int64(3))
    with pytest.raises(einrs.EinopsError):
        einrs.repeat(X, "a -> a a")
    einrs.cache_info()
    einrs.cache_clear()


# --- callables and lengths


def tensors() -> list[Any]:
    def on_torch() -> Any:
        import torch

        return torch.from_numpy(X)

    def on_jax() -> Any:
        import jax.numpy

        return jax.numpy.asarray(X, "float32")

    return [
        lambda: X,
        pytest.param(on_torch, marks=pytest.mark.needs_torch),
        pytest.param(on_jax, marks=pytest.mark.needs_jax),
    ]


each_tensor = pytest.mark.parametrize("make", tensors(), ids=["numpy", "torch", "jax"])


@each_tensor
def test_callable_that_calls(make: Callable[[], Any]) -> None:
    def reduction(tensor: Any, axes: tuple[int, ...]) -> Any:
        call_all()
        return einrs.reduce(einrs.rearrange(tensor, "b c a -> a b c"), "a b c -> b c", "sum")

    for _ in range(3):
        result = einrs.reduce(make(), "a b c -> b c", reduction)
        np.testing.assert_array_equal(np.asarray(result), X.sum(0))


@each_tensor
def test_callable_that_recurses(make: Callable[[], Any]) -> None:
    depth = 0

    def reduction(tensor: Any, axes: tuple[int, ...]) -> Any:
        nonlocal depth
        depth += 1
        if depth < 30:
            return einrs.reduce(tensor, "b c a -> b c", reduction)
        return tensor.sum(axes)

    result = einrs.reduce(make(), "a b c -> b c", reduction)
    np.testing.assert_array_equal(np.asarray(result), X.sum(0))


@each_tensor
def test_callable_that_never_ends(make: Callable[[], Any]) -> None:
    def reduction(tensor: Any, axes: tuple[int, ...]) -> Any:
        return einrs.reduce(tensor, "b c a -> b c", reduction)

    with pytest.raises(RecursionError):
        einrs.reduce(make(), "a b c -> b c", reduction)
    assert einrs.reduce(make(), "a b c -> b c", "sum").shape == (3, 4)


@each_tensor
def test_length_that_calls(make: Callable[[], Any]) -> None:
    class Calls:
        def __index__(self) -> int:
            call_all()
            return int(einrs.reduce(X, "a b c -> a", "any").size)

    for _ in range(3):
        assert einrs.rearrange(make(), "a b (c d) -> d a b c", c=Calls()).shape == (2, 2, 3, 2)
        assert einrs.repeat(make(), "a b c -> a k b c", k=Calls()).shape == (2, 2, 3, 4)
        assert einrs.rearrange(make(), "a b (c d) -> d a b c", c=2).shape == (2, 2, 3, 2)


# --- arrays that call


class Dying(np.ndarray):
    """An array that calls einrs when it dies, as the steps in between do, and when it is born."""

    deaths = 0

    def __array_finalize__(self, other: Any) -> None:
        einrs.rearrange(X, "a b c -> b c a")

    def __del__(self) -> None:
        type(self).deaths += 1
        call_all()


def test_array_that_calls_when_it_dies() -> None:
    dying = X.view(Dying)
    for _ in range(3):
        deaths = Dying.deaths
        result = einrs.rearrange(dying, "a b (c d) -> (d a) b c", c=2)
        assert Dying.deaths > deaths
        np.testing.assert_array_equal(result, einrs.rearrange(X, "a b (c d) -> (d a) b c", c=2))
        np.testing.assert_array_equal(einrs.reduce(dying, "a b c -> a", "sum"), X.sum((1, 2)))


class Metered(np.ndarray):
    """An array whose properties and methods call einrs."""

    @property
    def shape(self) -> Any:
        call_all()
        return super().shape

    def reshape(self, *shape: Any, **keywords: Any) -> Any:
        call_all()
        return super().reshape(*shape, **keywords)

    def transpose(self, *axes: Any) -> Any:
        call_all()
        return super().transpose(*axes)


def test_array_that_calls_when_it_is_asked() -> None:
    metered = X.view(Metered)
    for _ in range(2):
        result = einrs.rearrange(metered, "a b (c d) -> (d a) b c", c=2)
        np.testing.assert_array_equal(result, einrs.rearrange(X, "a b (c d) -> (d a) b c", c=2))


# Each in a process of its own, which hangs if a guard is held while Python code runs.

EVICTED = """
    import einrs, numpy as np

    X = np.zeros((2, 3))
    deaths = []

    class Step:
        def __call__(self, tensor):
            return tensor.value

        def __del__(self):
            deaths.append(einrs.cache_info().size)
            einrs.rearrange(X, "c d -> d c")
            einrs.rearrange(X, f"c{len(deaths)} d -> d c{len(deaths)}")

    class Tensor:
        shape, ndim, value = (2, 3), 2, X.T

    def program(*arguments):
        return [(Step(), None)], ()

    einrs._einrs.register_steps((Tensor,), program, False, False, True)
    for i in range(100):
        assert einrs.rearrange(Tensor(), f"a{i} b -> b a{i}") is Tensor.value
    assert not deaths
    {forget}
    print(len(deaths) >= 100, einrs.rearrange(Tensor(), "a b -> b a") is Tensor.value)
"""
FORGET = {
    "cleared": "einrs.cache_clear()",
    "evicted": "for i in range(10_000): einrs.rearrange(X, f'a{i} b -> b a{i}')",
}


@pytest.mark.parametrize("forget", FORGET)
def test_entry_that_calls_when_it_is_forgotten(forget: str) -> None:
    program = EVICTED.replace("{forget}", FORGET[forget])
    assert fresh.run(program, timeout=60).split() == ["True", "True"]


def test_program_that_calls_while_it_is_made() -> None:
    program = """
        import einrs, numpy as np

        class Tensor:
            shape, ndim = (2, 3), 2

        def program(operation, pattern, *rest):
            if pattern == "a b -> b a":
                assert einrs.rearrange(Tensor(), "a b -> b  a") == "a b -> b  a"
                einrs.cache_clear()
            return [(lambda tensor: pattern, None)], ()

        einrs._einrs.register_steps((Tensor,), program, False, False, True)
        print(*[einrs.rearrange(Tensor(), "a b -> b a") for _ in range(2)], sep="; ")
    """
    assert fresh.run(program, timeout=60) == "a b -> b a; a b -> b a\n"


def test_type_that_calls_when_it_is_hashed() -> None:
    """A type of arrays may have a metaclass, whose code runs when the type is looked up."""
    program = """
        import einrs, numpy as np

        X = np.zeros((2, 3))
        depth = 0

        class Meta(type):
            def __hash__(self):
                global depth
                depth += 1
                if depth < 5:
                    einrs.rearrange(X.view(Sub), "a b -> b a")
                depth -= 1
                return type.__hash__(self)

        class Sub(np.ndarray, metaclass=Meta):
            pass

        print(einrs.rearrange(X.view(Sub), "a b -> b a").shape)
    """
    assert fresh.run(program, timeout=60) == "(3, 2)\n"


def test_collected_objects_that_call() -> None:
    """The garbage collector may run a destructor wherever something is allocated."""
    program = """
        import gc, einrs, numpy as np

        X = np.zeros((2, 3))

        class Sub(np.ndarray):
            pass

        class Cycle:
            def __init__(self):
                self.cycle = self

            def __del__(self):
                einrs.rearrange(X.view(Sub), "a b -> b a")
                einrs.rearrange(X, "a b -> b a")

        gc.freeze()  # What lives already need not be walked each time.
        gc.set_threshold(1, 1, 1)
        for i in range(2000):
            Cycle()
            assert einrs.rearrange(X.view(Sub), "a b -> b a").shape == (3, 2)
            assert einrs.rearrange(X, f"a{i} b -> b a{i}").shape == (3, 2)
        print("alive")
    """
    assert fresh.run(program, timeout=60) == "alive\n"


def test_collected_objects_that_call_while_a_key_is_compared() -> None:
    """A name that has no UTF-8 is compared with the names of the entry of the same pattern."""
    program = """
        import gc, einrs, numpy as np

        X = np.zeros(6)

        class Cycle:
            def __init__(self):
                self.cycle = self

            def __del__(self):
                assert einrs.rearrange(X, "(a b) -> a b", a=2).shape == (2, 3)

        einrs.rearrange(X, "(a b) -> a b", a=2)
        gc.freeze()  # What lives already need not be walked each time.
        gc.set_threshold(1, 1, 1)
        for i in range(500):
            Cycle()
            try:
                einrs.rearrange(X, "(a b) -> a b", **{"\\ud800": 2})
            except einrs.EinopsError:
                pass
        print("alive")
    """
    assert fresh.run(program, timeout=60) == "alive\n"
