"""One campaign for all fault tests: building the library and warming up takes seconds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.hardening.faults.campaign import Campaign, campaign


@pytest.fixture(scope="session")
def faults() -> Iterator[Campaign]:
    with campaign() as running:
        yield running
