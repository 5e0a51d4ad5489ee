"""Turns what users reported to einops as bugs into tests, each named after what it shows.

Those about tensorflow's static shapes are in tests/tensorflow, those about lost errors of compiled
code in test_torch_compile_errors.py.
"""

import gc
import sys
import warnings
import weakref
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import einrs
from fresh import run

torch = pytest.importorskip("torch")
jax = pytest.importorskip("jax")
ml_dtypes = pytest.importorskip("ml_dtypes")
pytestmark = [pytest.mark.needs_torch, pytest.mark.needs_jax]

from einrs.layers.torch import Rearrange, Reduce  # noqa: E402


def test_einrs_before_dynamo_warns_of_nothing() -> None:
    run("import einrs, torch; einrs.rearrange(torch.zeros(2, 3), 'a b -> b a')")
    run("import einrs, torch._dynamo", "-W", "ignore::DeprecationWarning:torch")


def test_eager_calls_do_not_import_dynamo() -> None:
    run(
        """
        import sys, torch, einrs
        before = "torch._dynamo" in sys.modules
        einrs.rearrange(torch.zeros(2, 3), "a b -> b a")
        assert ("torch._dynamo" in sys.modules) == before
        """
    )


@pytest.mark.parametrize("name", ["tensorflow", "keras", "cupy", "mlx.core"])
def test_another_framework_that_is_broken_does_not_matter(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, name, ModuleType(name))
    for tensor in (np.zeros((2, 3)), torch.zeros(2, 3), jax.numpy.zeros((2, 3))):
        assert einrs.rearrange(tensor, "a b -> b a").shape == (3, 2)
        assert einrs.parse_shape(tensor, "a b") == {"a": 2, "b": 3}


@pytest.mark.parametrize(
    "make", [np.ones, torch.ones, jax.numpy.ones], ids=["numpy", "torch", "jax"]
)
def test_threads_share_the_cache(make: Any) -> None:
    einrs.cache_clear()

    def shapes(thread: int) -> list[Any]:
        return [
            tuple(
                einrs.rearrange(
                    make((2, 3 * n)), f"a (b{thread % 2} c) -> c a b{thread % 2}", c=n
                ).shape
            )
            for n in range(1, 20)
        ]

    with ThreadPoolExecutor(8) as threads:
        for found in threads.map(shapes, range(16)):
            assert found == [(n, 2, 3) for n in range(1, 20)]


def test_layers_reduce_by_callables_and_by_any_and_all() -> None:
    x = torch.zeros(2, 3)
    torch.testing.assert_close(
        Reduce("a b -> a", torch.logsumexp)(x), torch.full((2,), np.log(3)), check_dtype=False
    )
    assert Reduce("a b -> a", "any")(x > -1).tolist() == [True, True]
    assert Reduce("a b -> a", "all")(x > 1).tolist() == [False, False]


def test_callables_need_no_hash_and_are_not_kept() -> None:
    class Largest:
        __hash__ = None  # type: ignore[assignment]

        def __call__(self, tensor: Any, axes: tuple[int, ...]) -> Any:
            return tensor.max(axes)

    largest = Largest()
    kept = weakref.ref(largest)
    assert einrs.reduce(np.array([[1, 5], [7, 3]]), "a b -> a", largest).tolist() == [5, 7]
    del largest
    gc.collect()
    assert kept() is None


def test_a_layer_says_which_pattern_and_shape_do_not_fit() -> None:
    with pytest.raises(einrs.EinopsError, match="b c -> c b") as caught:
        Rearrange("b c -> c b")(torch.zeros(2, 3, 4))
    assert "[2, 3, 4]" in str(caught.value)


def test_an_ellipsis_of_a_layer_takes_any_rank() -> None:
    assert Rearrange("a ... -> ... a")(torch.zeros(2, *[1] * 11)).shape == (*[1] * 11, 2)


