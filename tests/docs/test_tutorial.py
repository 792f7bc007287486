"""The tutorial runs as it stands: each command, in order, with the output that the page shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
END = "-- end of the output --"
TIMEOUT_S = 300


def session() -> list[tuple[str, str]]:
    """Commands and the output that is shown, of all blocks."""
    page = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```console\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    steps = (step for block in blocks for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:])
    return [(command, shown) for command, _, shown in (step.partition("\n") for step in steps)]


def as_pattern(shown: str) -> str:
    """A line of `…` stands for any lines, a `…` inside a line for any text."""
    lines = (
        r"(?:.*\n)*?" if line == "…" else rf"{re.escape(line).replace('…', '.*')}\n"
        for line in shown.split("\n")[:-1]
    )
    return "".join(lines)


def test_every_command_of_the_tutorial_does_what_the_page_shows(tmp_path: Path) -> None:
    steps = session()
    assert len(steps) > 12
    script = "".join(f"{command}\necho '{END}'\n" for command, _ in steps)
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {"PATH": programs, "HOME": str(tmp_path), "LANG": "C.UTF-8"}
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=TIMEOUT_S,
        check=True,
    )
    outputs = done.stdout.split(f"{END}\n")[:-1]
    assert len(outputs) == len(steps)
    for (command, shown), output in zip(steps, outputs, strict=True):
        printed = "".join(f"{line.rstrip()}\n" for line in output.splitlines())
        assert re.fullmatch(as_pattern(shown), printed), f"$ {command}\n{output}\nshown:\n{shown}"
