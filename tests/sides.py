"""Turns one call into two outcomes, einops' and einrs', and says in what they differ."""

import warnings
from collections.abc import Callable
from typing import Any

import einops

import einrs

Call = Callable[[Any, Any], Any]
"""A call of a module's operation on a tensor: `call(module, tensor)`."""

Facts = dict[str, Any]


def outcome(
    module: Any, call: Call, tensor: Any, facts: Callable[[Any, Any], Facts]
) -> tuple[BaseException | None, Facts]:
    """The error of a call, or what there is to say of its result, and the warnings it gave."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = call(module, tensor)
        except Exception as error:
            return error.with_traceback(None), {}
        found = facts(result, tensor)
    found["warnings"] = sorted(f"{one.category.__name__}: {one.message}" for one in caught)
    return None, found


def differences(
    call: Call, make: Callable[[], Any], facts: Callable[[Any, Any], Facts]
) -> tuple[bool, list[str]]:
    """Whether einops gives a result, and what differs: each side is called on a fresh tensor."""
    their_error, theirs = outcome(einops, call, make(), facts)
    # Twice, since the second call may be served from the table of compiled ones.
    for _ in range(2):
        our_error, ours = outcome(einrs, call, make(), facts)
        if their_error is not None or our_error is not None:
            found = compare_errors(their_error, our_error)
        else:
            found = [
                f"{name}: einops {theirs[name]!r}, einrs {ours.get(name)!r}"
                for name in theirs
                if not same(theirs[name], ours.get(name))
            ]
        if found:
            break
    return their_error is None, found


def compare_errors(theirs: BaseException | None, ours: BaseException | None) -> list[str]:
    """Whoever catches einops' error must catch ours."""
    expected = einrs.EinopsError if isinstance(theirs, einops.EinopsError) else type(theirs)
    if theirs is not None and ours is not None and isinstance(ours, expected):
        return []
    return [f"error: einops {theirs!r}, einrs {ours!r}"]


def same(theirs: Any, ours: Any) -> bool:
    """Equality that takes a NaN for itself."""
    return bool(theirs == ours) or repr(theirs) == repr(ours)


def operations(height: int, width: int) -> dict[str, Call]:
    """Calls for a tensor of two axes, both even, on every way through einrs."""
    calls: dict[str, Call] = {}

    def add(op: str, pattern: str, *reduction: Any, **lengths: int) -> None:
        label = " ".join([op, *map(str, reduction), repr(pattern), str(lengths or "")])
        calls[label] = lambda module, x: getattr(module, op)(x, pattern, *reduction, **lengths)

    for pattern in ("a b -> a b", "a b -> b a", "a b -> (a b)", "a b -> (b a)"):
        add("rearrange", pattern)
    for pattern in ("a b -> a 1 b", "a b -> b () a", "... b -> b ...", "a b -> 1 (b a) 1"):
        add("rearrange", pattern)
    add("rearrange", "(a c) b -> c a b", c=2)
    add("rearrange", "(a c) (b d) -> (a b) (c d)", c=2, d=2)
    add("rearrange", "a (b c) -> (a b) c", b=width)
    for name in ("min", "max", "sum", "mean", "prod", "any", "all"):
        for pattern in ("a b -> a", "a b -> b", "a b -> ", "a b -> 1 b", "a b -> b a"):
            add("reduce", pattern, name)
        add("reduce", "(a 2) (b c) -> b a", name, c=2)
        add("reduce", "(a c) b -> (b a)", name, c=height)
    add("repeat", "a b -> a b")
    for pattern in ("a b -> a b 2", "a b -> a 1 b", "a b -> (a 2) b", "a b -> a (2 b)"):
        add("repeat", pattern)
    for pattern in ("a b -> 2 b a", "a b -> (b 2 a 3)"):
        add("repeat", pattern)
    add("repeat", "(a c) b -> a b c 2", c=2)
    add("repeat", "a b -> a b c", c=0)
    add("repeat", "(a c) b -> a (k c) b", c=2, k=3)
    return calls


OPERATIONS = operations(4, 6)
