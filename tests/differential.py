"""Turns one case into a verdict: whether einrs, or a module like it, answers as einops does."""

import builtins
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import einops
import einops.einops

from deliberate import FIXES, Fix
from einrs.testing import Case, Menu, RandomDraw, Reducer, draw_case, mutate
from tensors import Framework

AGREED_VALUE = "ok, equal"
AGREED_ERROR = "error, equal"
DIFFERENCE = "difference"


@dataclass(frozen=True)
class Outcome:
    """What a call did: a value or an error, and how the value lies towards the tensor."""

    value: Any = None
    error: Exception | None = None
    same_object: bool = False
    shares_memory: bool = False
    calls: list[Any] = field(default_factory=list)

    def __str__(self) -> str:
        if self.error is not None:
            return f"{type(self.error).__name__}: {self.error}"
        return repr(self.value)


@dataclass(frozen=True)
class Verdict:
    """One of the agreements, the name of a deliberate fix, or a difference with what differs."""

    kind: str
    facets: tuple[str, ...] = ()
    einops: str = ""
    einrs: str = ""

    @property
    def differs(self) -> bool:
        return self.kind == DIFFERENCE

    def row(self, framework: Framework, case: Case) -> str:
        """A JSON line that says what differed and replays it."""
        facts = {"framework": framework.name, "facets": self.facets}
        facts |= case.to_row() | {"einops": self.einops[:600], "einrs": self.einrs[:600]}
        return json.dumps(facts)


def stream(seed: int | str, menu: Menu) -> Iterator[Case]:
    """Cases without end, always the same for a seed: three valid ones, then two mutated ones."""
    draw = RandomDraw(seed)
    while True:
        for _ in range(3):
            yield draw_case(draw, menu)
        broken = mutate(draw, draw_case(draw, menu))
        yield broken
        yield mutate(draw, broken)


def run(module: Any, framework: Framework, case: Case) -> Outcome:
    """Calls the module on a fresh tensor."""
    tensor = framework.build(case)
    reducer = case.reducer()
    calls = reducer.calls if isinstance(reducer, Reducer) else []
    try:
        value = case.apply(module, tensor, reducer)
    except Exception as error:
        return Outcome(error=error.with_traceback(None), calls=calls)
    listed = isinstance(tensor, list)
    return Outcome(
        value=value,
        same_object=value is tensor,
        shares_memory=not listed and framework.shares(value, tensor),
        calls=calls,
    )


def run_einops(framework: Framework, case: Case) -> Outcome:
    """Calls einops, unspoilt: its caches take 3, 3.0, True and numpy.int64(3) for one key."""
    if not case.plain:
        einops.einops._reconstruct_from_shape.cache_clear()
    outcome = run(einops, framework, case)
    if not case.plain:
        einops.einops._reconstruct_from_shape.cache_clear()
    return outcome


def check(module: Any, framework: Framework, case: Case) -> Verdict:
    """Judges two calls in a row, since the second may be served from a cache."""
    theirs = run_einops(framework, case)
    for _ in range(2):
        verdict = judge(module, framework, case, theirs, run(module, framework, case))
        if verdict.differs:
            break
    return verdict


def judge(module: Any, framework: Framework, case: Case, theirs: Outcome, ours: Outcome) -> Verdict:
    """Compares, and looks for a deliberate fix where the outcomes differ."""
    facets = compare(module, framework, case, theirs, ours)
    if not facets:
        return Verdict(AGREED_VALUE if ours.error is None else AGREED_ERROR)
    fix = deliberate_fix(module, framework, case, theirs, ours)
    if fix is not None:
        return Verdict(fix.name)
    return Verdict(DIFFERENCE, facets, str(theirs), str(ours))


def compare(
    module: Any, framework: Framework, case: Case, theirs: Outcome, ours: Outcome
) -> tuple[str, ...]:
    """The names of what differs."""
    if (theirs.error is None) != (ours.error is None):
        return ("success",)
    facets = ["calls of the reduction"] if theirs.calls != ours.calls else []
    if theirs.error is not None and ours.error is not None:
        facets += _compare_errors(module, theirs.error, ours.error)
    else:
        facets += _compare_values(framework, case, theirs, ours)
    return tuple(facets)


def _compare_errors(module: Any, theirs: Exception, ours: Exception) -> list[str]:
    """Whoever catches what einops raises must catch ours, and find the line it begins with."""
    is_einops_error = isinstance(theirs, einops.EinopsError)
    expected = module.EinopsError if is_einops_error else type(theirs)
    if not isinstance(ours, expected):
        return ["class of the error"]
    first_line = str(theirs).partition("\n")[0]
    if is_einops_error and not str(ours).startswith(first_line):
        return ["first line of the message"]
    return []


def _compare_values(framework: Framework, case: Case, theirs: Outcome, ours: Outcome) -> list[str]:
    facts, our_facts = framework.describe(theirs.value), framework.describe(ours.value)
    facts["same object"], our_facts["same object"] = theirs.same_object, ours.same_object
    facts["shares memory"], our_facts["shares memory"] = theirs.shares_memory, ours.shares_memory
    facets = [name for name, fact in facts.items() if our_facts.get(name) != fact]
    if {"type", "shape", "dtype"}.isdisjoint(facets):
        facets += [] if framework.same_values(theirs.value, ours.value, case) else ["values"]
    return facets


def deliberate_fix(
    module: Any, framework: Framework, case: Case, theirs: Outcome, ours: Outcome
) -> Fix | None:
    """The fix that explains our outcome, where one does."""
    repairs = [fix for fix in FIXES if fix.repair and fix.applies(case)]
    for fix in repairs:
        case = fix.repair(case) if fix.repair else case
    if repairs:
        theirs = run_einops(framework, case)
        facets = compare(module, framework, case, theirs, ours)
        # The message names the pattern, which the repair has changed.
        if set(facets) <= {"first line of the message"}:
            return repairs[-1]
    for fix in FIXES:
        if fix.raises and fix.applies(case) and _raises_as_told(module, fix, theirs, ours):
            return fix
    return None


def _raises_as_told(module: Any, fix: Fix, theirs: Outcome, ours: Outcome) -> bool:
    if fix.instead_of is not None and type(theirs.error) is not fix.instead_of:
        return False
    classes = [getattr(builtins, name, None) or getattr(module, name) for name in fix.raises]
    return all(isinstance(ours.error, one) for one in classes)
