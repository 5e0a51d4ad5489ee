"""Makes einrs answer to the name einops in every process that einops' tests start with `python`.

Python imports this by its name at start-up where the folder is on PYTHONPATH, and goes on after an
error here; the test process itself therefore asks for the swap once more, as a pytest plugin.
"""

import swap as swap
