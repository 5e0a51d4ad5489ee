"""Prepares the tests of tensorflow and keras: on the CPU, and so that they fill cells of a page."""

import os
import sys
from pathlib import Path

# tensorflow reads them when it is first imported.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

sys.path.insert(0, str(Path(__file__).parents[1] / "matrix"))

from cells import *  # noqa: F403
