"""The operations as layers, `einrs.layers.torch.Rearrange` and the like; here what they share.

Each framework has a module of its own, which imports that framework.
"""

from ._base import RearrangeMixin as RearrangeMixin
from ._base import ReduceMixin as ReduceMixin
from ._base import RepeatMixin as RepeatMixin
