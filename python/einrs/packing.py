"""The names of einops' module `einops.packing`."""

from . import EinopsError as EinopsError
from . import pack as pack
from . import unpack as unpack
from .compat.adapter import get_backend as get_backend
from .compat.expressions import ParsedExpression as ParsedExpression
from .compat.patterns import Shape as Shape
from .compat.patterns import analyze_pattern as analyze_pattern
from .compat.patterns import prod as prod
from .compat.recipes import Tensor as Tensor
