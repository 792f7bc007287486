"""Whether a tag can be released: `python scripts/release_ready.py v1.2.3`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def problems(tag: str, root: Path = ROOT) -> list[str]:
    """What is missing; empty if nothing is."""
    source = (root / "src" / "notewell" / "__init__.py").read_text(encoding="utf-8")
    (version,) = re.findall(r'^__version__ = "(.+)"$', source, re.MULTILINE)
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    found = []
    if tag != f"v{version}":
        found.append(f"the tag is {tag}, and the version is {version}")
    if f"\n## {version} - 20" not in changelog:
        found.append(f"CHANGELOG.md has no section `## {version} - DATE`")
    if not (root / "tests" / "released" / f"{version}.tar.gz").is_file():
        found.append(f"tests/released has no {version}.tar.gz: run scripts/released_state.py")
    return found


if __name__ == "__main__":
    if missing := problems(sys.argv[1]):
        raise SystemExit("\n".join(missing))
