"""Runs the Python blocks of README.md, each in a namespace of its own, as a reader pastes them."""

import doctest
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

README = Path(__file__).resolve().parent.parent / "README.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """The code between two fences, and the line of the file on which it starts."""

    line: int
    code: str


def blocks(text: str) -> list[Block]:
    return [Block(text.count("\n", 0, m.start(1)) + 1, m[1]) for m in BLOCK.finditer(text)]


def run(block: Block) -> None:
    """Runs a block: a session with its outputs compared, or plain code."""
    if "install()" in block.code:
        # It is for a program that has not imported einops, as the tests have.
        subprocess.run([sys.executable, "-W", "error", "-c", block.code], check=True)
        return
    if ">>> " not in block.code:
        code = compile("\n" * (block.line - 1) + block.code, str(README), "exec")
        exec(code, {"__name__": "readme"})
        return
    name = f"README.md:{block.line}"
    test = doctest.DocTestParser().get_doctest(block.code, {}, name, str(README), block.line - 1)
    report: list[str] = []
    doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert not report, "".join(report)


BLOCKS = blocks(README.read_text(encoding="utf-8"))


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"line {block.line}")
def test_block_runs(block: Block) -> None:
    run(block)


def test_every_fence_is_a_block() -> None:
    assert len(BLOCKS) == README.read_text(encoding="utf-8").count("```python") > 0


@pytest.mark.parametrize("code", [">>> 1 + 1\n3\n", "assert 1 + 1 == 3\n"])
def test_a_wrong_block_fails(code: str) -> None:
    with pytest.raises(AssertionError):
        run(Block(1, code))
