"""Turns seeded and drawn cases into tests: einrs answers as einops does, or as the fixes say."""

import itertools
import json
import warnings
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest
from hypothesis import given, settings

import einrs
import fuzz_differential
from deliberate import FIXES, Fix
from differential import DIFFERENCE, check, compare, run_einops, stream
from einrs import testing
from tensors import FRAMEWORKS, Framework

REPLAY = sorted((Path(__file__).parent / "data" / "replay").glob("*.jsonl"))
CASES_A_SEED = 3_000


def on(name: str, *values: object) -> object:
    """A parameter set that is skipped where its framework is missing."""
    marks = [] if name == "numpy" else [getattr(pytest.mark, f"needs_{name}")]
    return pytest.param(name, *values, marks=marks)


SEEDS = [on("numpy", seed) for seed in range(5)] + [on("torch", seed) for seed in range(5)]


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Einops warns of axis names that are keywords, numpy of empty means and of overflow."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def differences(framework: Framework, cases: Iterator[testing.Case]) -> list[str]:
    pairs = ((case, check(einrs, framework, case)) for case in cases)
    return [verdict.row(framework, case) for case, verdict in pairs if verdict.differs]


def test_the_reference_is_einops_0_8_2() -> None:
    assert version("einops") == "0.8.2"


@pytest.mark.parametrize(("name", "seed"), SEEDS)
def test_seeded_cases(name: str, seed: int) -> None:
    framework = FRAMEWORKS[name]
    rows = differences(framework, itertools.islice(stream(seed, framework.menu), CASES_A_SEED))
    assert not rows, f"{len(rows)} differences, the first ones:\n" + "\n".join(rows[:5])


@pytest.mark.needs_jax
def test_seeded_cases_on_jax() -> None:
    framework = FRAMEWORKS["jax"]
    rows = differences(framework, itertools.islice(stream("jax", framework.menu), 200))
    assert not rows, "\n".join(rows[:5])


@given(testing.cases())
@settings(max_examples=200)
def test_drawn_cases(case: testing.Case) -> None:
    verdict = check(einrs, FRAMEWORKS["numpy"], case)
    assert not verdict.differs, verdict


@given(testing.broken_cases())
@settings(max_examples=200)
def test_drawn_mistakes(case: testing.Case) -> None:
    verdict = check(einrs, FRAMEWORKS["numpy"], case)
    assert not verdict.differs, verdict


@pytest.mark.parametrize(
    ("name", "row"),
    [
        on(row["framework"], row)
        for path in REPLAY
        for row in map(json.loads, path.read_text("ascii").splitlines())
    ],
)
def test_replay(name: str, row: dict[str, object]) -> None:
    verdict = check(einrs, FRAMEWORKS[name], testing.Case.from_row(row))
    assert not verdict.differs, verdict


@pytest.mark.parametrize("fix", FIXES, ids=lambda fix: fix.name)
def test_fix(fix: Fix) -> None:
    verdict = check(einrs, FRAMEWORKS["numpy"], fix.example)
    assert verdict.kind == fix.name, verdict


@pytest.mark.parametrize("fix", [fix for fix in FIXES if fix.repair], ids=lambda fix: fix.name)
def test_repair_is_needed(fix: Fix) -> None:
    """Einops answers the repaired example, and answers it otherwise than the example itself."""
    import einops

    framework = FRAMEWORKS["numpy"]
    repaired = fix.repair(fix.example) if fix.repair else fix.example
    outcomes = [run_einops(framework, case) for case in (fix.example, repaired)]
    assert compare(einops, framework, fix.example, *outcomes)


def test_fuzzing_is_seeded_and_counts(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--cases", "300", "--seed", "5"]
    outputs = []
    for _ in range(2):
        assert fuzz_differential.main(arguments) == 0
        outputs.append(capsys.readouterr().out.splitlines()[1:])
    assert outputs[0] == outputs[1]
    assert sum(int(line.split()[0]) for line in outputs[0]) == 300


def test_fuzzing_saves_what_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Wrong:
        """Answers everything with its argument."""

        EinopsError = einrs.EinopsError

        def __getattr__(self, name: str) -> object:
            return lambda tensor, *_, **__: tensor

    monkeypatch.setattr(fuzz_differential, "einrs", Wrong())
    assert fuzz_differential.main(["--cases", "50", "--save", str(tmp_path)]) == 1
    assert DIFFERENCE in capsys.readouterr().out
    (saved,) = tmp_path.glob("*.jsonl")
    for line in saved.read_text("ascii").splitlines():
        row = json.loads(line)
        assert check(Wrong(), FRAMEWORKS["numpy"], testing.Case.from_row(row)).differs
