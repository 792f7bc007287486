"""How much disk an installation takes, by package: `python scripts/install_size.py ENVIRONMENT`.

Counted as `du` counts, in MiB, without pip itself and without bytecode: uv and pipx write none,
pip does unless it gets --no-compile, and Python adds that of the modules that are used.
"""

from __future__ import annotations

import sys
from pathlib import Path

LIMIT_MIB = 190
SHOWN = 12
NOT_OURS = ("pip", "setuptools", "pkg_resources", "_distutils_hack")
"""What `python -m venv` puts into an environment."""
MIB = 1 << 20


def sizes(packages: Path) -> dict[str, int]:
    """Bytes on disk by the folder or file in site-packages; `numpy.libs` belongs to numpy."""
    found: dict[str, int] = {}
    for file in packages.rglob("*"):
        name = file.relative_to(packages).parts[0].split(".")[0].split("-")[0]
        if file.is_file() and file.suffix != ".pyc" and name not in NOT_OURS:
            found[name] = found.get(name, 0) + file.stat().st_blocks * 512
    return found


def main(environment: str) -> None:
    (packages,) = Path(environment).glob("lib/python3*/site-packages")
    found = sizes(packages)
    total = sum(found.values())
    largest = sorted(found.items(), key=lambda one: -one[1])[:SHOWN]
    for name, size in largest:
        sys.stdout.write(f"{size / MIB:7.1f}  {name}\n")
    rest = total - sum(size for _, size in largest)
    sys.stdout.write(f"{rest / MIB:7.1f}  the others\n{total / MIB:7.1f}  MiB in all\n")
    if total > LIMIT_MIB * MIB:
        raise SystemExit(f"an installation may take {LIMIT_MIB} MiB")


if __name__ == "__main__":
    main(sys.argv[1])
