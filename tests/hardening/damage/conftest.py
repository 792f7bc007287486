"""A place that is quick: hundreds of indexes are built here, and every one of them is fsynced."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")  # A file system in memory, where syncing takes no time.


@pytest.fixture(scope="module")
def quick_path() -> Iterator[Path]:
    parent = MEMORY if os.access(MEMORY, os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="notewell-", dir=parent)).resolve()
    yield folder
    shutil.rmtree(folder)
