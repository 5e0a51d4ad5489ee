"""The names of einops' module `einops.array_api`: operations for arrays of that standard."""

from . import EinopsError as EinopsError
from .compat.patterns import analyze_pattern as analyze_pattern
from .compat.patterns import prod as prod
from .compat.recipes import Reduction as Reduction
from .compat.recipes import Tensor as Tensor
from .compat.recipes import _apply_recipe_array_api as _apply_recipe_array_api
from .compat.recipes import _prepare_transformation_recipe as _prepare_transformation_recipe
from .compat.standard import Shape as Shape
from .compat.standard import asnumpy as asnumpy
from .compat.standard import pack as pack
from .compat.standard import rearrange as rearrange
from .compat.standard import reduce as reduce
from .compat.standard import repeat as repeat
from .compat.standard import unpack as unpack