@pytest.mark.parametrize(
    ("pattern", "lengths"),
    [
        ("batch num_axis -> num_axis batch", {"num_axis": 3}),
        ("αβ 通道 -> 通道 αβ", {"通道": 3}),
        ("in is -> is in", {"is": 3}),
        ("a axis -> axis a", {"axis": 3}),
        ("a reduction -> reduction a", {"reduction": 3}),
        ("a \N{MICRO SIGN} -> \N{MICRO SIGN} a", {"\N{GREEK SMALL LETTER MU}": 3}),
        ("a\tb\n-> b a", {}),
    ],
)
def test_names_that_python_takes_are_axis_names(pattern: str, lengths: dict[str, int]) -> None:
    x = np.arange(6).reshape(2, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(einrs.rearrange(x, pattern, **lengths), x.T)


@pytest.mark.parametrize(
    "pattern", ["a b", "a b -> b a -> a b", "a b -> (c", b"a b -> b a", None, ""]
)
def test_what_is_no_pattern_is_an_einops_error(pattern: Any) -> None:
    with pytest.raises(einrs.EinopsError):
        einrs.rearrange(np.zeros((2, 3)), pattern)


def test_letters_that_are_run_together_are_one_axis() -> None:
    x = np.arange(9).reshape(3, 3)
    assert einrs.einsum(x, "i i -> i").tolist() == [0, 4, 8]
    assert einrs.einsum(x, "i i ->") == 12
    with pytest.raises(einrs.EinopsError, match="Unknown axis i on right side") as caught:
        einrs.einsum(x, "ii->i")
    assert "i i" in str(caught.value)


def test_reduce_and_repeat_take_lists() -> None:
    tensors = [torch.full((2, 3), float(n)) for n in range(10)]
    assert einrs.reduce(tensors, "ten a b -> a b", "mean").tolist() == [[4.5] * 3] * 2
    assert einrs.repeat(tensors, "ten a b -> ten a b k", k=2).shape == (10, 2, 3, 2)
    with pytest.raises(einrs.EinopsError):
        einrs.reduce([], "ten a -> a", "mean")


def test_unpack_neither_overlaps_nor_drops() -> None:
    x = np.arange(10)
    for shapes in ([(7,), (-1,), (5,)], []):
        with pytest.raises(einrs.EinopsError):
            einrs.unpack(x, shapes, "*")
    first, middle, last = einrs.unpack(x, [(4,), (-1,), (5,)], "*")
    assert [list(first), list(middle), list(last)] == [[0, 1, 2, 3], [4], [5, 6, 7, 8, 9]]


def test_pack_takes_generators_and_one_tensor_and_not_nothing() -> None:
    packed, shapes = einrs.pack((np.zeros((2, n)) for n in (1, 3)), "a *")
    assert (packed.shape, shapes) == ((2, 4), [(1,), (3,)])
    packed, shapes = einrs.pack([np.zeros((2, 3, 4))], "a *")
    assert (packed.shape, shapes) == ((2, 12), [(3, 4)])
    with pytest.raises(einrs.EinopsError):
        einrs.pack([], "a *")


def test_parse_shape_checks_numbers_counts_from_the_end_and_refuses_twins() -> None:
    assert einrs.parse_shape(np.zeros((2, 1)), "b 1") == {"b": 2}
    assert einrs.parse_shape(np.zeros((2, 3, 4, 5)), "a ... b") == {"a": 2, "b": 5}
    for shape, pattern in [((2, 3), "b 1"), ((2, 2, 3), "b b c")]:
        with pytest.raises(einrs.EinopsError):
            einrs.parse_shape(np.zeros(shape), pattern)


def test_bfloat16_of_numpy_has_a_mean() -> None:
    found = einrs.reduce(np.ones((2, 3), ml_dtypes.bfloat16), "a b -> a", "mean")
    assert found.tolist() == [1, 1]


def test_bfloat16_of_torch_has_a_mean_and_integers_have_none() -> None:
    assert einrs.reduce(torch.ones(2, 3, dtype=torch.bfloat16), "a b -> a", "mean").tolist() == [
        1,
        1,
    ]
    for tensor in (torch.ones(2, 3, dtype=torch.int8), np.ones((2, 3), bool)):
        with pytest.raises(NotImplementedError) as caught:
            einrs.reduce(tensor, "a b -> a", "mean")
        assert isinstance(caught.value, einrs.EinopsError)


@pytest.mark.parametrize(
    "tensor",
    [None, "text", (np.zeros(2), np.zeros(2)), torch.zeros(2, 2).max(0)],
    ids=["None", "str", "tuple", "max"],
)
def test_what_is_no_tensor_is_named_with_the_pattern(tensor: Any) -> None:
    with pytest.raises(einrs.EinopsError, match="a -> a") as caught:
        einrs.rearrange(tensor, "a -> a")
    assert type(tensor).__name__ in str(caught.value)


@pytest.mark.parametrize("make", [np.ones, torch.ones], ids=["numpy", "torch"])
@pytest.mark.parametrize("length", [-1, None, "2", 2.0])
def test_lengths_that_are_none_are_refused(make: Any, length: Any) -> None:
    with pytest.raises(einrs.EinopsError):
        einrs.repeat(make(3), "a -> a k", k=length)


def test_a_wrong_length_does_not_poison_the_cache() -> None:
    x = np.zeros(6)
    with pytest.raises(einrs.EinopsError):
        einrs.rearrange(x, "(a b) -> a b", a=2.0)
    assert einrs.rearrange(x, "(a b) -> a b", a=np.int64(2)).shape == (2, 3)
    assert einrs.rearrange(x, "(a b) -> a b", a=2).shape == (2, 3)
