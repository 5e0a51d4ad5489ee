"""Lists where torch's layers differ on purpose from einops 0.8.2: its functions, and its EinMix."""

from deliberate import FIXES, Fix
from einrs.testing import Case

LAYER_FIXES = (
    *FIXES,
    Fix(
        "wrong ranks",
        "a wrong rank is an EinopsError; einops looks in vain for the recipe of that rank",
        lambda case: case.op == "einmix",
        Case("einmix", "(a c) d -> d|a c", (12,), (("a", 2), ("c", 3))),
        raises=("EinopsError",),
        instead_of=KeyError,
        shown_on="torch",
    ),
    Fix(
        "shapes of weight and bias",
        "what is no list of names is an EinopsError; einops takes it apart before it looks",
        lambda case: case.op == "einmix",
        Case("einmix", "b c -> b d|c 1 d", (2, 3), (("c", 3), ("d", 2))),
        raises=("EinopsError",),
        instead_of=ValueError,
        shown_on="torch",
    ),
    Fix(
        "layers are built first",
        "a wrong pattern is told before the layer sees that its list of tensors is empty",
        lambda case: case.layout == "list" and case.shape[:1] == (0,),
        Case("rearrange", "a", (0, 2), layout="list"),
        raises=("EinopsError",),
        instead_of=TypeError,
        shown_on="torch",
    ),
)
