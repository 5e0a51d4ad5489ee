"""Runs the cases of one program against whatever answers to the name einops, to a JSON line each.

    python vision.py [case ...]                      the cases, with einops
    python -m einrs run vision.py [case ...]         the same cases, with einrs
    python vision.py --serve                         what `compare.py` asks for on standard input

A case builds a model and its input from fixed seeds. Its line has checksums of the outputs and of
every gradient, over shape, dtype and bytes. No package is patched.
"""

from __future__ import annotations

import gc
import hashlib
import json
import os
import random
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any, NamedTuple, TextIO

import einops
import numpy as np

warnings.simplefilter("ignore")

TRIAL_SECONDS = 0.008
"""A trial repeats the call at least this long, and reports the fastest of its calls."""

EINOPS_FOLDER = os.path.dirname(os.path.abspath(einops.__file__))


class Subject:
    """A call to make, and the model whose parameters get gradients by it."""

    def __init__(self, call: Callable[..., Any], *inputs: Any, model: Any = None, **options: Any):
        self.call = call
        self.inputs = inputs
        self.options = options
        self.model = call if model is None and hasattr(call, "parameters") else model

    def run(self) -> Any:
        """What the call gives."""
        return self.call(*self.inputs, **self.options)

    def leaves(self) -> list[Any]:
        """The tensors that gradients are wanted of: parameters and inputs."""
        parameters = [] if self.model is None else list(self.model.parameters())
        return [leaf for leaf in (*parameters, *self.inputs) if is_torch(leaf)]


class Case(NamedTuple):
    """A name, and how to build what is run under it."""

    name: str
    build: Callable[[], Subject]


def seed(number: int) -> None:
    """Starts every source of random numbers that a package draws from."""
    random.seed(number)
    np.random.seed(number)
    if torch := sys.modules.get("torch"):
        torch.manual_seed(number)


def is_torch(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def tensors(outputs: Any) -> Iterator[Any]:
    """Every tensor, array and number in nested outputs, in an order of their own."""
    if is_torch(outputs):
        yield outputs
    elif isinstance(outputs, dict):
        for key in sorted(outputs, key=str):
            yield from tensors(outputs[key])
    elif isinstance(outputs, list | tuple):
        for part in outputs:
            yield from tensors(part)
    elif hasattr(outputs, "__dataclass_fields__"):
        for field in outputs.__dataclass_fields__:
            yield from tensors(getattr(outputs, field))
    elif outputs is not None:
        yield np.asarray(outputs)


def array(tensor: Any) -> np.ndarray[Any, Any]:
    """The bits of a tensor as a numpy array; of a dtype that numpy lacks, its bytes."""
    if not is_torch(tensor):
        return np.ascontiguousarray(tensor)
    torch = sys.modules["torch"]
    plain = tensor.detach().to_dense() if tensor.layout != torch.strided else tensor.detach()
    plain = plain.resolve_conj().resolve_neg().contiguous()
    return (plain.view(torch.uint8) if plain.dtype == torch.bfloat16 else plain).numpy()


def checksum(parts: Sequence[Any]) -> str:
    """A checksum of shapes, dtypes and bytes; None, for a gradient that is not there, counts."""
    digest = hashlib.sha256()
    for part in parts:
        if part is None:
            digest.update(b"none")
            continue
        values = array(part)
        digest.update(f"{tuple(part.shape)} {part.dtype}".encode())
        # An array of strings has no bytes of its own.
        digest.update(repr(values.tolist()).encode() if values.dtype == object else values.data)
    return digest.hexdigest()[:16]


def loss(outputs: Sequence[Any]) -> Any:
    """A number that depends on every output that has a gradient, or None."""
    wanted = [part for part in outputs if is_torch(part) and part.requires_grad]
    return sum(part.float().square().mean() for part in wanted) if wanted else None


def check(subject: Subject) -> dict[str, Any]:
    """The checksums of outputs and gradients."""
    seed(1)
    outputs = list(tensors(subject.run()))
    report = {"outputs": checksum(outputs), "gradients": ""}
    total = loss(outputs)
    if total is not None:
        total.backward()
        grads = [leaf.grad for leaf in subject.leaves() if leaf.requires_grad]
        report["gradients"] = checksum(grads)
    return report


def count_calls(subject: Subject) -> int:
    """How often the call enters einops from outside; compiled code does so only when traced."""
    entered = 0

    def inside(frame: FrameType | None) -> bool:
        return frame is not None and frame.f_code.co_filename.startswith(EINOPS_FOLDER)

    def profile(frame: FrameType, event: str, argument: object) -> None:
        nonlocal entered
        entered += event == "call" and inside(frame) and not inside(frame.f_back)

    seed(1)
    sys.setprofile(profile)
    try:
        subject.run()
    finally:
        sys.setprofile(None)
    return entered


def trial(subject: Subject) -> float:
    """The processor seconds of the fastest of a few calls."""
    best = total = 0.0
    gc.disable()
    try:
        while total < TRIAL_SECONDS:
            seed(1)
            start = time.thread_time()
            subject.run()
            seconds = time.thread_time() - start
            best = min(best or seconds, seconds)
            total += seconds
    finally:
        gc.enable()
    return best


def build(case: Case) -> Subject:
    seed(0)
    return case.build()


class Server:
    """Answers requests about cases; keeps the one that it was last asked to check."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self.cases = {case.name: case for case in cases}
        self.subject: Subject | None = None

    def answer(self, request: str, name: str) -> Any:
        """What is asked for, or how it failed."""
        try:
            return self.do(request, name)
        except Exception as error:
            traceback.print_exc()
            text = " ".join(str(error).split())
            return {"error": f"{type(error).__name__}: {text}"[:300]}

    def do(self, request: str, name: str) -> Any:
        if request == "names":
            return {"names": list(self.cases), "einops": einops.rearrange.__module__}
        if request == "check":
            self.subject = None
            self.subject = build(self.cases[name])
            return check(self.subject)
        assert self.subject is not None
        measure = {"calls": count_calls, "trial": trial}[request]
        return {request: measure(self.subject)}


def serve(cases: Sequence[Case], requests: TextIO, answers: TextIO) -> None:
    """Reads lines `request name`, writes a line of JSON for each."""
    server = Server(cases)
    for line in requests:
        request, _, name = line.rstrip("\n").partition(" ")
        print(json.dumps(server.answer(request, name)), file=answers, flush=True)


def main(cases: Sequence[Case]) -> None:
    """Runs the cases that the command line names, or all of them; or serves."""
    # What packages print must not get between the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)
    if sys.argv[1:] == ["--serve"]:
        serve(cases, sys.stdin, answers)
        return
    server = Server(cases)
    for name in sys.argv[1:] or server.cases:
        print(json.dumps({"case": name} | server.answer("check", name)), file=answers, flush=True)
