"""`pytest -p einrs.pytest_swap` to a test run in which the name einops means einrs.

The swap is there before any conftest is imported, and ends with the run.
"""

from __future__ import annotations

from . import __version__, _swap

_ours = False


def pytest_addoption() -> None:
    """Installs the swap: of all hooks this one is called first."""
    global _ours
    _ours = _ours or not _swap.is_installed()
    _swap.install()


def pytest_unconfigure() -> None:
    """Takes back a swap that was not there before."""
    global _ours
    if _ours:
        _swap.uninstall()
    _ours = False


def pytest_report_header() -> str:
    """Says in the report's head who answers to the name einops."""
    return f"einops: einrs {__version__}"
