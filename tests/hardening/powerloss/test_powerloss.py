"""Whatever a power cut leaves: the old state or the new one, and all that was told to be done."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.hardening.powerloss.all_stories import STORIES, tell

IMAGES = 250
SEED = 2026


@pytest.mark.parametrize("name", STORIES)
def test_every_image_is_old_or_new_and_nothing_that_was_told_is_lost(
    name: str, shim: Path, place: Path
) -> None:
    outcome = tell(name, shim, place / "story", count=IMAGES, seed=SEED)

    assert not outcome.bad, f"{outcome.bad} ({outcome.example})"
    assert outcome.images == IMAGES


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("cache write", "unsynced"),
        ("forced rebuild", "unsynced"),
        ("forced rebuild", "folder"),
        # `ws` is the parent of the new folder `memory`, which is the parent of the new note.
        ("append", "names in memory"),
        ("append", "names in ws"),
        ("flush", "names in memory"),
        ("flush", "names in ws"),
        ("session note", "names in memory"),
        ("session note", "names in ws"),
        ("undo", "names in memory"),
        ("agent note", "names in plans"),
        ("agent note", "names in claude"),
        ("agent note", "names in memory"),
        ("agent note", "names in ws"),
    ],
)
def test_a_sync_that_is_left_out_shows_in_the_images(
    name: str, fault: str, shim: Path, place: Path
) -> None:
    outcome = tell(
        name, shim, place / "story", count=IMAGES, seed=SEED, fault=fault, until_bad=True
    )

    assert outcome.bad
