"""Turns one case into a verdict: whether einrs, or a module like it, answers as einops does."""

import builtins
import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import einops
import einops.einops

from deliberate import FIXES, Fix
from deliberate_joins import JOIN_FIXES, Twin
from deliberate_layers import LAYER_FIXES
from einrs.testing import (
    Case,
    Menu,
    RandomDraw,
    Reducer,
    draw_case,
    draw_join,
    mutate,
    mutate_join,
)
from layered import Layers, draw_layer, mutate_layer
from tensors import Framework

AGREED_VALUE = "ok, equal"
AGREED_ERROR = "error, equal"
DIFFERENCE = "difference"

KINDS = {
    "transforms": (draw_case, mutate),
    "joins": (draw_join, mutate_join),
    "layers": (draw_layer, mutate_layer),
}
"""What a stream is made of: how a valid case is drawn, and how one is broken."""


@dataclass(frozen=True)
class Outcome:
    """What a call did: a value or an error, and how the value lies towards the tensors.

    The value is a list of leaves (one, but for the operations on several tensors), of which each is
    the same object as some of the tensors, and shares memory with some.
    """

    value: Any = None
    error: Exception | None = None
    structure: Any = None
    leaves: tuple[Any, ...] = ()
    same_object: tuple[list[bool], ...] = ()
    shares_memory: tuple[list[bool], ...] = ()
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


def stream(seed: int | str, menu: Menu, kind: str = "transforms") -> Iterator[Case]:
    """Cases without end, always the same for a seed: three valid ones, then two mutated ones."""
    draw = RandomDraw(seed)
    make, spoil = KINDS[kind]
    while True:
        for _ in range(3):
            yield make(draw, menu)
        broken = spoil(draw, make(draw, menu))
        yield broken
        yield spoil(draw, broken)


def run(module: Any, framework: Framework, case: Case) -> Outcome:
    """Calls the module on fresh tensors."""
    built = case.built(framework.build)
    tensors = built if case.joins else [built]
    reducer = case.reducer()
    calls = reducer.calls if isinstance(reducer, Reducer) else []
    try:
        value = case.apply(module, built, reducer)
    except Exception as error:
        return Outcome(error=error.with_traceback(None), calls=calls)
    structure, leaves = taken_apart(value)
    return Outcome(
        value=value,
        structure=structure,
        leaves=leaves,
        same_object=tuple([leaf is tensor for tensor in tensors] for leaf in leaves),
        shares_memory=tuple(
            [not isinstance(tensor, list) and shares(framework, leaf, tensor) for tensor in tensors]
            for leaf in leaves
        ),
        calls=calls,
    )


def taken_apart(value: Any) -> tuple[Any, tuple[Any, ...]]:
    """How a result is put together from lists, dicts and tuples, and what from."""
    if isinstance(value, dict):
        return ("dict", tuple(value)), tuple(value.values())
    if type(value) is list or (type(value) is tuple and not all(is_size(part) for part in value)):
        structures, leaves = [], []
        for part in value:
            structure, found = taken_apart(part)
            structures.append(structure)
            leaves.extend(found)
        return (type(value).__name__, tuple(structures)), tuple(leaves)
    return "leaf", (value,)


def is_size(leaf: Any) -> bool:
    """Whether a part of a result is a size, or a shape, and no tensor."""
    return isinstance(leaf, (int, tuple))


def shares(framework: Framework, leaf: Any, tensor: Any) -> bool:
    return not is_size(leaf) and framework.shares(leaf, tensor)


def run_einops(framework: Framework, case: Case) -> Outcome:
    """Calls einops, unspoilt: its caches take 3, 3.0, True and numpy.int64(3) for one key."""
    if not case.plain:
        einops.einops._reconstruct_from_shape.cache_clear()
    outcome = run(Layers(einops) if case.op == "einmix" else einops, framework, case)
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
    # A layer is refused where it is built, and says so.
    same_words = not isinstance(module, Layers)
    if same_words and is_einops_error and not str(ours).startswith(first_line):
        return ["first line of the message"]
    return []


def _compare_values(framework: Framework, case: Case, theirs: Outcome, ours: Outcome) -> list[str]:
    if theirs.structure != ours.structure:
        return ["type"]
    facets = []
    # jax compiles what joins as a whole, and a compiled function returns another array.
    fresh = case.joins and framework.name == "jax"
    if theirs.same_object != ours.same_object and not fresh:
        facets.append("same object")
    if theirs.shares_memory != ours.shares_memory:
        facets.append("shares memory")
    for one, other in zip(theirs.leaves, ours.leaves, strict=True):
        facets += _compare_leaves(framework, case, one, other)
    return list(dict.fromkeys(facets))


def _compare_leaves(framework: Framework, case: Case, theirs: Any, ours: Any) -> list[str]:
    if is_size(theirs):
        return [] if type(theirs) is type(ours) and theirs == ours else ["sizes"]
    facts, our_facts = framework.describe(theirs), framework.describe(ours)
    facets = [name for name, fact in facts.items() if our_facts.get(name) != fact]
    if {"type", "shape", "dtype"}.isdisjoint(facets):
        facets += [] if framework.same_values(theirs, ours, case) else ["values"]
    return facets


def fixes_of(module: Any, case: Case) -> tuple[Fix, ...]:
    """The fixes that a case may be about."""
    if isinstance(module, Layers):
        return LAYER_FIXES
    return JOIN_FIXES if case.joins else FIXES


def deliberate_fix(
    module: Any, framework: Framework, case: Case, theirs: Outcome, ours: Outcome
) -> Fix | None:
    """The fix that explains our outcome, where one does."""
    fixes = fixes_of(module, case)
    for fix in fixes:
        if fix.raises and fix.applies(case) and _raises_as_told(module, fix, theirs, ours):
            return fix
    repairs = [fix for fix in fixes if fix.repair and fix.applies(case)]
    for fix in repairs:
        case = fix.repair(case) if fix.repair else case
    if repairs:
        theirs = run_einops(framework, case)
        if len(theirs.leaves) == len(ours.leaves) and case.op == "parse_shape":
            # The names are in the answer, and the repair has changed them.
            theirs = replace(theirs, structure=ours.structure)
        facets = compare(module, framework, case, theirs, ours)
        # The message names the pattern, which the repair has changed.
        if set(facets) <= {"first line of the message"}:
            return repairs[-1]
        for fix in fixes:
            if fix.raises and fix.applies(case) and _raises_as_told(module, fix, theirs, ours):
                return fix
    return _by_twin(module, framework, case, theirs, ours)


def _by_twin(
    module: Any, framework: Framework, case: Case, theirs: Outcome, ours: Outcome
) -> Fix | None:
    """The fix for what einops refuses and its twin answers, or that leaves some facts open."""
    for fix in fixes_of(module, case):
        if not fix.applies(case) or not (fix.twin or fix.leaves_open):
            continue
        reference = run(Twin, framework, case) if fix.twin and theirs.error else theirs
        facets = compare(module, framework, case, reference, ours)
        if set(facets) <= set(fix.leaves_open):
            return fix
    return None


def _raises_as_told(module: Any, fix: Fix, theirs: Outcome, ours: Outcome) -> bool:
    if fix.instead_of is not None and type(theirs.error) is not fix.instead_of:
        return False
    classes = [getattr(builtins, name, None) or getattr(module, name) for name in fix.raises]
    return all(isinstance(ours.error, one) for one in classes)
