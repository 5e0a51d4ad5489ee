"""Checks that threads that call einrs at once, on a cold table or for the first time, get along."""

import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import einrs
import fresh
from test_cache_reentrancy import each_tensor

X = np.arange(24.0).reshape(2, 3, 4)


@pytest.fixture(autouse=True)
def cold() -> Iterator[None]:
    einrs.cache_clear()
    yield
    einrs.cache_clear()


def together(work: Callable[[int], None], count: int = 8) -> None:
    """Runs `work` in threads that start at once and take turns as often as they can."""
    start, errors = threading.Barrier(count), []

    def body(index: int) -> None:
        start.wait()
        try:
            work(index)
        except BaseException as error:
            errors.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=body, args=(index,)) for index in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not errors


def check_some(tensor: Any, count: int) -> None:
    for i in range(count):
        names = (f"a{i % 97}", f"b{i % 89}")
        pattern = f"({names[0]} {names[1]}) c d -> {names[1]} c {names[0]} d"
        result = einrs.rearrange(tensor, pattern, **{names[0]: 2})
        assert result.shape == (1, 3, 2, 4)
        assert float(result[0, 1, 1, 2]) == 18
        assert float(einrs.reduce(tensor, f"{names[0]} b c -> b c", "max")[2, 3]) == 23
        repeated = einrs.repeat(tensor, f"{names[0]} b c -> b {names[0]} c n", n=i % 5)
        assert repeated.shape == (3, 2, 4, i % 5)
    assert einrs.cache_info().size <= einrs.cache_info().limit


@each_tensor
def test_threads_on_a_cold_cache(make: Callable[[], Any], request: Any) -> None:
    tensor, compiles = make(), request.node.callspec.id == "jax"
    for _ in range(1 if compiles else 5):
        einrs.cache_clear()
        together(lambda index: check_some(tensor, 5 if compiles else 150))


def test_threads_while_another_clears() -> None:
    def work(index: int) -> None:
        for _ in range(50):
            if index == 0:
                einrs.cache_clear()
            else:
                check_some(X, 10)

    together(work)


def test_threads_count_every_call() -> None:
    together(lambda index: [einrs.rearrange(X, "a b c -> c b a") for _ in range(1000)] and None)
    info = einrs.cache_info()
    assert info.hits + info.misses == 8000
    assert info.size == 1


FIRST_CALLS = """
    import sys, threading
    import {framework}
    import numpy as np, einrs

    x = {tensor}
    start, shapes = threading.Barrier(8), []

    def body():
        start.wait()
        shapes.append(tuple(einrs.rearrange(x, "(a b) c -> c b a", a=2).shape))

    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=body) for _ in range(8)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    print(shapes == [(3, 2, 2)] * 8)
"""


@pytest.mark.parametrize(
    ("framework", "tensor"),
    [
        ("numpy", "np.zeros((4, 3))"),
        pytest.param("torch", "torch.zeros((4, 3))", marks=pytest.mark.needs_torch),
        pytest.param("jax", "jax.numpy.zeros((4, 3))", marks=pytest.mark.needs_jax),
    ],
)
def test_first_calls_of_threads(framework: str, tensor: str) -> None:
    """The first call of all loads the framework's module, and eight threads make it."""
    program = FIRST_CALLS.replace("{framework}", framework).replace("{tensor}", tensor)
    assert fresh.run(program, timeout=120) == "True\n"
