"""Write the state of this version for the tests of later ones: `python scripts/released_state.py`.

It makes a workspace, uses the commands that keep something, and packs notes and state into
`tests/released/<version>.tar.gz`. Run it once for each release, and commit the file: it is never
written again. `tests/surfaces/test_released_state.py` opens all of them.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from notewell import __version__

RELEASED = Path(__file__).parents[1] / "tests" / "released"
PLACE = "PLACE"
"""In the names of folders, for the digest of the workspace's path, which is another one later."""
NOT_STATE = (".lock", "-shm")
"""What a process leaves for other processes of the same machine."""
NOTES = {
    "MEMORY.md": "# Garden\n\nThe frost alarm rings at 2 degrees.\n",
    "memory/topics/bees.md": "# Bees\n\nThe hive stands behind the orchard.\n",
    "memory/2026-10-02.md": "# 2026-10-02\n\nWe chose SQLite for the readings.\n",
}
SAID = {
    "type": "user",
    "uuid": "u1",
    "sessionId": "s1",
    "timestamp": "2026-11-01T10:00:00Z",
    "message": {"role": "user", "content": "The greenhouse key hangs behind the door."},
}


def notewell(folder: Path, *words: str, data: str = "", place: bool = True) -> None:
    where = ["-w", str(folder / "workspace")] if place else []
    command = [sys.executable, "-m", "notewell", *words, *where]
    command += ["--state-dir", str(folder / "state")]
    subprocess.run(  # noqa: S603 - our own command
        command, input=data, encoding="utf-8", check=True, stdout=subprocess.DEVNULL
    )


def make(folder: Path) -> None:
    for name, text in NOTES.items():
        file = folder / "workspace" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    transcript = folder / "s1.jsonl"
    transcript.write_text(json.dumps(SAID) + "\n", encoding="utf-8")
    call = json.dumps({"session_id": "s1", "transcript_path": str(transcript)})
    notewell(folder, "index")
    notewell(folder, "append", "--section", "Tools", "The hedge shears are in the shed.")
    notewell(folder, "hook", "stop", "--host", "claude", "--keep", data=call)
    notewell(folder, "token", "create", "laptop", place=False)
    notewell(folder, "index")


def packed(folder: Path) -> bytes:
    digest = hashlib.sha256(str((folder / "workspace").resolve()).encode()).hexdigest()[:12]
    buffer = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w") as archive,
    ):
        for part in ("workspace", "state"):
            for file in sorted((folder / part).rglob("*")):
                if file.is_file() and not file.name.endswith(NOT_STATE):
                    name = file.relative_to(folder).as_posix().replace(digest, PLACE)
                    entry = tarfile.TarInfo(name)
                    entry.size, entry.mode = file.stat().st_size, 0o600
                    with file.open("rb") as opened:
                        archive.addfile(entry, opened)
    return buffer.getvalue()


def main() -> None:
    target = RELEASED / f"{__version__}.tar.gz"
    if target.exists():
        raise SystemExit(
            f"{target.name} is there already: a released state is never written again"
        )
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder))
        data = packed(Path(folder))
    RELEASED.mkdir(exist_ok=True)
    target.write_bytes(data)
    sys.stdout.write(f"{target}: {len(data)} bytes\n")


if __name__ == "__main__":
    main()
