"""Prepares every Python test run: the frameworks it needs, jax on the CPU, how hypothesis draws.

A test marked `needs_torch` or `needs_jax` is skipped where that framework is not installed, and
the report says so. EINRS_REQUIRE="numpy torch jax" names those whose absence stops the run instead.
"""

import os
from importlib.util import find_spec

import pytest
from hypothesis import settings

MARKED = ("torch", "jax")

# jax reads it when it is first imported; whoever wants another platform says so before.
os.environ.setdefault("JAX_PLATFORMS", "cpu")

# Without a deadline, for the first call of a framework takes seconds; in CI always the same cases.
settings.register_profile("einrs", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("einrs")


def _missing(names: list[str] | tuple[str, ...]) -> list[str]:
    return [name for name in names if find_spec(name) is None]


def pytest_configure() -> None:
    missing = _missing(os.environ.get("EINRS_REQUIRE", "").split())
    if missing:
        raise pytest.UsageError(f"EINRS_REQUIRE asks for {', '.join(missing)}: not installed here")


def pytest_report_header() -> list[str]:
    return [f"{name} is not installed: tests that need it are skipped" for name in _missing(MARKED)]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for name in _missing(MARKED):
        skip = pytest.mark.skip(reason=f"{name} is not installed")
        for item in items:
            if item.get_closest_marker(f"needs_{name}"):
                item.add_marker(skip)
