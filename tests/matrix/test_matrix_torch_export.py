"""Checks every operation in exported programs, whose batch stays open, and in ONNX files."""

import io
import warnings
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from compare import Function, Mode  # noqa: E402
from torch_compare import check, tensors  # noqa: E402
from torch_operations import OPERATIONS, numbers  # noqa: E402


class Model(torch.nn.Module):
    """A function as a module."""

    def __init__(self, function: Function) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Any) -> Any:
        return self.function(x)


def exported(strict: bool, automatic: bool) -> Mode:
    def mode(function: Function) -> Any:
        dimension = torch.export.Dim.AUTO if automatic else torch.export.Dim("batch")
        shapes = {"x": {0: dimension}}
        program = torch.export.export(
            Model(function), (numbers(3),), dynamic_shapes=shapes, strict=strict
        )
        assert "einrs" not in str(program.graph)
        run = program.module()
        # Another size of the batch: it has stayed open.
        return [run(numbers(batch)) for batch in (3, 5, 8)]

    return mode


def decomposed(function: Function) -> Any:
    shapes = {"x": {0: torch.export.Dim("batch")}}
    program = torch.export.export(Model(function), (numbers(3),), dynamic_shapes=shapes)
    return program.run_decompositions({}).module()(numbers(5))


def saved(function: Function) -> Any:
    """A program that another process would load."""
    shapes = {"x": {0: torch.export.Dim("batch")}}
    program = torch.export.export(Model(function), (numbers(3),), dynamic_shapes=shapes)
    buffer = io.BytesIO()
    torch.export.save(program, buffer)
    buffer.seek(0)
    return torch.export.load(buffer).module()(numbers(5))


EXPORTS: dict[str, Mode] = {
    "export: strict, Dim": exported(True, False),
    "export: strict, Dim.AUTO": exported(True, True),
    "export: not strict, Dim": exported(False, False),
    "export: not strict, Dim.AUTO": exported(False, True),
    "export: decomposed": decomposed,
    "export: saved and loaded": saved,
}


@pytest.mark.cell("torch")
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("mode", EXPORTS)
def test_export(mode: str, operation: str, alike: Any) -> None:
    check(EXPORTS[mode], operation, alike)


def evaluated(file: Any, function: Function) -> Any:
    """The results of an ONNX file for another batch, which must be those of the function."""
    import onnx
    from onnx.reference import ReferenceEvaluator

    model = onnx.load(file) if isinstance(file, io.BytesIO) else file
    run = ReferenceEvaluator(model)
    (name,) = run.input_names
    results = map(torch.from_numpy, run.run(None, {name: numbers(5).numpy()}))
    for result, expected in zip(results, tensors(function(numbers(5))), strict=True):
        torch.testing.assert_close(result, expected.detach())
    return len(tensors(function(numbers(5))))


def to_onnx(dynamo: bool) -> Mode:
    def mode(function: Function) -> Any:
        buffer = io.BytesIO()
        options: dict[str, Any] = {"input_names": ["x"]}
        # The exporters warn about their own future, whatever they export.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if dynamo:
                options["dynamic_shapes"] = ({0: torch.export.Dim("batch")},)
                program = torch.onnx.export(
                    Model(function), (numbers(3),), dynamo=True, verbose=False, **options
                )
                return evaluated(program.model_proto, function)
            options["dynamic_axes"] = {"x": {0: "batch"}}
            torch.onnx.export(Model(function), (numbers(3),), buffer, dynamo=False, **options)
        buffer.seek(0)
        return evaluated(buffer, function)

    return mode


ONNX = {"ONNX: by export": to_onnx(True), "ONNX: by TorchScript": to_onnx(False)}


@pytest.mark.cell("torch")
@pytest.mark.parametrize("operation", [name for name in OPERATIONS if name != "asnumpy"])
@pytest.mark.parametrize("mode", ONNX)
def test_onnx(mode: str, operation: str, alike: Any) -> None:
    pytest.importorskip("onnx")
    if mode == "ONNX: by export":
        pytest.importorskip("onnxscript")
    check(ONNX[mode], operation, alike)
