"""Gives the tests of small frameworks one framework after the other."""

import pytest
from small import SIDES, Side


@pytest.fixture(params=SIDES, ids=lambda side: side.name)
def side(request: pytest.FixtureRequest) -> Side:
    chosen: Side = request.param
    chosen.require()
    return chosen
