"""Turns backends that a program defines into tests: einrs finds and calls them as einops does."""

import functools
import gc
from collections.abc import Callable, Iterator
from typing import Any

import einops
import einops._backends
import numpy as np
import pytest

import einrs
import einrs._backends
from einrs._backends import AbstractBackend, get_backend

Call = tuple[str, tuple[Any, ...]]


class Wrapped:
    """A tensor of no framework: an array and the calls that its backend got."""

    def __init__(self, array: Any, calls: list[Call] | None = None) -> None:
        self.array = array
        self.calls: list[Call] = [] if calls is None else calls

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def dtype(self) -> Any:
        return self.array.dtype

    def __getitem__(self, key: Any) -> "Wrapped":
        return Wrapped(self.array[key], self.calls)


class Nested(Wrapped):
    """One that only a subclass of the backend takes."""


class Written(Wrapped):
    """One that no backend takes by itself."""


def backend_class(base: Any, name: str, kind: type) -> Any:
    """A backend derived from einops' or einrs' class that notes down what it is asked for."""

    def noted(method: str, *arguments: Any) -> list[Call]:
        tensors = arguments[0] if isinstance(arguments[0], list) else [arguments[0]]
        calls = tensors[0].calls
        calls.append((method, arguments[1:]))
        return calls

    class Backend(base):  # type: ignore[misc]
        framework_name = name

        def is_appropriate_type(self, tensor: Any) -> bool:
            return type(tensor) is kind

        def reshape(self, x: Any, shape: Any) -> Any:
            return Wrapped(x.array.reshape(shape), noted("reshape", x, shape))

        def transpose(self, x: Any, axes: Any) -> Any:
            return Wrapped(x.array.transpose(axes), noted("transpose", x, axes))

        def reduce(self, x: Any, operation: str, axes: Any) -> Any:
            calls = noted("reduce", x, operation, axes)
            return Wrapped(getattr(x.array, operation)(axis=axes), calls)

        def add_axis(self, x: Any, new_position: int) -> Any:
            calls = noted("add_axis", x, new_position)
            return Wrapped(np.expand_dims(x.array, new_position), calls)

        def tile(self, x: Any, repeats: Any) -> Any:
            return Wrapped(np.tile(x.array, repeats), noted("tile", x, repeats))

        def stack_on_zeroth_dimension(self, tensors: list[Any]) -> Any:
            calls = noted("stack", tensors)
            return Wrapped(np.stack([one.array for one in tensors]), calls)

        def concat(self, tensors: list[Any], axis: int) -> Any:
            calls = noted("concat", tensors, axis)
            return Wrapped(np.concatenate([one.array for one in tensors], axis), calls)

        def einsum(self, pattern: str, *x: Any) -> Any:
            calls = noted("einsum", x[0], pattern)
            return Wrapped(np.einsum(pattern, *[one.array for one in x]), calls)

        def is_float_type(self, x: Any) -> bool:
            noted("is_float_type", x)
            return x.array.dtype.kind == "f"

        def to_numpy(self, x: Any) -> Any:
            return x.array

    return Backend


@pytest.fixture(scope="module", autouse=True)
def backends() -> Iterator[None]:
    """One backend for each library, found by definition alone; and what is forgotten at the end."""
    kept = [backend_class(m._backends.AbstractBackend, "functools", Wrapped) for m in MODULES]
    kept += [backend_class(one, "gc", Nested) for one in kept]
    yield
    for module in MODULES:
        for kind in (Wrapped, Nested, Written):
            module._backends._type2backend.pop(kind, None)
        for name, backend in list(module._backends._loaded_backends.items()):
            if type(backend).__module__ == __name__:
                del module._backends._loaded_backends[name]
    del kept
    gc.collect()


MODULES = (einops, einrs)


def array(*shape: int) -> Any:
    return np.arange(np.prod(shape), dtype="float64").reshape(shape)


OPERATIONS = [
    ("rearrange", (array(2, 6),), "a (b c) -> c a b", {"b": 2}),
    ("rearrange", (array(2, 6, 1),), "a b 1 -> b (a 1)", {}),
    ("rearrange", (array(2, 3),), "a b -> a b", {}),
    ("rearrange", (array(2, 3, 4),), "a ... -> ... a", {}),
    ("reduce", (array(2, 6, 3),), "a (b c) d -> d b", {"reduction": "sum", "c": 3}),
    ("reduce", (array(2, 3),), "a b -> 1 b", {"reduction": "mean"}),
    ("reduce", (array(2, 3),), "... -> ", {"reduction": "max"}),
    ("repeat", (array(2, 3),), "a b -> (k a) j b 1", {"k": 2, "j": 3}),
    ("repeat", (array(2),), "a -> a 3 k", {"k": 1}),
]


