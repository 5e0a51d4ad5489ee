"""The table of compiled calls to its counters, and to nothing."""

from __future__ import annotations

from typing import NamedTuple

from . import _einrs


class CacheInfo(NamedTuple):
    """Counters of the table of compiled calls, since the start or the last clearing."""

    hits: int
    misses: int
    size: int
    limit: int


def cache_info() -> CacheInfo:
    """How often a call was found compiled, and how many compiled calls are kept.

    Returns:
        Hits and misses as numbers of calls; size and limit as numbers of entries.

    Examples:
        >>> import einrs
        >>> einrs.cache_clear()
        >>> einrs.cache_info()
        CacheInfo(hits=0, misses=0, size=0, limit=4096)

    """
    return CacheInfo(*_einrs.cache_info())


def cache_clear() -> None:
    """Forget all compiled calls, and with them the functions that jax compiled for them.

    Examples:
        >>> import einrs
        >>> einrs.cache_clear()
        >>> einrs.cache_info().size
        0

    """
    _einrs.cache_clear()
