"""The project had another name before its first release. Nothing of it is left."""

import os
from pathlib import Path

ROOT = Path(__file__).parents[2]
OLD = b"recol" + b"lect"
NOT_OURS = {".git", ".cache", ".venv", "build", "dist", "_weights", "bundled", "node_modules"}


def test_the_old_name_stands_nowhere() -> None:
    found = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [
            one for one in folders if one not in NOT_OURS and not one.endswith(("_cache", "__"))
        ]
        for name in names:
            path = Path(folder, name)
            if OLD in name.lower().encode() or OLD in path.read_bytes().lower():
                found.append(path.relative_to(ROOT).as_posix())
    assert not found