def run(module: Any, operation: str, arrays: Any, pattern: str, options: Any) -> Any:
    calls: list[Call] = []
    tensors = [Wrapped(one, calls) for one in arrays]
    return getattr(module, operation)(tensors[0], pattern, **options), calls


@pytest.mark.parametrize(("operation", "arrays", "pattern", "options"), OPERATIONS)
def test_a_backend_gets_the_calls_that_einops_makes(
    operation: str, arrays: Any, pattern: str, options: Any
) -> None:
    theirs, their_calls = run(einops, operation, arrays, pattern, options)
    ours, our_calls = run(einrs, operation, arrays, pattern, options)
    np.testing.assert_array_equal(ours.array, theirs.array)
    assert our_calls == their_calls


def test_a_list_is_stacked_by_the_backend() -> None:
    tensors = [Wrapped(array(2)), Wrapped(array(2) + 5)]
    result = einrs.rearrange(tensors, "n a -> a n")
    np.testing.assert_array_equal(result.array, [[0, 5], [1, 6]])
    assert [name for name, _ in tensors[0].calls] == ["stack", "transpose"]


def test_a_backend_joins_and_splits() -> None:
    tensors = [Wrapped(array(2, 3)), Wrapped(array(2, 2, 2))]
    packed, shapes = einrs.pack(tensors, "a *")
    expected, expected_shapes = einops.pack([one.array for one in tensors], "a *")
    np.testing.assert_array_equal(packed.array, expected)
    assert [tuple(one) for one in shapes] == [tuple(one) for one in expected_shapes]
    assert ("concat", (1,)) in packed.calls
    for one, other in zip(einrs.unpack(packed, shapes, "a *"), tensors, strict=True):
        np.testing.assert_array_equal(one.array, other.array)


def test_a_backend_serves_the_other_functions() -> None:
    tensor = Wrapped(array(2, 3))
    product = einrs.einsum(tensor, Wrapped(array(3, 4)), "a b, b c -> c a")
    np.testing.assert_array_equal(product.array, (array(2, 3) @ array(3, 4)).T)
    assert product.calls == [("einsum", ("ab,bc->ca",))]
    assert einrs.parse_shape(tensor, "a _") == {"a": 2}
    np.testing.assert_array_equal(einrs.asnumpy(tensor), array(2, 3))


def test_a_mean_is_asked_for() -> None:
    with pytest.raises(NotImplementedError, match="mean"):
        einrs.reduce(Wrapped(np.arange(6).reshape(2, 3)), "a b -> a", "mean")


def test_a_nested_subclass_is_found() -> None:
    tensor = Nested(array(2, 3))
    assert einrs.rearrange(tensor, "a b -> b a").shape == (3, 2)
    assert get_backend(tensor).framework_name == "gc"
    assert repr(get_backend(tensor)) == "<einops backend for gc>"


def test_a_type_that_is_written_into_the_table() -> None:
    with pytest.raises(einrs.EinopsError, match="Tensor type unknown"):
        einrs.rearrange(Written(array(2, 3)), "a b -> b a")
    with pytest.raises(einrs.EinopsError, match="Tensor type unknown"):
        get_backend(Written(array(2, 3)))
    backend = get_backend(Wrapped(array(1)))
    einrs._backends._type2backend[Written] = backend
    assert einrs.rearrange(Written(array(2, 3)), "a b -> b a").shape == (3, 2)
    assert get_backend(Written(array(2, 3))) is backend
    del einrs._backends._type2backend[Written]
    with pytest.raises(einrs.EinopsError, match="Tensor type unknown"):
        einrs.rearrange(Written(array(2, 3)), "a b -> b a")


WRITES: list[Callable[[Any, Any], object]] = [
    lambda table, backend: table.update({Written: backend}),
    lambda table, backend: table.setdefault(Written, backend),
    lambda table, backend: table.__setitem__(Written, backend),
]
REMOVALS: list[Callable[[Any], object]] = [
    lambda table: table.pop(Written),
    lambda table: table.clear(),
    lambda table: table.__delitem__(Written),
]


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("remove", REMOVALS)
def test_every_way_to_write_into_the_table(write: Any, remove: Any) -> None:
    table = einrs._backends._type2backend
    write(table, get_backend(Wrapped(array(1))))
    assert einrs.rearrange(Written(array(2, 3)), "a b -> b a").shape == (3, 2)
    remove(table)
    assert Written not in table
    with pytest.raises(einrs.EinopsError, match="Tensor type unknown"):
        einrs.rearrange(Written(array(2, 3)), "a b -> b a")


