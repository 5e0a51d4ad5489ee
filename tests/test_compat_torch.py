"""Turns what programs do with einops' torch names into tests: scripts, graphs, derived backends."""

from typing import Any

import einops
import pytest

import einrs
from fresh import run

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.needs_torch,
    pytest.mark.filterwarnings("ignore:`torch.jit.*is deprecated"),
]

from einrs._torch_specific import (  # noqa: E402
    TorchJitBackend,
    allow_ops_in_compiled_graph,
    apply_for_scriptable_torch,
)
from einrs.einops import _prepare_recipes_for_all_dims  # noqa: E402

CASES = [
    ("a (b c) ... -> ... c (a b)", "rearrange", {"b": 2}),
    ("a b c -> (a 2) b k 1 c", "repeat", {"k": 3}),
    ("a b c -> a b c", "rearrange", {}),
    ("(a a2) (b 3) ... -> (b a) ...", "sum", {"a2": 2}),
    *[("a b ... -> (a 1) ...", name, {}) for name in ("min", "max", "sum", "mean", "prod")],
    *[("a b ... -> ... a", name, {}) for name in ("any", "all")],
]


class Layer(torch.nn.Module):
    """A layer of einops as others have copied it."""

    def __init__(self, pattern: str, operation: str, lengths: dict[str, int]) -> None:
        super().__init__()
        self.operation = operation
        self.recipes = _prepare_recipes_for_all_dims(pattern, operation, tuple(lengths))
        self.lengths = tuple(lengths.items())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        recipe = self.recipes[x.ndim]
        return apply_for_scriptable_torch(recipe, x, self.operation, axes_dims=self.lengths)


def tensor_for(operation: str) -> Any:
    x = torch.arange(48.0).reshape(2, 6, 4) / 7
    return x > 3 if operation in ("any", "all") else x


@pytest.mark.parametrize(("pattern", "operation", "lengths"), CASES)
@pytest.mark.parametrize("scripted", [False, True])
def test_a_recipe_in_a_script(
    pattern: str, operation: str, lengths: dict[str, int], scripted: bool
) -> None:
    layer = Layer(pattern, operation, lengths)
    x = tensor_for(operation)
    result = (torch.jit.script(layer) if scripted else layer)(x)
    assert torch.equal(result, einops.reduce(x, pattern, operation, **lengths))


def test_a_script_refuses_sizes_that_do_not_fit() -> None:
    layer = torch.jit.script(Layer("a (b c) -> a b c", "rearrange", {"b": 4}))
    with pytest.raises(torch.jit.Error, match="can't divide axis of length 6 in chunks of 4"):
        layer(torch.zeros(2, 6))


def test_the_static_backend() -> None:
    x = tensor_for("sum")
    assert TorchJitBackend.is_float_type(x)
    assert not TorchJitBackend.is_float_type(x > 1)
    assert TorchJitBackend.stack_on_zeroth_dimension([x, x]).shape == (2, 2, 6, 4)
    assert torch.equal(TorchJitBackend.tile(x, [1, 2, 1]), x.repeat(1, 2, 1))
    with pytest.raises(NotImplementedError, match="median"):
        TorchJitBackend.reduce(x, "median", [0])


def test_the_operations_stay_traced() -> None:
    """What einops' function does, allow_in_graph, would hide the torch operations in a graph."""
    allow_ops_in_compiled_graph()
    graphs = []

    def backend(graph: Any, inputs: Any) -> Any:
        graphs.append(graph)
        return graph.forward

    compiled = torch.compile(
        lambda x: einrs.rearrange(x, "a (b c) -> c a b", b=2), backend=backend, fullgraph=True
    )
    x = torch.arange(12.0).reshape(2, 6)
    assert torch.equal(compiled(x), einops.rearrange(x, "a (b c) -> c a b", b=2))
    called = [node.target for graph in graphs for node in graph.graph.nodes]
    assert einrs.rearrange not in called
    assert "permute" in called


def test_allowed_before_torch_is_imported() -> None:
    """audiolm_pytorch calls it in the first lines of its package."""
    run(
        """
        import sys
        from einrs._torch_specific import allow_ops_in_compiled_graph
        allow_ops_in_compiled_graph()
        assert "torch" not in sys.modules
        """
    )


PROXIES = """
import types
import torch
import einrs
import einrs._backends

class Proxy:
    def __init__(self, tensor):
        self.tensor = tensor
        self.shape, self.dtype = tuple(tensor.shape), tensor.dtype

    def __getattr__(self, name):
        method = getattr(self.tensor, name)
        return lambda *args, **keywords: Proxy(method(*args, **keywords))

    def __getitem__(self, key):
        return Proxy(self.tensor[key])

def function(name):
    def call(first, *rest, **keywords):
        many = isinstance(first, list)
        first = [one.tensor for one in first] if many else first.tensor
        return Proxy(getattr(torch, name)(first, *rest, **keywords))
    return call

names = ("unsqueeze", "stack", "cat")
proxied = types.SimpleNamespace(**{name: function(name) for name in names})

class ProxyBackend(einrs._backends.TorchBackend):
    framework_name = "thunder"

    def __init__(self):
        super().__init__()
        self.torch = proxied

    def is_appropriate_type(self, tensor):
        return isinstance(tensor, Proxy)

    def is_float_type(self, tensor):
        return tensor.dtype.is_floating_point
"""


def test_a_backend_derived_from_torchs_serves_its_proxies() -> None:
    """As lightning-thunder does: another module in place of torch, and a type in the table."""
    run(
        PROXIES
        + """
einrs._backends._type2backend[Proxy] = ProxyBackend()
x = torch.arange(12.0).reshape(2, 6)
assert torch.equal(
    einrs.rearrange(Proxy(x), "a (b c) -> c a b", b=2).tensor,
    einrs.rearrange(x, "a (b c) -> c a b", b=2),
)
for name in ("mean", "max", "prod"):
    assert torch.equal(
        einrs.reduce(Proxy(x), "a (b c) -> c", name, b=2).tensor,
        einrs.reduce(x, "a (b c) -> c", name, b=2),
    )
repeated = einrs.repeat(Proxy(x), "a b -> b k a", k=3).tensor
assert torch.equal(repeated, einrs.repeat(x, "a b -> b k a", k=3))
packed, shapes = einrs.pack([Proxy(x), Proxy(x[:, 0])], "a *")
assert packed.tensor.shape == (2, 7)
"""
    )


def test_torchs_own_type_written_into_the_table() -> None:
    """Also once the type is served natively; and back again."""
    run(
        """
        import torch
        import einrs
        import einrs._backends

        calls = []

        class Noting(einrs._backends.TorchBackend):
            def transpose(self, x, axes):
                calls.append(axes)
                return super().transpose(x, axes)

        x = torch.arange(6.0).reshape(2, 3)
        expected = x.T.contiguous()
        assert torch.equal(einrs.rearrange(x, "a b -> b a"), expected)
        assert torch.equal(einrs.rearrange(x, "a b -> b a"), expected)
        einrs._backends._type2backend[torch.Tensor] = Noting()
        assert torch.equal(einrs.rearrange(x, "a b -> b a"), expected)
        assert torch.equal(einrs.rearrange(x, "a b -> b a"), expected)
        assert calls == [[1, 0]] * 2
        del einrs._backends._type2backend[torch.Tensor]
        assert torch.equal(einrs.rearrange(x, "a b -> b a"), expected)
        assert calls == [[1, 0]] * 2
        """
    )
