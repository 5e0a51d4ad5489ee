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
from deliberate_joins import JOIN_FIXES
from deliberate_layers import LAYER_FIXES
from differential import DIFFERENCE, check, compare, run_einops, stream
from einrs import testing
from layered import Layers
from tensors import FRAMEWORKS, Framework

REPLAY = sorted((Path(__file__).parent / "data" / "replay").glob("*.jsonl"))
CASES_A_SEED = 3_000


def on(name: str, *values: object) -> object:
    """A parameter set that is skipped where its framework is missing."""
    marks = [] if name == "numpy" else [getattr(pytest.mark, f"needs_{name}")]
    return pytest.param(name, *values, marks=marks)


STREAMS = [
    *(("numpy", kind) for kind in ("transforms", "joins")),
    *(("torch", kind) for kind in ("transforms", "joins", "layers")),
]
SEEDS = [on(*named, seed) for named in STREAMS for seed in range(5)]

# Fixes of the same name, such as that of white space, hold for both with the same examples.
ALL_FIXES = [*FIXES, *(fix for fix in (*JOIN_FIXES, *LAYER_FIXES) if fix not in FIXES)]


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Einops warns of axis names that are keywords, numpy of empty means and of overflow."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def differences(
    framework: Framework, cases: Iterator[testing.Case], module: object = einrs
) -> list[str]:
    pairs = ((case, check(module, framework, case)) for case in cases)
    return [verdict.row(framework, case) for case, verdict in pairs if verdict.differs]


def test_the_reference_is_einops_0_8_2() -> None:
    assert version("einops") == "0.8.2"


@pytest.mark.parametrize(("name", "kind", "seed"), SEEDS)
def test_seeded_cases(name: str, kind: str, seed: int) -> None:
    framework = FRAMEWORKS[name]
    cases = stream(seed, framework.menu, kind)
    module = Layers(einrs) if kind == "layers" else einrs
    rows = differences(framework, itertools.islice(cases, CASES_A_SEED), module)
    assert not rows, f"{len(rows)} differences, the first ones:\n" + "\n".join(rows[:5])


@pytest.mark.needs_jax
@pytest.mark.parametrize(("kind", "count"), [("transforms", 200), ("joins", 100)])
def test_seeded_cases_on_jax(kind: str, count: int) -> None:
    framework = FRAMEWORKS["jax"]
    cases = stream("jax", framework.menu, kind)
    rows = differences(framework, itertools.islice(cases, count))
    assert not rows, "\n".join(rows[:5])


@given(testing.cases() | testing.joins())
@settings(max_examples=300)
def test_drawn_cases(case: testing.Case) -> None:
    verdict = check(einrs, FRAMEWORKS["numpy"], case)
    assert not verdict.differs, verdict


@given(testing.broken_cases() | testing.broken_joins())
@settings(max_examples=300)
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


@pytest.mark.parametrize(
    ("name", "fix"),
    [on(fix.shown_on, fix) for fix in ALL_FIXES],
    ids=[f"{fix.example.op}: {fix.name}" for fix in ALL_FIXES],
)
def test_fix(name: str, fix: Fix) -> None:
    module = Layers(einrs) if fix in LAYER_FIXES and fix not in FIXES else einrs
    verdict = check(module, FRAMEWORKS[name], fix.example)
    assert verdict.kind == fix.name, verdict


@pytest.mark.parametrize("fix", [fix for fix in ALL_FIXES if fix.repair], ids=lambda fix: fix.name)
def test_repair_is_needed(fix: Fix) -> None:
    """Einops answers the repaired example, and answers it otherwise than the example itself."""
    import einops

    framework = FRAMEWORKS["numpy"]
    repaired = fix.repair(fix.example) if fix.repair else fix.example
    outcomes = [run_einops(framework, case) for case in (fix.example, repaired)]
    assert compare(einops, framework, fix.example, *outcomes)


@pytest.mark.parametrize("kind", ["transforms", "joins"])
def test_fuzzing_is_seeded_and_counts(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--cases", "300", "--seed", "5", "--of", kind]
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