def test_a_backend_that_is_put_among_the_loaded_ones() -> None:
    """Its framework is no module, as programs do it that have no module of that name."""

    class Counted(Wrapped):
        pass

    einrs._backends._loaded_backends["Counted"] = backend_class(
        AbstractBackend, "Counted", Counted
    )()
    try:
        assert einrs.rearrange(Counted(array(2, 3)), "a b -> b a").shape == (3, 2)
    finally:
        del einrs._backends._loaded_backends["Counted"]
        del einrs._backends._type2backend[Counted]


def test_a_native_type_that_is_written_into_the_table() -> None:
    class Tracing(einrs._backends.NumpyBackend):
        calls = 0

        def transpose(self, x: Any, axes: Any) -> Any:
            Tracing.calls += 1
            return super().transpose(x, axes)

    class Array(np.ndarray):
        pass

    tensor = array(2, 3).view(Array)
    assert einrs.rearrange(tensor, "a b -> b a").shape == (3, 2)
    einrs._backends._type2backend[Array] = Tracing()
    try:
        assert einrs.rearrange(tensor, "a b -> b a").shape == (3, 2)
        assert Tracing.calls == 1
    finally:
        del einrs._backends._type2backend[Array]
    assert einrs.rearrange(tensor, "a b -> b a").shape == (3, 2)
    assert Tracing.calls == 1


def test_a_backend_of_einops_own_leaves_a_type_native() -> None:
    """To warm the table for a type must not take it off the fast way."""
    einrs._backends._type2backend[np.ndarray] = einrs._backends.NumpyBackend()
    einrs.cache_clear()
    for _ in range(2):
        einrs.rearrange(array(2, 3), "a b -> b a")
    del einrs._backends._type2backend[np.ndarray]
    assert einrs.cache_info().hits == 1


class Broken:
    """A tensor that nobody owns."""


def test_a_probe_that_fails_does_not_hide_the_others() -> None:
    class Failing(AbstractBackend):
        framework_name = "types"

        def is_appropriate_type(self, tensor: Any) -> bool:
            raise LookupError("this backend does not like anything")

    class Fresh(Wrapped):
        pass

    kept = backend_class(AbstractBackend, "numpy", Fresh)
    try:
        assert einrs.rearrange(Fresh(array(2, 3)), "a b -> b a").shape == (3, 2)
        with pytest.raises(LookupError, match="does not like"):
            einrs.rearrange(Broken(), "a b -> b a")
    finally:
        for name in ("types", "numpy"):
            einrs._backends._loaded_backends.pop(name, None)
        einrs._backends._type2backend.pop(Fresh, None)
        del Failing, kept
        gc.collect()


def test_a_backend_whose_framework_is_not_loaded_is_not_created() -> None:
    class Absent(AbstractBackend):
        framework_name = "no.such.module"

        def __init__(self) -> None:
            raise AssertionError("it has been created")

    with pytest.raises(einrs.EinopsError, match="Tensor type unknown"):
        einrs.rearrange(Broken(), "a b -> b a")
    del Absent
    gc.collect()


@pytest.mark.parametrize("method", ["from_numpy", "to_numpy", "create_symbol", "layers", "einsum"])
def test_what_a_backend_does_not_do(method: str) -> None:
    with pytest.raises(NotImplementedError):
        getattr(AbstractBackend(), method)(*([()] if method != "layers" else []))


def test_an_unknown_size_stays_unknown() -> None:
    unknown = einrs._backends.UnknownSize()
    theirs = einops._backends.UnknownSize()
    assert hash(unknown) == hash(theirs)
    assert unknown == 3
    assert (unknown * 2) is unknown
    assert (2 * unknown) is unknown
    assert (unknown // 2) is unknown


def test_a_hashable_tuple_holds_what_has_no_hash() -> None:
    elements = einrs._backends.HashableTuple(([1], [2]))
    assert (list(elements), len(elements), elements[1]) == ([[1], [2]], 2, [2])
    assert elements == elements
    assert elements != einrs._backends.HashableTuple(([1], [2]))
    assert hash(elements) == hash(elements)


def test_a_replaced_cache_is_taken() -> None:
    """Programs give einops a larger cache in this way."""
    import einrs.einops

    before = einrs.einops._reconstruct_from_shape
    einrs.einops._reconstruct_from_shape = functools.lru_cache(1 << 14)(before.__wrapped__)
    try:
        assert einrs.rearrange(array(2, 3), "a b -> b a").shape == (3, 2)
    finally:
        einrs.einops._reconstruct_from_shape = before
