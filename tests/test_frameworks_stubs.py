"""Checks that a framework that is half loaded, broken or a stub disturbs no other one."""

import pytest

import fresh

# What stands in sys.modules under the name of a framework before einrs meets a tensor.
STUBS = {
    "an empty module": "types.ModuleType(name)",
    "None": "None",
    "an object": "object()",
    "a module that raises": "Raising(name)",
    "a module that imports lazily": "Lazy(name)",
    "a mock": "mock.MagicMock()",
}
SETUP = """
import sys, types
from unittest import mock

class Raising(types.ModuleType):
    def __getattr__(self, attribute):
        raise RuntimeError("this framework is broken")

class Lazy(types.ModuleType):
    def __getattr__(self, attribute):
        raise AttributeError(attribute)

OTHERS = ["numpy", "torch", "jax", "jaxlib", "tensorflow", "mlx", "cupy", "keras", "paddle",
          "oneflow", "tinygrad", "pytensor", "torch._dynamo", "jax.export", "jax.core"]
"""
NUMPY = """
import numpy as np, einrs
for name in OTHERS:
    if not name.startswith("numpy"):
        sys.modules[name] = {stub}
x = np.arange(24.0).reshape(4, 6)

class Sub(np.ndarray):
    pass

for array in (x, x.view(Sub)):
    assert einrs.rearrange(array, "(a c) b -> c b a", c=2).shape == (2, 6, 2)
    assert einrs.rearrange([array, array], "k a b -> b a k").shape == (6, 4, 2)
    assert einrs.reduce(array, "a b -> a", "max").tolist() == x.max(1).tolist()
    assert einrs.repeat(array, "a b -> a b k", k=np.int64(2)).shape == (4, 6, 2)
for wrong in (None, (x, x), object()):
    try:
        einrs.rearrange(wrong, "a b -> b a")
    except einrs.EinopsError as error:
        assert "Tensor type unknown" in str(error)
    else:
        raise AssertionError
# A type that the stub claims as its own.
Claimed = type("Claimed", (), dict(__module__="torch", shape=(2, 3)))
try:
    einrs.rearrange(Claimed(), "a b -> b a")
except einrs.EinopsError as error:
    assert "Tensor type unknown" in str(error)
else:
    raise AssertionError
print("right")
"""


@pytest.mark.parametrize("stub", STUBS)
def test_numpy_beside_stubs(stub: str) -> None:
    assert fresh.run(SETUP + NUMPY.replace("{stub}", STUBS[stub])) == "right\n"


TORCH = """
import torch, einrs
real = {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == "numpy"}
for name in OTHERS:
    if not name.startswith("torch"):
        sys.modules[name] = {stub}
x = torch.arange(24.0).reshape(4, 6)
assert einrs.rearrange(x, "(a c) b -> c b a", c=2).shape == (2, 6, 2)
assert torch.equal(einrs.reduce(x, "a b -> a", "max"), x.amax(1))
assert einrs.repeat(torch.nn.Parameter(x), "a b -> a b k", k=2).shape == (4, 6, 2)
print("right")
"""


@pytest.mark.needs_torch
@pytest.mark.parametrize("stub", STUBS)
def test_torch_beside_stubs(stub: str) -> None:
    assert fresh.run(SETUP + TORCH.replace("{stub}", STUBS[stub])) == "right\n"


JAX = """
import jax, einrs
for name in OTHERS:
    if name.split(".")[0] not in ("numpy", "jax", "jaxlib"):
        sys.modules[name] = {stub}
x = jax.numpy.arange(24.0).reshape(4, 6)
assert einrs.rearrange(x, "(a c) b -> c b a", c=2).shape == (2, 6, 2)
assert einrs.rearrange(x, "(a c) b -> c b a", c=jax.numpy.array(2)).shape == (2, 6, 2)
print("right")
"""


@pytest.mark.needs_jax
@pytest.mark.parametrize("stub", ["an empty module", "a mock"])
def test_jax_beside_stubs(stub: str) -> None:
    assert fresh.run(SETUP + JAX.replace("{stub}", STUBS[stub])) == "right\n"


HALF_LOADED = """
import sys, types, einrs

half = types.ModuleType("numpy")
sys.modules["numpy"] = half
Claimed = type("ndarray", (), dict(__module__="numpy", shape=(2, 3)))
for _ in range(2):
    try:
        einrs.rearrange(Claimed(), "a b -> b a")
    except einrs.EinopsError as error:
        assert "Tensor type unknown" in str(error)
    else:
        raise AssertionError
# The framework is loaded completely after all.
del sys.modules["numpy"]
import numpy as np
assert einrs.rearrange(np.zeros((2, 3)), "a b -> b a").shape == (3, 2)
try:
    einrs.rearrange(Claimed(), "a b -> b a")
except einrs.EinopsError:
    print("right")
"""


def test_half_loaded_and_then_whole() -> None:
    assert fresh.run(HALF_LOADED) == "right\n"


WITHIN = """
import importlib.abc, importlib.util, sys, einrs

class Calls(importlib.abc.MetaPathFinder):
    '''Calls einrs in the middle of numpy's own import.'''

    def find_spec(self, name, path=None, target=None):
        if name == "numpy.linalg":
            sys.meta_path.remove(self)
            array = sys.modules["numpy._core.multiarray"].zeros((2, 3))
            try:
                print(einrs.rearrange(array, "a b -> b a").shape)
            except einrs.EinopsError:
                print("refused")
        return None

sys.meta_path.insert(0, Calls())
import numpy as np
print(einrs.rearrange(np.zeros((2, 3)), "a b -> b a").shape)
print(einrs.reduce(np.ones((2, 3)), "a b -> a", "mean"))
"""


def test_a_call_in_the_middle_of_an_import() -> None:
    first, *rest = fresh.run(WITHIN).splitlines()
    assert first in ("(3, 2)", "refused")
    assert rest == ["(3, 2)", "[1. 1.]"]


WITHOUT_NUMPY = """
import sys
sys.modules["numpy"] = None
import warnings
warnings.simplefilter("ignore")
import torch, einrs
x = torch.arange(24.0).reshape(4, 6)
assert einrs.rearrange(x, "(a c) b -> c b a", c=2).shape == (2, 6, 2)
compiled = torch.compile(lambda x: einrs.reduce(x, "a b -> a", "max"), backend="eager")
assert torch.equal(compiled(x), x.amax(1))
print("right")
"""


@pytest.mark.needs_torch
def test_torch_without_numpy() -> None:
    """Where numpy is not installed, nothing asks for it."""
    assert fresh.run(WITHOUT_NUMPY, "-W", "ignore") == "right\n"
