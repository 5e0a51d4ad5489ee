"""Checks what importing and using einrs loads: no framework that the program has not loaded."""

import pytest

import fresh

FRAMEWORKS = [
    *("numpy", "torch", "jax", "jaxlib", "tensorflow", "keras", "mlx", "cupy", "paddle", "oneflow"),
    *("tinygrad", "pytensor", "dask", "array_api_compat", "array_api_strict", "ml_dtypes", "scipy"),
    *("hypothesis", "pytest", "einops"),
]
REPORT = f"""
import sys
loaded = [name for name in {FRAMEWORKS!r} if name in sys.modules]
print(*loaded)
"""


def loaded_by(program: str) -> set[str]:
    """The frameworks in `sys.modules` after a program in a process of its own."""
    return set(fresh.run(program + REPORT).splitlines()[-1].split())


USES = {
    "import": "import einrs",
    "as einops": "import einrs as einops",
    "names": "from einrs import *; from einrs import EinopsError",
    "cache": "import einrs; einrs.cache_info(); einrs.cache_clear()",
    "documentation": "import einrs, inspect; inspect.getdoc(einrs.rearrange)",
    "strategies not used": "import einrs.testing",
    "seeded cases": """
import einrs.testing
draw = einrs.testing.RandomDraw(0)
einrs.testing.draw_case(draw, einrs.testing.NUMPY_MENU)
""",
    "errors": """
import einrs
for tensor in (None, [], (1, 2), object()):
    try:
        einrs.rearrange(tensor, "a b -> b a")
    except einrs.EinopsError:
        pass
""",
    "array API": """
import einrs

class Array:
    shape = (2, 3)
    def __array_namespace__(self): return self
    def permute_dims(self, array, axes): return axes

assert einrs.rearrange(Array(), "a b -> b a") == (1, 0)
""",
}


@pytest.mark.parametrize("use", USES)
def test_loads_no_framework(use: str) -> None:
    assert loaded_by(USES[use]) == set()


@pytest.mark.parametrize("name", ["numpy", "hypothesis", "einops"])
def test_loading_would_be_seen(name: str) -> None:
    assert name in loaded_by(f"import einrs, {name}")


def test_numpy_alone() -> None:
    program = """
import numpy, einrs
x = numpy.zeros((4, 6))
einrs.rearrange(x, "(a c) b -> c b a", c=2)
einrs.reduce(x, "a b -> a", "mean")
einrs.reduce([x], "k a b -> a", numpy.max)
einrs.repeat(x, "a b -> a b k", k=numpy.int64(2))
"""
    assert loaded_by(program) == {"numpy"}


@pytest.mark.needs_torch
def test_torch_alone() -> None:
    program = """
import sys, torch
before = set(sys.modules)
import einrs
x = torch.zeros((4, 6))
einrs.rearrange(x, "(a c) b -> c b a", c=2)
einrs.reduce(x, "a b -> a", "mean")
einrs.reduce([x], "k a b -> a", lambda t, axes: t.sum(axes))
einrs.repeat(x, "a b -> a b k", k=torch.tensor(2))
new = {name.split(".")[0] for name in set(sys.modules) - before}
print(sorted(new - set(sys.stdlib_module_names)))
print("torch._dynamo" in sys.modules)
"""
    lines = fresh.run(program).splitlines()
    assert lines == ["['einrs']", "False"]


@pytest.mark.needs_jax
def test_jax_alone() -> None:
    program = """
import jax, einrs
x = jax.numpy.zeros((4, 6))
einrs.rearrange(x, "(a c) b -> c b a", c=2)
einrs.reduce([x], "k a b -> a", "mean")
"""
    assert loaded_by(program) == loaded_by("import jax; jax.numpy.zeros((4, 6)) + 1")


def test_one_finder_waits_and_steps_aside() -> None:
    """The hook for Dynamo is the only trace in the import system, and finds nothing itself."""
    program = """
import sys
before = list(sys.meta_path)
import einrs, importlib
added = [finder for finder in sys.meta_path if finder not in before]
assert [type(finder).__module__ for finder in added] == ["einrs._dynamo"]
assert added[0].find_spec("json") is None
importlib.reload(einrs)
import json.tool, email
print("right")
"""
    assert fresh.run(program) == "right\n"
