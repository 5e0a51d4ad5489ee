"""Programs that need a process of their own, to a word for each operation: ok, or what failed.

python torch_programs.py first_call
"""

import json
import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch_compare import same, tensors, total
from torch_operations import HANDS, OPERATIONS, OURS, numbers

Outcomes = dict[str, str]


def outcomes(run: Callable[[str], Any]) -> Outcomes:
    """What a function says of each operation."""
    found = {}
    for name in OPERATIONS:
        try:
            run(name)
            found[name] = "ok"
        except Exception as error:
            found[name] = f"{type(error).__name__}: {error}"
    return found


def traced_first(name: str) -> None:
    """The first call in this process is one that is traced, and the graph is whole."""
    compiled = torch.compile(OURS[name], backend="eager", fullgraph=True)
    same(compiled(numbers()), HANDS[name](numbers()))


def first_call() -> Outcomes:
    """Traces each operation in a process of its own, a copy of this one."""
    context = torch.multiprocessing.get_context("fork" if hasattr(os, "fork") else None)
    with context.Pool(1, maxtasksperchild=1) as pool:
        return outcomes(lambda name: pool.apply(traced_first, (name,)))


def caches() -> Outcomes:
    """Compiles with inductor, to what its caches were asked for and had."""
    found = {}

    def run(name: str) -> None:
        counters = torch._dynamo.utils.counters
        counters.clear()
        torch._dynamo.reset()
        x = numbers().requires_grad_()
        result = torch.compile(OURS[name], fullgraph=True)(x)
        if any(tensor.requires_grad for tensor in tensors(result)):
            total(result).backward()
        graphs, autograd = counters["inductor"], counters["aot_autograd"]
        hits = autograd["autograd_cache_hit"] + graphs["fxgraph_cache_hit"]
        found[name] = (
            f"{graphs['fxgraph_cache_miss']} graphs and {autograd['autograd_cache_miss']} of "
            f"AOTAutograd missed, {hits} hit"
        )

    return outcomes(run) | found


class AlikeError(Exception):
    """Hand-written code fails; says how."""


def distribute_weights(module: Any, mesh: Any) -> None:
    """Replaces the weights of a module by replicated ones."""
    from torch.distributed.tensor import Replicate, distribute_tensor

    for name, weight in list(module._parameters.items()):
        whole = distribute_tensor(weight.data, mesh, [Replicate()])
        module._parameters[name] = torch.nn.Parameter(whole)


def compiled_result(function: Callable[[Any], Any], x: Any) -> list[Any]:
    torch._dynamo.reset()
    return tensors(torch.compile(function, backend="aot_eager", fullgraph=True)(x))


def distributed_rank(rank: int, port_file: str, queue: Any) -> None:
    """One of two processes, each with half of a tensor."""
    from torch.distributed import destroy_process_group, init_process_group
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    warnings.simplefilter("ignore")
    init_process_group("gloo", init_method=f"file://{port_file}", rank=rank, world_size=2)
    mesh = init_device_mesh("cpu", (2,))

    def run(name: str) -> None:
        ours, hand = OURS[name], HANDS[name]
        for function in (ours, hand):
            if isinstance(function, torch.nn.Module):
                distribute_weights(function, mesh)
        for placement in (Shard(0), Shard(2), Replicate()):
            x = distribute_tensor(numbers(4), mesh, [placement])
            try:
                expected = tensors(hand(x))
            except NotImplementedError as error:
                raise AlikeError(str(error)) from error
            for one, other in zip(tensors(ours(x)), expected, strict=True):
                assert one.placements == other.placements
                same(one.full_tensor(), other.full_tensor())
        x = distribute_tensor(numbers(4), mesh, [Shard(0)])
        try:
            expected = compiled_result(hand, x)
        except RuntimeError as error:
            raise AlikeError(f"eager only; compiled: {str(error).splitlines()[0]}") from error
        for one, other in zip(compiled_result(ours, x), expected, strict=True):
            same(one.full_tensor(), other.full_tensor())

    found = outcomes(run)
    if rank == 0:
        queue.put(found)
    destroy_process_group()


def distributed() -> Outcomes:
    """DTensors on two processes of gloo, and compiled."""
    context = torch.multiprocessing.get_context("spawn")
    queue = context.Queue()
    with tempfile.TemporaryDirectory() as folder:
        arguments = str(Path(folder) / "rendezvous"), queue
        ranks = [
            context.Process(target=distributed_rank, args=(rank, *arguments)) for rank in range(2)
        ]
        for process in ranks:
            process.start()
        found = queue.get(timeout=300)
        for process in ranks:
            process.join()
    return found


if __name__ == "__main__":
    name, *arguments = sys.argv[1:]
    print(json.dumps(globals()[name](*arguments)))
