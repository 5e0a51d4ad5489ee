"""Lets the tests of this folder fill the cells of the page "Where it works"."""

from cells import *  # noqa: F403
