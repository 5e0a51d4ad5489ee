"""Checks the layers of linen, nnx and equinox in the transformations that these bring."""

import io
from collections.abc import Callable
from typing import Any

import pytest

jax = pytest.importorskip("jax")
eqx = pytest.importorskip("equinox")
pytest.importorskip("flax")
jnp = jax.numpy

from flax import linen, nnx, serialization  # noqa: E402
from jax_operations import KEY, LIBRARIES, mixed, numbers, same_values, total  # noqa: E402

import einrs  # noqa: E402

pytestmark = pytest.mark.needs_jax
each_layer = pytest.mark.cell("jax", operation="every layer")

MIX = ("b c d -> b c e", "d e", "e"), {"d": 4, "e": 4}
POOL = ("b (h c) d -> b h d", "sum"), {"h": 2}
TURN = ("b h d -> b d h",), {}
AGAIN = ("b d h -> b d (h k)",), {"k": 2}


def by_hand(x: Any, weight: Any, bias: Any) -> Any:
    batch, channels, width = x.shape
    pooled = mixed(x, weight, bias).reshape(batch, 2, channels // 2, width).sum(2)
    return jnp.repeat(pooled.transpose(0, 2, 1), 2, 2)


def layers_of(library: str) -> Any:
    return LIBRARIES[library].layers


def close(ours: Any, theirs: Any) -> None:
    assert jax.tree.structure(ours) == jax.tree.structure(theirs)
    jax.tree.map(same_values, ours, theirs)


def gradients(weight: Any, bias: Any) -> Any:
    return jax.grad(lambda w, b: total(by_hand(numbers(), w, b)), (0, 1))(weight, bias)


# --- flax linen


class Linen(linen.Module):  # type: ignore[misc]
    """All four layers."""

    @linen.compact
    def __call__(self, x: Any) -> Any:
        layers = layers_of("linen")
        x = layers.EinMix(*MIX[0], **MIX[1], name="mix")(x)
        x = layers.Reduce(*POOL[0], **POOL[1])(x)
        return layers.Repeat(*AGAIN[0], **AGAIN[1])(layers.Rearrange(*TURN[0])(x))


def linen_weights(variables: Any) -> tuple[Any, Any]:
    parameters = variables["params"]
    parameters = parameters.get("mix", parameters)
    return parameters["weight"], parameters["bias"]


def in_linen(model: Any) -> tuple[Any, Any]:
    variables = model.init(KEY, numbers())
    return model.apply(variables, numbers()), by_hand(numbers(), *linen_weights(variables))


def linen_gradients() -> tuple[Any, Any]:
    model = Linen()
    variables = model.init(KEY, numbers())
    gradient = jax.jit(jax.grad(lambda v: total(model.apply(v, numbers()))))(variables)
    return linen_weights(gradient), gradients(*linen_weights(variables))


def linen_vmap() -> tuple[Any, Any]:
    """Weights of their own for each element."""
    axes, rngs = {"params": 0}, {"params": True}
    model = linen.vmap(Linen, variable_axes=axes, split_rngs=rngs, axis_size=3)()
    x = jnp.stack([numbers()] * 3)
    variables = model.init(KEY, x)
    return model.apply(variables, x), jax.vmap(by_hand)(x, *linen_weights(variables))


class Step(linen.Module):  # type: ignore[misc]
    """A mix that a scan repeats."""

    @linen.compact
    def __call__(self, x: Any, _: Any) -> Any:
        return layers_of("linen").EinMix(*MIX[0], **MIX[1], name="mix")(x), None


def linen_scan() -> tuple[Any, Any]:
    """Several layers, one after the other."""
    axes, rngs = {"params": 0}, {"params": True}
    model = linen.scan(Step, variable_axes=axes, split_rngs=rngs, length=3)()
    variables = model.init(KEY, numbers(), None)
    expected = numbers()
    for weight, bias in zip(*linen_weights(variables), strict=True):
        expected = mixed(expected, weight, bias)
    return model.apply(variables, numbers(), None)[0], expected


def linen_bytes() -> tuple[Any, Any]:
    model = Linen()
    variables = model.init(KEY, numbers())
    other = model.init(jax.random.key(1), numbers())
    again = serialization.from_bytes(other, serialization.to_bytes(variables))
    return model.apply(again, numbers()), model.apply(variables, numbers())


def linen_shapes() -> tuple[Any, Any]:
    shapes = jax.eval_shape(Linen().init, KEY, numbers())
    drawn = Linen().init(KEY, numbers())
    return jax.tree.map(jnp.zeros_like, shapes), jax.tree.map(jnp.zeros_like, drawn)


# --- flax nnx


class Nnx(nnx.Module):  # type: ignore[misc]
    """All four layers."""

    def __init__(self, rngs: Any) -> None:
        layers = layers_of("nnx")
        self.mix = layers.EinMix(*MIX[0], **MIX[1], rngs=rngs)
        self.pool = layers.Reduce(*POOL[0], **POOL[1])
        self.turn = layers.Rearrange(*TURN[0])
        self.again = layers.Repeat(*AGAIN[0], **AGAIN[1])

    def __call__(self, x: Any) -> Any:
        return self.again(self.turn(self.pool(self.mix(x))))


def nnx_weights(model: Any) -> tuple[Any, Any]:
    return model.mix.weight[...], model.mix.bias[...]


def in_nnx(call: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    model = Nnx(nnx.Rngs(0))
    return call(model, numbers()), by_hand(numbers(), *nnx_weights(model))


def run(model: Any, x: Any) -> Any:
    return model(x)


def nnx_gradients() -> tuple[Any, Any]:
    model = Nnx(nnx.Rngs(0))
    found = nnx.jit(nnx.grad(lambda m: total(m(numbers()))))(model)["mix"]
    return (found["weight"][...], found["bias"][...]), gradients(*nnx_weights(model))


def nnx_vmap() -> tuple[Any, Any]:
    @nnx.split_rngs(splits=3)
    @nnx.vmap
    def make(rngs: Any) -> Any:
        return Nnx(rngs)

    models, x = make(nnx.Rngs(0)), jnp.stack([numbers()] * 3)
    return nnx.vmap(run)(models, x), jax.vmap(by_hand)(x, *nnx_weights(models))


def nnx_scan() -> tuple[Any, Any]:
    @nnx.split_rngs(splits=3)
    @nnx.vmap
    def make(rngs: Any) -> Any:
        return layers_of("nnx").EinMix(*MIX[0], **MIX[1], rngs=rngs)

    @nnx.scan(in_axes=(nnx.Carry, 0), out_axes=nnx.Carry)
    def forward(x: Any, mix: Any) -> Any:
        return mix(x)

    mixes, expected = make(nnx.Rngs(0)), numbers()
    for weight, bias in zip(mixes.weight[...], mixes.bias[...], strict=True):
        expected = mixed(expected, weight, bias)
    return forward(numbers(), mixes), expected


def nnx_split(model: Any, x: Any) -> Any:
    definition, state = nnx.split(model)
    return jax.jit(lambda state: nnx.merge(definition, state)(x))(state)


def nnx_cond(model: Any, x: Any) -> Any:
    return nnx.jit(lambda m, x: nnx.cond(x.sum() > -1e9, run, lambda m, x: 2 * m(x), m, x))(
        model, x
    )


def nnx_shapes() -> tuple[Any, Any]:
    states = nnx.state(nnx.eval_shape(lambda: Nnx(nnx.Rngs(0)))), nnx.state(Nnx(nnx.Rngs(0)))
    shapes = [[leaf.shape for leaf in jax.tree.leaves(state)] for state in states]
    return jnp.array(shapes[0][0]), jnp.array(shapes[1][0])


# --- equinox


class Equinox(eqx.Module):  # type: ignore[misc]
    """All four layers."""

    mix: Any
    pool: Any
    turn: Any
    again: Any

    def __init__(self, key: Any) -> None:
        layers = layers_of("equinox")
        self.mix = layers.EinMix(*MIX[0], **MIX[1], key=key)
        self.pool = layers.Reduce(*POOL[0], **POOL[1])
        self.turn = layers.Rearrange(*TURN[0])
        self.again = layers.Repeat(*AGAIN[0], **AGAIN[1])

    def __call__(self, x: Any) -> Any:
        return self.again(self.turn(self.pool(self.mix(x))))


def in_equinox(call: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    model = Equinox(KEY)
    return call(model, numbers()), by_hand(numbers(), model.mix.weight, model.mix.bias)


def equinox_gradients() -> tuple[Any, Any]:
    model = Equinox(KEY)
    found = eqx.filter_jit(eqx.filter_grad(lambda m: total(m(numbers()))))(model).mix
    return (found.weight, found.bias), gradients(model.mix.weight, model.mix.bias)


def equinox_vmap() -> tuple[Any, Any]:
    models = eqx.filter_vmap(Equinox)(jax.random.split(KEY, 3))
    x = jnp.stack([numbers()] * 3)
    ours = eqx.filter_vmap(run)(models, x)
    return ours, jax.vmap(by_hand)(x, models.mix.weight, models.mix.bias)


def equinox_scan() -> tuple[Any, Any]:
    mixes = eqx.filter_vmap(lambda key: Equinox(key).mix)(jax.random.split(KEY, 3))
    weights, static = eqx.partition(mixes, eqx.is_array)

    def step(x: Any, one: Any) -> Any:
        return eqx.combine(one, static)(x), None

    expected = numbers()
    for weight, bias in zip(mixes.weight, mixes.bias, strict=True):
        expected = mixed(expected, weight, bias)
    return jax.lax.scan(step, numbers(), weights)[0], expected


def equinox_saved(model: Any, x: Any) -> Any:
    file = io.BytesIO()
    eqx.tree_serialise_leaves(file, model)
    file.seek(0)
    return eqx.tree_deserialise_leaves(file, Equinox(jax.random.key(1)))(x)


def equinox_shapes() -> tuple[Any, Any]:
    shapes, drawn = eqx.filter_eval_shape(Equinox, KEY), Equinox(KEY)
    return jnp.zeros(shapes.mix.weight.shape), jnp.zeros(drawn.mix.weight.shape)


MODES: dict[str, Callable[[], tuple[Any, Any]]] = {
    "linen.Module.apply": lambda: in_linen(Linen()),
    "linen.jit": lambda: in_linen(linen.jit(Linen)()),
    "linen.remat": lambda: in_linen(linen.remat(Linen)()),
    "linen: gradients of weights": linen_gradients,
    "linen.vmap": linen_vmap,
    "linen.scan": linen_scan,
    "linen: eval_shape of init": linen_shapes,
    "flax.serialization": linen_bytes,
    "nnx.jit": lambda: in_nnx(nnx.jit(run)),
    "nnx.remat": lambda: in_nnx(nnx.remat(run)),
    "nnx.grad": nnx_gradients,
    "nnx.vmap": nnx_vmap,
    "nnx.scan": nnx_scan,
    "nnx.cond": lambda: in_nnx(nnx_cond),
    "nnx.split and merge": lambda: in_nnx(nnx_split),
    "nnx.eval_shape": nnx_shapes,
    "equinox.filter_jit": lambda: in_equinox(eqx.filter_jit(run)),
    "equinox.filter_checkpoint": lambda: in_equinox(eqx.filter_checkpoint(run)),
    "equinox.filter_grad": equinox_gradients,
    "equinox.filter_vmap": equinox_vmap,
    "equinox: scan over layers": equinox_scan,
    "equinox: saved leaves": lambda: in_equinox(equinox_saved),
    "equinox.filter_eval_shape": equinox_shapes,
}


@each_layer
@pytest.mark.parametrize("mode", MODES)
def test_modes(mode: str) -> None:
    close(*MODES[mode]())


REFUSED = {"Rearrange": TURN, "Reduce": POOL, "Repeat": AGAIN, "EinMix": MIX}


@pytest.mark.cell("jax", mode="wrong patterns and lengths")
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("operation", REFUSED)
def test_errors(operation: str, library: str) -> None:
    """An input that does not fit is refused in a trace by the words of the eager call."""
    texts, lengths = REFUSED[operation]
    is_mix = operation == "EinMix"
    keys = LIBRARIES[library].keys if is_mix else {}
    layer = getattr(layers_of(library), operation)(*texts, **lengths, **keys)
    variables = layer.init(KEY, numbers()) if library == "linen" and is_mix else {}
    call = (lambda x: layer.apply(variables, x)) if library == "linen" else lambda x: layer(x)
    wrong = jnp.zeros((2, 6, 5) if is_mix else (2, 6, 5, 1))
    messages = []
    for refused in (call, jax.jit(call), lambda x: jax.vmap(call)(x[None])):
        with pytest.raises(einrs.EinopsError) as caught:
            refused(wrong)
        messages.append(str(caught.value).splitlines())
    assert messages[0] == messages[1] == messages[2]
