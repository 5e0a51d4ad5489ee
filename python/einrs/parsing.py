"""The names of einops' module `einops.parsing`."""

from . import EinopsError as EinopsError
from .compat.expressions import AnonymousAxis as AnonymousAxis
from .compat.expressions import ParsedExpression as ParsedExpression
from .compat.expressions import _ellipsis as _ellipsis
