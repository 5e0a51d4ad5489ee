"""One mode of torch, run on an operation and on hand-written code, to what the two differ in.

A mode is a function of a function: it transforms, traces or compiles it, runs the result and gives
back what is worth comparing.
"""

import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import compare
import torch
from compare import Mode
from torch_operations import HANDS, OPERATIONS, OURS, of_pattern

REASONS = {
    "Could not guard on data-dependent expression": "torch asks whether the unknown size is 0",
    ".numpy() is not supported for tensor subclasses": "fake tensors and wrappers have no values",
    "Cannot access data pointer of Tensor that doesn't have storage": (
        "tensors have no values under torch.func"
    ),
    "Please convert all Tensors to FakeTensors first": "make_fx fakes arguments, not weights",
    "Cannot copy out of meta tensor": "meta tensors have no values",
    "expected scalar type": "the weights are float32",
    "Got unsupported ScalarType BFloat16": "numpy has no bfloat16",
    "KeyError(torch.bfloat16)": "numpy has no bfloat16",
    "<original wrapped_add>": "numpy has no bfloat16",
    "could not infer output dtype. Input dtype must be": "integers have no mean",
    "does not require grad": "numpy arrays carry no gradients",
    "expected np.ndarray (got Proxy)": "a proxy has no values",
    "a leaf Variable that requires grad is being used in an in-place operation": (
        "the bias is added in place, as in einops"
    ),
    "'InstructionTranslator' object has no attribute 'parent'": (
        "this version of torch traces no torch.cond of a closure"
    ),
    "builtin: repr": "this version of torch asks for the repr of a module",
    "satisfy the generated guard Ne(": "this version of torch fixes a batch that is sliced",
    "Failed to export the model with torch.export": "this version of torch cannot export it",
    "cannot reshape array of size": "this version of torch fixes the batch in ONNX",
}
"""Words of errors that hand-written code gives as well, and what is behind them."""

# Not `list | tuple`, which older versions of torch do not trace.
SEQUENCES = (list, tuple)


class Lines(logging.Handler):
    """Keeps what is logged at the level of warnings and above."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.name}: {record.msg}")


@contextmanager
def warning_of_logs() -> Iterator[None]:
    """Turns each line that is logged into a warning."""
    handler, loggers = Lines(), [logging.getLogger(name) for name in (None, "torch")]
    for logger in loggers:
        logger.addHandler(handler)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
    for line in handler.lines:
        warnings.warn(f"logged {line}", stacklevel=2)


@cache
def clean(mode: Mode) -> Mode:
    """A mode that starts and ends with nothing compiled."""

    def run(function: Callable[..., Any]) -> Any:
        torch._dynamo.reset()
        try:
            # Else torch gives some warnings for the first of two functions only.
            torch.set_warn_always(True)
            with warning_of_logs():
                return mode(function)
        finally:
            torch.set_warn_always(False)
            torch._dynamo.reset()

    return run


def check(
    mode: Mode, operation: str, alike: Callable[[str], None], takes_length: bool = False
) -> None:
    """Asserts that einrs does in a mode what hand-written code does.

    Where hand-written code fails in the mode for a reason that stands above, einrs may fail as
    well; the cell says so.
    """
    ours, hand = OURS[operation], HANDS[operation]
    if takes_length:
        ours, hand = of_pattern(operation), OPERATIONS[operation].hand
    compare.check(clean(mode), ours, hand, same, alike, known_reason)


def known_reason(error: BaseException) -> str:
    explained = [reason for words, reason in REASONS.items() if words in str(error)]
    assert explained, f"hand-written code fails as well, for no known reason: {error}"
    return explained[0]


def same(ours: Any, theirs: Any) -> None:
    """Asserts equal structure, and tensors equal but for rounding."""
    if isinstance(theirs, SEQUENCES):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            same(one, other)
    elif isinstance(theirs, torch.Tensor):
        assert type(ours) is type(theirs)
        torch.testing.assert_close(ours, theirs)
    else:
        assert ours == theirs


def tensors(tree: Any) -> list[Any]:
    """The tensors of a result, in order."""
    return list(tree) if isinstance(tree, SEQUENCES) else [tree]


def total(tree: Any) -> Any:
    """A number that depends on all elements of a result."""
    return sum(tensor.square().sum() for tensor in tensors(tree))
