"""Turns programs that use torch under the swap, each in a process of its own, into checks.

Whatever is imported first, and after torch's own hook for einops has run, Dynamo traces einrs'
functions to plain torch operations, without a warning.
"""

import pytest

import fresh

pytestmark = pytest.mark.needs_torch

ORDERS = {
    "swap, einops, torch": "import einrs; einrs.install(); import einops, torch",
    "torch, swap, einops": "import torch, einrs; einrs.install(); import einops",
    "Dynamo, swap, einops": "import torch._dynamo, einrs; einrs.install(); import einops",
    "swap, einops, Dynamo": "import einrs; einrs.install(); import einops, torch._dynamo",
}

COMPILE = """
import types
from unittest import mock
from einops import rearrange, repeat

graphs = []

def keep(graph, inputs):
    graphs.append(graph)
    return graph.forward

def compiled(function):
    return torch.compile(function, fullgraph=True, backend=keep)

def function(x):
    y = einops.rearrange(x, "b (h w) -> h b w", h=2)
    y = einops.reduce(y, "h b w -> b w", "sum")
    return rearrange(repeat(y, "b w -> b w k", k=3), "b w k -> (b w) k") + 1

x = torch.arange(24.0).reshape(4, 6)
assert torch.equal(compiled(function)(x), function(x))

# torch's own hook for einops runs once Dynamo meets a function of a module below einops.
below = types.ModuleType("einops.below")
exec("import einops\\ndef swapped(x): return einops.rearrange(x, 'a b -> b a')", vars(below))
from torch._dynamo import decorators
supports = decorators._einops_supports_dynamo_tracing
with mock.patch.object(decorators, supports.__name__, side_effect=supports) as hook:
    assert torch.equal(compiled(lambda x: below.swapped(x) + 1)(x), x.T + 1)
hook.assert_called_once_with(einops)

torch._dynamo.reset()
assert torch.equal(compiled(function)(x), function(x))

assert len(graphs) == 3
targets = [node.target for graph in graphs for node in graph.graph.nodes]
modules = {getattr(target, "__module__", None) or "" for target in targets if callable(target)}
assert not [name for name in modules if name.startswith(("einrs", "einops"))], targets
"""


@pytest.mark.parametrize("imports", ORDERS.values(), ids=ORDERS)
def test_dynamo_traces_the_functions(imports: str) -> None:
    assert fresh.run(imports + COMPILE) == ""


LATE_LAYERS = """
import einrs, pickle, sys, torch, warnings
import einops.layers.torch as real
before = dict(vars(real))
made_before = real.Rearrange("a b -> b a")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    einrs.install()

import einrs.layers.torch as ours
from einops.layers.torch import EinMix, Rearrange, Reduce
assert (EinMix, Rearrange, Reduce) == (ours.EinMix, ours.Rearrange, ours.Reduce)
assert EinMix is not before["EinMix"]
assert pickle.loads(b"ceinops.layers.torch\\nRearrange\\n.") is Rearrange
x = torch.arange(6.0).reshape(2, 3)
assert torch.equal(made_before(x), Rearrange("a b -> b a")(x))
einrs.uninstall()
assert vars(real) == before
assert type(pickle.loads(pickle.dumps(made_before))) is before["Rearrange"]
"""

OLD_PICKLE = """
import pickle, torch
from einops.layers.torch import Rearrange
print(pickle.dumps(Rearrange("a (b c) -> c a b", c=2)).hex())
"""

LOAD = """
import einrs, pickle, torch
einrs.install()
layer = pickle.loads(bytes.fromhex("{saved}"))
import einops.layers.torch, einrs.layers.torch
assert type(layer) is einops.layers.torch.Rearrange is einrs.layers.torch.Rearrange
x = torch.arange(8.0).reshape(2, 4)
assert torch.equal(layer(x), einrs.rearrange(x, "a (b c) -> c a b", c=2))
"""


def test_layers_that_were_imported_before_are_replaced_and_restored() -> None:
    assert fresh.run(LATE_LAYERS) == ""


def test_a_layer_that_einops_pickled_loads_as_one_of_einrs() -> None:
    assert fresh.run(LOAD.format(saved=fresh.run(OLD_PICKLE).strip())) == ""
