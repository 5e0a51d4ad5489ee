"""The operations as layers of tf.keras, which is Keras 3 with tensorflow as its backend."""

import tensorflow  # noqa: F401

from .keras import EinMix as EinMix
from .keras import Rearrange as Rearrange
from .keras import Reduce as Reduce
from .keras import Repeat as Repeat
