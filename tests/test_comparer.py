"""Turns einops into modules that are wrong in one way each: the comparison must notice."""

import itertools
import warnings
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import einops
import pytest

from differential import check, stream
from einrs.testing import Reducer
from tensors import FRAMEWORKS

Answer = Callable[[Any, Callable[[], Any]], Any]


class OtherError(Exception):
    """An error that nobody who catches einops' expects."""


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def wrong_module(answer: Answer) -> SimpleNamespace:
    """A module whose operations hand their tensor and einops' answer to a function."""

    def operation(name: str) -> Callable[..., Any]:
        real = getattr(einops, name)
        return lambda tensor, *args, **kw: answer(tensor, lambda: real(tensor, *args, **kw))

    names = ("rearrange", "reduce", "repeat")
    return SimpleNamespace(EinopsError=einops.EinopsError, **{n: operation(n) for n in names})


def facets(name: str, answer: Answer, cases: int) -> set[str]:
    framework, module = FRAMEWORKS[name], wrong_module(answer)
    drawn = itertools.islice(stream("comparer", framework.menu), cases)
    verdicts = [check(module, framework, case) for case in drawn]
    return {facet for verdict in verdicts for facet in verdict.facets}


def array_or_same(change: Callable[[Any], Any]) -> Answer:
    """Changes what is an array with elements and leaves scalars and the like."""

    def answer(tensor: Any, call: Callable[[], Any]) -> Any:
        value = call()
        return change(value) if getattr(value, "ndim", 0) and 0 not in value.shape else value

    return answer


def frozen(value: Any) -> Any:
    value = value.view()
    value.flags.writeable = False
    return value


def swallowing(tensor: Any, call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception:
        return tensor


def renaming(tensor: Any, call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception:
        raise OtherError from None


def rewording(tensor: Any, call: Callable[[], Any]) -> Any:
    try:
        return call()
    except einops.EinopsError:
        raise einops.EinopsError("something is wrong") from None


def refusing(tensor: Any, call: Callable[[], Any]) -> Any:
    raise einops.EinopsError("no")


def copying_identity(tensor: Any, call: Callable[[], Any]) -> Any:
    value = call()
    return value[...] if value is tensor else value


def every_second() -> Answer:
    """Wrong at every second call, as a cache that was filled with something wrong would be."""
    turn = itertools.count()

    def answer(tensor: Any, call: Callable[[], Any]) -> Any:
        value = call()
        return value if next(turn) % 2 == 0 else swallowing(tensor, lambda: value[..., ::-1])

    return answer


WRONG_ON_NUMPY = {
    "values": array_or_same(lambda value: value[::-1][:]),
    "dtype": array_or_same(lambda value: value.astype("complex128")),
    "shape": array_or_same(lambda value: value[None]),
    "strides": array_or_same(lambda value: value.copy(order="F")),
    "writeable": array_or_same(frozen),
    "type": lambda tensor, call: [call()],
    "shares memory": array_or_same(lambda value: value.copy(order="K")),
    "same object": copying_identity,
    "success": swallowing,
    "class of the error": renaming,
    "first line of the message": rewording,
}
WRONG_ON_TORCH = {
    "values": array_or_same(lambda value: value.flip(0)),
    "strides": array_or_same(lambda value: value.mT.contiguous().mT if value.ndim > 1 else value),
    "requires_grad": array_or_same(lambda value: value.detach()),
    "shares memory": array_or_same(lambda value: value.clone()),
    "same object": copying_identity,
    "conjugate": array_or_same(lambda value: value.resolve_conj()),
}


@pytest.mark.parametrize("facet", WRONG_ON_NUMPY)
def test_wrong_on_numpy(facet: str) -> None:
    assert facet in facets("numpy", WRONG_ON_NUMPY[facet], 300)


@pytest.mark.needs_torch
@pytest.mark.parametrize("facet", WRONG_ON_TORCH)
def test_wrong_on_torch(facet: str) -> None:
    assert facet in facets("torch", WRONG_ON_TORCH[facet], 1500)


@pytest.mark.needs_jax
def test_wrong_on_jax() -> None:
    assert "values" in facets("jax", array_or_same(lambda value: value[::-1]), 40)


def test_refusing_everything_is_no_deliberate_fix() -> None:
    assert "success" in facets("numpy", refusing, 100)


def test_the_second_call_counts() -> None:
    assert facets("numpy", every_second(), 100) >= {"values"}


def test_einops_agrees_with_itself() -> None:
    assert facets("numpy", lambda tensor, call: call(), 300) == set()


def test_the_calls_of_a_reducer_are_compared() -> None:
    def calling_twice(tensor: Any, pattern: str, reduction: Any, **lengths: Any) -> Any:
        if isinstance(reduction, Reducer):
            einops.reduce(tensor, pattern, reduction, **lengths)
        return einops.reduce(tensor, pattern, reduction, **lengths)

    module = SimpleNamespace(EinopsError=einops.EinopsError, reduce=calling_twice)
    framework = FRAMEWORKS["numpy"]
    drawn = itertools.islice(stream("calls", framework.menu), 1000)
    verdicts = [check(module, framework, case) for case in drawn if case.op == "reduce"]
    assert {"calls of the reduction"} in [set(verdict.facets) for verdict in verdicts]
