"""Checks what the public functions are as Python objects, and how they take their arguments."""

import copy
import doctest
import functools
import inspect
import pickle
import re
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np
import pytest

import einrs
import fresh

FUNCTIONS = [einrs.rearrange, einrs.reduce, einrs.repeat]
SIGNATURES = [
    (einrs.rearrange, "(tensor, pattern, **axes_lengths)"),
    (einrs.reduce, "(tensor, pattern, reduction, **axes_lengths)"),
    (einrs.repeat, "(tensor, pattern, **axes_lengths)"),
]
DOCUMENTED = [
    *("rearrange", "reduce", "repeat", "cache_info", "cache_clear"),
    *("EinopsError", "EinopsTypeError", "EinopsDtypeError"),
]
# Errors show what they are by their class; whoever reads the class's name needs no example.
WITH_EXAMPLES = [name for name in DOCUMENTED if not re.search("Type|Dtype", name)]

X = np.arange(12.0).reshape(4, 3)


def by_name(value: object) -> str:
    return getattr(value, "__name__", str(value))


each_function = pytest.mark.parametrize("function", FUNCTIONS, ids=by_name)


@pytest.mark.parametrize(("function", "signature"), SIGNATURES, ids=by_name)
def test_signature(function: Any, signature: str) -> None:
    assert function.__text_signature__ == signature
    assert str(inspect.signature(function)) == signature


@each_function
def test_is_a_builtin_of_einrs(function: Any) -> None:
    assert inspect.isbuiltin(function)
    assert function.__module__ == "einrs"
    assert function.__qualname__ == function.__name__
    assert getattr(einrs, function.__name__) is function
    assert function.__self__ is None


@pytest.mark.parametrize("name", DOCUMENTED)
def test_documentation(name: str) -> None:
    documentation = inspect.getdoc(getattr(einrs, name))
    assert documentation
    opening = documentation.partition("\n\n")[0]
    assert re.fullmatch(r"[A-Z].*\.", opening, re.DOTALL)
    assert "--\n" not in documentation


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_in_the_documentation(name: str) -> None:
    text = inspect.getdoc(getattr(einrs, name)) or ""
    examples = doctest.DocTestParser().get_doctest(text, {}, name, name, 0)
    assert examples.examples
    report: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(examples, out=report.append)
    assert result.failed == 0, "".join(report)


def test_examples_can_fail() -> None:
    text = ">>> import einrs, numpy as np\n>>> einrs.rearrange(np.zeros(2), 'a -> a').shape\n(3,)\n"
    examples = doctest.DocTestParser().get_doctest(text, {}, "wrong", "wrong", 0)
    assert doctest.DocTestRunner(verbose=False).run(examples, out=lambda _: None).failed == 1


@each_function
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_by_name(function: Any, protocol: int) -> None:
    assert pickle.loads(pickle.dumps(function, protocol)) is function


@each_function
def test_copies_are_the_function_itself(function: Any) -> None:
    assert copy.copy(function) is function
    assert copy.deepcopy({"f": [function]})["f"][0] is function


def test_functions_differ() -> None:
    """Builtins on one C function would be equal, and torch would refuse the second of them."""
    everything = [*FUNCTIONS, einrs._einrs._panic]
    for i, one in enumerate(everything):
        for other in everything[i + 1 :]:
            assert one != other
            assert hash(one) != hash(other)
    assert len({*everything}) == len(everything)


def test_version() -> None:
    assert einrs.__version__ == version("einrs")
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", einrs.__version__)


def test_everything_promised_is_there() -> None:
    assert set(einrs.__all__) >= {*DOCUMENTED, "CacheInfo", "__version__"}
    for name in einrs.__all__:
        assert hasattr(einrs, name)
    namespace: dict[str, Any] = {}
    exec("from einrs import *", namespace)
    assert namespace["rearrange"] is einrs.rearrange


