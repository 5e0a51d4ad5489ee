"""Checks every operation in other processes: first calls, loaders, caches, DTensors, replicas."""

import copy
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch_compare import same, tensors  # noqa: E402
from torch_operations import HANDS, OPERATIONS, OURS, numbers  # noqa: E402

HERE = Path(__file__).parent


def run(program: str, **environment: str) -> dict[str, str]:
    """What a program of torch_programs.py says of each operation."""
    command = [sys.executable, str(HERE / "torch_programs.py"), program]
    finished = subprocess.run(
        command, env=os.environ | environment, capture_output=True, text=True, timeout=900
    )
    assert finished.returncode == 0, finished.stderr[-3000:]
    return json.loads(finished.stdout.splitlines()[-1])


first_call = cache(lambda: run("first_call"))
distributed = cache(lambda: run("distributed"))


@pytest.mark.cell("torch", mode="compile: first call of the process")
@pytest.mark.parametrize("operation", OPERATIONS)
def test_first_call(operation: str) -> None:
    assert first_call()[operation] == "ok"


@pytest.mark.slow_trace
@pytest.mark.cell("torch", mode="DTensor: two processes, eager and compiled")
@pytest.mark.parametrize("operation", [name for name in OPERATIONS if name != "asnumpy"])
def test_distributed(operation: str, alike: Any) -> None:
    """Eager results and placements always; compiled ones where hand-written code has them."""
    said = distributed()[operation]
    if said.startswith("AlikeError: "):
        return alike(said.removeprefix("AlikeError: "))
    assert said == "ok"
    return None


@pytest.fixture(scope="module")
def second_compile(tmp_path_factory: Any) -> dict[str, str]:
    """What the caches say in the second of two processes."""
    folder = str(tmp_path_factory.mktemp("inductor"))
    first = run("caches", TORCHINDUCTOR_CACHE_DIR=folder)
    assert any(" 0 hit" in said for said in first.values()), first
    return run("caches", TORCHINDUCTOR_CACHE_DIR=folder)


@pytest.mark.slow_trace
@pytest.mark.cell("torch", mode="compile: caches of a second process")
@pytest.mark.parametrize("operation", OPERATIONS)
def test_caches(operation: str, second_compile: dict[str, str]) -> None:
    said = second_compile[operation]
    assert said.startswith("0 graphs and 0 of AOTAutograd missed"), said


class Rows(torch.utils.data.Dataset):  # type: ignore[type-arg]
    """Each operation on its own row, done in a worker."""

    def __init__(self, operation: str) -> None:
        self.operation = operation

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> Any:
        return [tensor.detach() for tensor in tensors(OURS[self.operation](numbers(index + 1)))]


@pytest.mark.cell("torch")
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("mode", ["DataLoader: fork", "DataLoader: spawn"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:os.fork:RuntimeWarning")
def test_loader(mode: str, operation: str) -> None:
    if mode == "DataLoader: fork" and not hasattr(os, "fork"):
        pytest.skip("this system has no fork")
    if mode == "DataLoader: spawn" and operation not in ("rearrange", "EinMix"):
        pytest.skip("a new interpreter for each operation would show the same, seconds later")
    loader = torch.utils.data.DataLoader(
        Rows(operation),
        batch_size=None,
        num_workers=1,
        multiprocessing_context=mode.split()[-1],
    )
    for index, found in enumerate(loader):
        expected = [tensor.detach() for tensor in tensors(HANDS[operation](numbers(index + 1)))]
        same(found, expected)


@pytest.mark.cell("torch", mode="DataParallel")
@pytest.mark.parametrize("operation", [name for name in OPERATIONS if OPERATIONS[name].layer])
def test_replicas(operation: str) -> None:
    """What DataParallel does on several devices: copies of a module, each in a thread."""
    module = torch.nn.DataParallel(OURS[operation])
    same(module(numbers(4)), HANDS[operation](numbers(4)))
    replicas = [copy.deepcopy(OURS[operation]) for _ in range(4)]
    with ThreadPoolExecutor(len(replicas)) as threads:
        results = list(threads.map(lambda f, n: f(numbers(n)), replicas, (1, 2, 3, 4)))
    for batch, result in enumerate(results, 1):
        same(result, HANDS[operation](numbers(batch)))
