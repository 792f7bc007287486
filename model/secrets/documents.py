"""Source archives of other projects, whose texts hold no secrets but those of examples.

`archives.txt` names those that the shipped weights were learned from, by their files on the Python
package index and the npm registry.
"""

from __future__ import annotations

import tarfile
from hashlib import sha256
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from model.secrets.marks import Text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PAGES = frozenset({".md", ".mdx", ".rst", ".txt", ".adoc"})
PROGRAMS = frozenset(
    f".{ending}"
    for ending in (
        *("py", "js", "ts", "go", "rb", "sh", "sql", "html", "po"),
        *("yml", "yaml", "toml", "ini", "cfg", "conf", "json", "env", "xml", "properties"),
    )
)
MAX_BYTES = 300_000
PROGRAMS_BYTES = 300_000
"""Of each archive: pages are nearer to notes."""
CHECKED = 4
"""One archive of so many is not learned from: it shows how often the result is wrong."""


def documents(folder: Path) -> Iterator[tuple[Text, bool]]:
    """Each text once, and whether it is learned from."""
    seen: set[bytes] = set()
    for archive in sorted(folder.rglob("*gz")):
        is_learned = sha256(archive.name.encode()).digest()[0] % CHECKED != 0
        for text in _texts_in(archive):
            digest = sha256(text.encode()).digest()
            if digest not in seen:
                seen.add(digest)
                yield Text(text, (), ""), is_learned


def _texts_in(archive: Path) -> Iterator[str]:
    programs = 0
    with tarfile.open(archive) as members:
        for member in members:
            kind = PurePosixPath(member.name.lower()).suffix
            if not member.isfile() or member.size > MAX_BYTES or kind not in PAGES | PROGRAMS:
                continue
            if kind in PROGRAMS:
                if programs + member.size > PROGRAMS_BYTES:
                    continue
                programs += member.size
            file = members.extractfile(member)
            if file is not None:
                yield file.read().decode("utf-8", "replace")
