"""Lets the name einops mean einrs in every process that einops' tests start with `python`.

Python imports this by its name at start-up where the folder is on PYTHONPATH.
"""

import einrs._swap

einrs._swap.install()