SPLIT = X.reshape(2, 2, 3)
SUMS = X.sum(1)
LENGTHS = {"a": 2, "c": 3}
CALLS: list[tuple[Callable[[], Any], np.ndarray]] = [
    (lambda: einrs.rearrange(tensor=X, pattern="a b -> b a"), X.T),
    (lambda: einrs.rearrange(pattern="a b -> b a", tensor=X), X.T),
    (lambda: einrs.rearrange(X, pattern="a b -> b a"), X.T),
    (lambda: einrs.rearrange(X, pattern="(a b) c -> a b c", a=2), SPLIT),
    (lambda: einrs.rearrange(a=2, tensor=X, pattern="(a b) c -> a b c"), SPLIT),
    (lambda: einrs.rearrange(X, "(a b) c -> a b c", **LENGTHS), SPLIT),
    (lambda: einrs.reduce(tensor=X, pattern="a b -> a", reduction="sum"), SUMS),
    (lambda: einrs.reduce(X, reduction="sum", pattern="a b -> a"), SUMS),
    (lambda: einrs.reduce(X, "a b -> a", reduction="sum"), SUMS),
    (lambda: einrs.reduce(X, "a b -> a", reduction=np.sum), SUMS),
    (lambda: einrs.repeat(tensor=X, pattern="a b -> (k a) b", k=2), np.tile(X, (2, 1))),
    (lambda: einrs.repeat(X, pattern="a b -> (k a) b", k=2), np.tile(X, (2, 1))),
    (lambda: functools.partial(einrs.rearrange, pattern="a b -> b a")(X), X.T),
    (lambda: functools.partial(einrs.reduce, X, "a b -> a")("sum"), SUMS),
    # Parameters that another function has, and one that none has, are names like any other.
    (lambda: einrs.rearrange(X, "(reduction b) c -> reduction b c", reduction=2), SPLIT),
    (lambda: einrs.rearrange(X, "(axes_lengths b) c -> axes_lengths b c", axes_lengths=2), SPLIT),
    (lambda: einrs.repeat(X, "a b -> (reduction a) b", reduction=2), np.tile(X, (2, 1))),
    # An axis called like a parameter has no length to be given, but may stand in a pattern.
    (lambda: einrs.rearrange(X, "tensor pattern -> pattern tensor"), X.T),
    (lambda: einrs.reduce(X, "tensor reduction -> tensor", "sum"), SUMS),
]


@pytest.mark.parametrize(("call", "expected"), CALLS)
def test_arguments(call: Callable[[], Any], expected: np.ndarray) -> None:
    for _ in range(2):
        np.testing.assert_array_equal(call(), expected)


RESERVED: list[tuple[str, Callable[[], Any]]] = [
    ("tensor", lambda: einrs.rearrange(X, "(tensor b) c -> tensor b c", tensor=2)),
    ("pattern", lambda: einrs.rearrange(X, "(pattern b) c -> pattern b c", pattern=2)),
    ("tensor", lambda: einrs.repeat(X, "a b -> a b tensor", tensor=2)),
    ("pattern", lambda: einrs.repeat(X, "a b -> a b pattern", pattern=2)),
    ("tensor", lambda: einrs.reduce(X, "(tensor b) c -> tensor", "sum", tensor=2)),
    ("pattern", lambda: einrs.reduce(X, "(pattern b) c -> pattern", "sum", pattern=2)),
    ("reduction", lambda: einrs.reduce(X, "(reduction b) c -> reduction", "sum", reduction=2)),
]


@pytest.mark.parametrize(("name", "call"), RESERVED)
def test_axis_called_like_a_parameter(name: str, call: Callable[[], Any]) -> None:
    """The message of Python's own TypeError would not say that the axis is to blame."""
    before = einrs.cache_info().size
    with pytest.raises(einrs.EinopsTypeError, match="multiple values") as caught:
        call()
    assert f"axis called '{name}'" in str(caught.value)
    assert re.search('rename the axis in pattern ".* -> .*"', str(caught.value))
    assert einrs.cache_info().size == before


