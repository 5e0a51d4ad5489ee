"""Checks what calls leave behind: references, and the process at its forks and at its end."""

import importlib.util
import os
import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import einrs
import fresh

TIMES = 1000

# Operation, pattern, lengths and reduction: each on another way through the binding.
OK: list[tuple[Any, ...]] = [
    (einrs.rearrange, "a b c -> a b c", {}),
    (einrs.rearrange, "a b c -> c b a", {}),
    (einrs.rearrange, "a (b d) c -> d a b c", {"d": 2}),
    (einrs.rearrange, "a b c -> (c b a)", {}),
    (einrs.rearrange, "a (b d) c -> d a b c", {"d": np.int64(2)}),
    (einrs.repeat, "a b c -> a b c d", {"d": 2}),
    (einrs.repeat, "a b c -> a (b d) c", {"d": 2}),
    (einrs.reduce, "a b c -> a b c", {}, "sum"),
    (einrs.reduce, "a b c -> a", {}, "max"),
    (einrs.reduce, "a b c -> ", {}, "mean"),
    (einrs.reduce, "a (b d) c -> c b", {"d": 2}, "sum"),
    (einrs.reduce, "a b c -> a b", {}, "any"),
    (einrs.reduce, "a b c -> a b", {}, lambda tensor, axes: tensor.sum(axes)),
]
WRONG: list[tuple[Any, ...]] = [
    (einrs.rearrange, "a b -> a b", {}),
    (einrs.rearrange, "a (b d) c -> d a b c", {"d": 5}),
    (einrs.rearrange, "a (b d) c -> d a b c", {"d": 2.0}),
    (einrs.rearrange, "(a b c -> a b c", {}),
    (einrs.repeat, "a b c -> a b c d", {"d": -1}),
    (einrs.reduce, "a b c -> a", {}, "maxx"),
    (einrs.rearrange, None, {}),
]


def on_numpy() -> Any:
    return np.ones((4, 6, 8), "float32")


def on_torch() -> Any:
    import torch

    return torch.ones((4, 6, 8))


def on_jax() -> Any:
    import jax.numpy

    return jax.numpy.ones((4, 6, 8))


each_framework = pytest.mark.parametrize(
    "make",
    [
        on_numpy,
        pytest.param(on_torch, marks=pytest.mark.needs_torch),
        pytest.param(on_jax, marks=pytest.mark.needs_jax),
    ],
)


def call(row: tuple[Any, ...], tensor: Any) -> None:
    operation, pattern, lengths, *reduction = row
    try:
        operation(tensor, pattern, *reduction, **lengths)
    except (RuntimeError, TypeError):
        assert row in WRONG


