"""The costs of Notewell as ratios, each beside its limit: `python -m bench [NAME …]`.

Each name is a module of this folder with `rows()`. It runs in a process of its own, so that none
inherits what another one has loaded. Exits with 1 if a limit is missed. All of it takes nine
minutes on two busy cores, most of them to write notes and to index them.
"""

from __future__ import annotations

import importlib
import subprocess
import sys

MODULES = ("start", "looks", "hot", "service")


def main() -> int:
    if sys.argv[1:2] == ["--rows"]:
        rows = importlib.import_module(f"bench.{sys.argv[2]}").rows()
        for row in rows:
            print(row, flush=True)
        return 0 if all(row.is_kept for row in rows) else 1
    names = sys.argv[1:] or MODULES
    codes = [
        subprocess.run([sys.executable, "-m", "bench", "--rows", name], check=False).returncode
        for name in names
    ]
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
