"""The shim, built once, and a folder on a disk whose syncs cost nothing."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.hardening.powerloss.record import build_shim, can_build_shim


@pytest.fixture(scope="session")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not can_build_shim():
        pytest.skip("needs Linux and gcc")
    return build_shim(tmp_path_factory.mktemp("shim"))


@pytest.fixture
def place() -> Iterator[Path]:
    """In memory where there is such a place: the images are the disk here, not the machine's."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder).resolve()