@each_framework
@pytest.mark.parametrize("row", OK + WRONG, ids=lambda row: f"{row[0].__name__} {row[1]}")
def test_references(make: Callable[[], Any], row: tuple[Any, ...]) -> None:
    tensor = make()
    lengths = list(row[2].values())
    counted = [tensor, tensor.dtype, type(tensor), row[1], *row[2], *lengths, *row[3:]]
    # Compiled, and met by whatever the framework keeps by itself.
    for _ in range(3):
        call(row, tensor)
    before = [sys.getrefcount(thing) for thing in counted]
    for _ in range(TIMES if make is not on_jax else TIMES // 10):
        call(row, tensor)
    after = [sys.getrefcount(thing) for thing in counted]
    # Types and dtypes belong to everybody, so that they may change a little by themselves.
    grown = [new - old for old, new in zip(before, after, strict=True)]
    assert max(map(abs, grown)) < TIMES // 20
    assert grown[0] == 0


@pytest.mark.parametrize("row", OK, ids=lambda row: f"{row[0].__name__} {row[1]}")
def test_results_die(row: tuple[Any, ...]) -> None:
    operation, pattern, lengths, *reduction = row
    tensor = on_numpy()
    count = sys.getrefcount(tensor)
    result = operation(tensor, pattern, *reduction, **lengths)
    if result is tensor or isinstance(result, np.generic):
        return
    alive = weakref.ref(result)
    del result
    assert alive() is None
    assert sys.getrefcount(tensor) == count


def test_views_keep_their_tensor_alive() -> None:
    tensor = on_numpy()
    alive = weakref.ref(tensor)
    view = einrs.rearrange(tensor, "a (b d) c -> d a b c", d=2)
    assert view.base is tensor
    del tensor
    assert alive() is view.base
    assert float(view.sum()) == 4 * 6 * 8
    del view
    assert alive() is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform does not fork")
def test_fork() -> None:
    program = """
        import os, threading, numpy as np, einrs

        x, stop = np.arange(6).reshape(2, 3), False

        def busy():
            i = 0
            while not stop:
                i += 1
                einrs.rearrange(x, f"a{i % 5000} b -> b a{i % 5000}")

        def child():
            einrs.cache_info()
            assert einrs.rearrange(x, "a b -> b a").shape == (3, 2)
            assert einrs.rearrange(x, "new b -> b new").shape == (3, 2)
            assert einrs.reduce(x, "a b -> a", "sum").tolist() == [3, 12]
            einrs.cache_clear()

        einrs.rearrange(x, "a b -> b a")
        thread = threading.Thread(target=busy)
        thread.start()
        statuses = []
        for _ in range(50):
            pid = os.fork()
            if pid == 0:
                try:
                    child()
                    os._exit(0)
                finally:
                    os._exit(1)
            statuses.append(os.waitpid(pid, 0)[1])
        stop = True
        thread.join()
        print(statuses == [0] * 50)
    """
    # From 3.12 on Python warns of every fork with threads, which is the point of this test.
    assert fresh.run(program, "-W", "ignore::DeprecationWarning", timeout=120) == "True\n"


ENDINGS = {
    "plain": "",
    "after threads": """
import threading
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
""",
    "in a thread that goes on": """
import threading, time
def forever():
    while True:
        work()
for _ in range(4):
    threading.Thread(target=forever, daemon=True).start()
time.sleep(0.05)
""",
    "in an exit handler": """
import atexit
atexit.register(work)
""",
    "in a destructor of the last hour": """
class Late:
    def __del__(self, rearrange=einrs.rearrange, reduce=einrs.reduce, x=x):
        rearrange(x, "a (b c) -> c a b", b=2)
        rearrange(x, "new b -> b new")
        reduce(x, "a b -> a", "max")
late = Late()
""",
}
MAKE = {
    "numpy": "import numpy; x = numpy.ones((2, 6))",
    "torch": "import torch; x = torch.ones((2, 6))",
    "jax": "import jax; x = jax.numpy.ones((2, 6))",
}
WORK = """
import einrs
{make}
def work():
    einrs.rearrange(x, "a (b c) -> c a b", b=2)
    einrs.reduce(x, "a b -> a", "max")
    einrs.reduce(x, "a b -> a", lambda tensor, axes: tensor.sum(axes))
work()
{ending}
print("end")
"""


def endings() -> list[Any]:
    rows = [("numpy", ending) for ending in ENDINGS]
    # A thread that goes on inside of XLA or libtorch is not einrs' to end well.
    rows += [(name, "plain") for name in ("torch", "jax")]
    rows += [(name, "after threads") for name in ("torch", "jax")]
    marks = {name: getattr(pytest.mark, f"needs_{name}") for name in ("torch", "jax")}
    return [pytest.param(*row, marks=marks.get(row[0], ())) for row in rows]


@pytest.mark.parametrize(("framework", "ending"), endings())
def test_end(framework: str, ending: str) -> None:
    """A destructor of the binding that runs after the interpreter would abort the process."""
    program = WORK.replace("{make}", MAKE[framework]).replace("{ending}", ENDINGS[ending])
    assert fresh.run(program) == "end\n"


def interpreters() -> str | None:
    for name in ("_interpreters", "_xxsubinterpreters"):
        if importlib.util.find_spec(name) is not None:
            return name
    return None


@pytest.mark.skipif(interpreters() is None, reason="this Python has no module for interpreters")
def test_second_interpreter() -> None:
    """It would share our table and numpy's types: it is refused, and the first one works on."""
    program = f"""
        import einrs, numpy as np
        import {interpreters()} as interpreters

        x = np.zeros((2, 3))
        einrs.rearrange(x, "a b -> b a")
        second = interpreters.create()
        code = "\\n".join([
            "try: import einrs",
            "except ImportError: pass",
            "else: raise SystemError('einrs was imported a second time')",
        ])
        assert interpreters.run_string(second, code) is None
        interpreters.destroy(second)
        print(einrs.rearrange(x, "a b -> b a").shape)
    """
    assert fresh.run(program, "-W", "ignore::DeprecationWarning") == "(3, 2)\n"
