"""The real model, for the tests that ask it something."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from notewell.embedders import weights
from notewell.embedders.embedded import EmbeddedEmbedder

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def weights_folder() -> Path:
    """Fails rather than skips: an untested model must not look like a tested one."""
    if found := weights.problem(weights.IN_PACKAGE, weights.NOTEWELL_EMBED):
        pytest.fail(f"the package under test carries no sound weights: {found}")
    return weights.IN_PACKAGE


@pytest.fixture(scope="session")
def embedder(weights_folder: Path) -> EmbeddedEmbedder:
    return EmbeddedEmbedder(weights_folder)
