"""Lists what may be drawn: names, lengths, dtypes, layouts, reductions; twice means more often."""

from dataclasses import dataclass

OPERATIONS = ("rearrange", "reduce", "repeat")
JOINS = ("einsum", "pack", "unpack", "parse_shape", "asnumpy")
REDUCTIONS = ("max", "min", "sum", "mean", "prod", "any", "all")

CALLABLES = ("call:sum", "call:first", "call:keep", "call:fail", "unhashable:sum")

NAMES = ("a", "b", "c", "d", "h", "w", "n", "h1", "w2", "batch", "time_step", "x0", "Z", "q9_k")

# Identifiers that NFKC leaves alone: Latin, Greek, CJK, Cyrillic, Hebrew, one beyond 16 bits.
UNICODE_NAMES = ("é", "λ", "β2", "日本", "ж_x", "שלום", "𠀀")

# Python keywords and `axis` (einops warns), a parameter of one operation, names that NFKC changes,
# though never to another name of these lists.
ODD_NAMES = (
    "in",
    "is",
    "axis",
    "lambda",
    "reduction",
    "\u00b5",
    "ﬁ",
    "\uff56",
)

SIZES = (2, 3, 1, 2, 3, 4, 2, 3, 5, 1, 2, 3, 4, 2, 7, 1, 2, 3, 4, 0)

NUMPY_DTYPES = (
    *("float32", "float64", "int64", "float32", "float64", "int64"),
    *("bool", "uint8", "int8", "int32", "float16", "complex64", "complex128", "longdouble"),
    *(">f4", ">i8", "object", "datetime64[s]", "timedelta64[s]", "U3"),
)

NUMPY_LAYOUTS = (
    *("C", "C", "C", "F", "transposed", "sliced", "reversed", "broadcast", "readonly"),
    *("C", "C", "C", "F", "transposed", "unaligned", "list", "subclass", "masked", "matrix"),
)


@dataclass(frozen=True)
class Menu:
    """What a case may be made of; every framework has dtypes and layouts of its own."""

    dtypes: tuple[str, ...] = NUMPY_DTYPES
    layouts: tuple[str, ...] = NUMPY_LAYOUTS
    operations: tuple[str, ...] = OPERATIONS
    joins: tuple[str, ...] = ("einsum", "pack", "unpack") * 3 + ("parse_shape", "asnumpy")
    reductions: tuple[str, ...] = REDUCTIONS * 3 + CALLABLES
    sizes: tuple[int, ...] = SIZES
    # At most this many elements before new axes are added.
    elements: int = 600


NUMPY_MENU = Menu()
