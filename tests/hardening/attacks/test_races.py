"""Whatever is swapped for a link, and whatever we are doing then, a stranger's files stay his.

Reading through `Workspace` (leaf and parent), a scan of a swapped parent and `memory_get` are
raced in tests/notes/test_races.py and tests/surfaces/test_tools_hostile.py, an append in
tests/notes/test_append_races.py; these are the other ways in.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.hardening.attacks.attacked_memory import ATTACKS, Attack, attacked_memory

RACE_S = 0.5


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_nothing_outside_is_seen_or_written(tmp_path: Path, attack: Attack) -> None:
    with attacked_memory(tmp_path.resolve()) as attacked:
        tally = attack.run(attacked, RACE_S)
    assert tally.leaks == []
    assert tally.written_outside == []
    assert tally.swaps > 20  # else nobody tried to trick us
    assert tally.tries > 2