MISTAKES: list[tuple[str, Callable[[], Any]]] = [
    ("'tensor'", lambda: einrs.rearrange()),
    ("'pattern'", lambda: einrs.rearrange(X)),
    ("'pattern'", lambda: einrs.repeat(X, k=2)),
    ("'tensor'", lambda: einrs.rearrange(pattern="a b -> b a")),
    ("'reduction'", lambda: einrs.reduce(X, "a b -> a")),
    ("'pattern'", lambda: einrs.reduce(X, reduction="sum")),
    ("2 positional", lambda: einrs.rearrange(X, "a b -> b a", 3)),
    ("2 positional", lambda: einrs.repeat(X, "a b -> b a c", 3, c=2)),
    ("3 positional", lambda: einrs.reduce(X, "a b -> a", "sum", 3)),
]


@pytest.mark.parametrize(("words", "call"), MISTAKES)
def test_wrong_number_of_arguments(words: str, call: Callable[[], Any]) -> None:
    with pytest.raises(TypeError, match=words):
        call()


@pytest.mark.parametrize("keywords", [{1: 2}, {None: 2}, {b"a": 2}])
def test_keywords_are_text(keywords: dict[Any, int]) -> None:
    with pytest.raises(TypeError, match="keywords must be strings"):
        einrs.rearrange(X, "(a b) c -> a b c", **keywords)


def test_more_lengths_than_a_key_holds() -> None:
    names = [f"n{i}" for i in range(20)]
    pattern = f"({' '.join(names)}) -> {' '.join(names)}"
    result = einrs.rearrange(np.zeros(2), pattern, **dict.fromkeys(names[:-1], 1))
    assert result.shape == (1,) * 19 + (2,)


def test_panic_becomes_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RuntimeError, match="report") as caught:
        einrs._einrs._panic()
    assert type(caught.value) is RuntimeError
    assert "a panic on purpose" in str(caught.value)
    assert "panicked at" in capfd.readouterr().err
    np.testing.assert_array_equal(einrs.rearrange(X, "a b -> b a"), X.T)


def test_panic_in_a_thread_ends_no_process() -> None:
    program = """
        import contextlib, os, threading, einrs

        os.close(2)
        caught = []

        def call():
            try:
                einrs._einrs._panic()
            except RuntimeError as error:
                caught.append(str(error))

        threads = [threading.Thread(target=call) for _ in range(4)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(len(caught), einrs.cache_info().size)
    """
    assert fresh.run(program).split() == ["4", "0"]


ERRORS: list[Callable[[], Any]] = [
    lambda: einrs.rearrange(X, "(a b) c -> a b c", a=3),
    lambda: einrs.rearrange(X, "(a b) c -> a b c", a=2.5),
    lambda: einrs.reduce(X.astype(int), "a b -> a", "mean"),
]


@pytest.mark.parametrize("call", ERRORS)
def test_errors_can_be_copied_and_pickled(call: Callable[[], Any]) -> None:
    """Errors travel between processes, and schedulers copy them."""
    with pytest.raises(einrs.EinopsError) as caught:
        call()
    error = caught.value
    for other in (copy.copy(error), copy.deepcopy(error), pickle.loads(pickle.dumps(error))):
        assert type(other) is type(error)
        assert str(other) == str(error)
        facts = (error.kind, error.pattern, error.spans)
        assert (other.kind, other.pattern, other.spans) == facts


def test_classes_of_errors() -> None:
    assert issubclass(einrs.EinopsError, RuntimeError)
    assert issubclass(einrs.EinopsTypeError, einrs.EinopsError)
    assert issubclass(einrs.EinopsTypeError, TypeError)
    assert issubclass(einrs.EinopsDtypeError, einrs.EinopsError)
    assert issubclass(einrs.EinopsDtypeError, NotImplementedError)


def test_what_an_error_knows() -> None:
    with pytest.raises(einrs.EinopsError) as caught:
        einrs.rearrange(X, "高 (b c) -> 高 b c", b=2)
    error = caught.value
    assert (error.kind, error.pattern) == ("NotDivisible", "高 (b c) -> 高 b c")
    assert error.spans == ((2, 7),)
    assert [error.pattern[start:end] for start, end in error.spans] == ["(b c)"]
