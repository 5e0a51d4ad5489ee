"""Checks that what Dynamo traces in place of the builtins does what they do, traced or not."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import einrs  # noqa: E402
from einops_suite import runner  # noqa: E402
from einrs import _polyfills  # noqa: E402
from test_tables import CASES, Case, row_id, torch_tensor  # noqa: E402

OPERATIONS = ("rearrange", "reduce", "repeat")
AS_IT_IS = SimpleNamespace(**{name: getattr(_polyfills, name) for name in OPERATIONS})


def traced(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    torch._dynamo.reset()
    return torch.compile(function, backend="eager", fullgraph=True)


@pytest.mark.parametrize("case", CASES, ids=row_id)
def test_the_table(case: Case) -> None:
    """Values, strides and shared memory."""
    tensor = torch_tensor(case.call.array())
    wanted = case.call.on(einrs, tensor)
    for found in (
        case.call.on(AS_IT_IS, tensor),
        traced(lambda x: case.call.on(einrs, x))(tensor),
    ):
        assert torch.equal(found, wanted)
        assert found.dtype == wanted.dtype
        assert found.stride() == wanted.stride()
        assert (found.data_ptr() == tensor.data_ptr()) == (wanted.data_ptr() == tensor.data_ptr())


@pytest.mark.parametrize("how", ["eager", pytest.param("compile", marks=pytest.mark.slow_trace)])
def test_einops_own_tests(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EINRS_POLYFILLS", how)
    backends = "numpy,torch" if how == "eager" else "torch"
    runner.check_tests(tmp_path, backends, "-p", "polyfilled")
