"""Makes docs/pictures/terminal.svg: a terminal session that types itself, from a real run.

python -m scripts.docs.terminal        (a few seconds; needs no other program)

Each command of COMMANDS runs in a copy of examples/workspace; what it prints is what the picture
shows. For a reader who wants no motion (`prefers-reduced-motion`), all of it is there at once.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "pictures" / "terminal.svg"
WORKSPACE = ROOT / "examples" / "workspace"
COMMANDS = (
    "notewell index",
    "notewell search 'Which database did we choose, and why?' | head -7",
    "notewell search '如何恢复备份？' | head -5",
    "notewell append --section Backups 'The nightly backup moved to 3 am.'",
    "notewell get 'MEMORY.md#L22-L24'",
)
COLUMNS = 92
CHAR_PX, LINE_PX, EDGE_PX, BAR_PX = 8.43, 20, 22, 18
FONT_PX = 14
KEY_S, PAUSE_S, READ_S, HOLD_S = 0.035, 0.5, 1.6, 5.0
"""For one key, before the answer, to read it, and the whole session before it begins again."""


TIME = re.compile(r" \(\d+\.\d s\)$")
"""How long it took says more about the machine than about the command, and is never the same."""


class Line(NamedTuple):
    text: str
    at_s: float
    keys: int
    """How many are typed one by one; 0: the line appears at once."""


def run_session() -> list[tuple[str, list[str]]]:
    """Each command, and the lines that it printed."""
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder, "notes")
        shutil.copytree(WORKSPACE, notes)
        programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = {"PATH": programs, "HOME": folder, "LANG": "C.UTF-8"}
        return [(command, _output(command, notes, environment)) for command in COMMANDS]


def _output(command: str, folder: Path, environment: dict[str, str]) -> list[str]:
    done = subprocess.run(  # noqa: S603 - our own commands, above
        ["/bin/sh", "-c", command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=True,
    )
    lines = [TIME.sub("", line).rstrip() for line in done.stdout.rstrip("\n").split("\n")]
    return [line if len(line) <= COLUMNS else f"{line[: COLUMNS - 1]}…" for line in lines]


def timed(session: list[tuple[str, list[str]]]) -> tuple[list[Line], float]:
    """When each line appears, and how long the session takes."""
    lines: list[Line] = []
    now = HOLD_S + PAUSE_S
    for command, output in session:
        # What `head` cuts off is not typed: the picture is short, the command is not about that.
        typed = f"$ {command.partition(' | ')[0]}"
        lines.append(Line(typed, now, len(typed)))
        now += len(typed) * KEY_S + PAUSE_S
        lines += [Line(text, now, 0) for text in (*output, "")]
        now += READ_S
    return lines[:-1], now


def picture(session: list[tuple[str, list[str]]]) -> str:
    lines, length_s = timed(session)
    drawn = [(f"l{number}", number, line) for number, line in enumerate(lines) if line.text]
    said = escape("; ".join(shlex.split(command)[1] for command, _ in session))
    return _FRAME.format(
        width=round(COLUMNS * CHAR_PX + 2 * EDGE_PX),
        height=len(lines) * LINE_PX + 2 * EDGE_PX + BAR_PX,
        font=FONT_PX,
        rules="\n".join(_rule(name, line, length_s) for name, _, line in drawn),
        rows="\n".join(_row(name, number, line) for name, number, line in drawn),
        said=f"A terminal session: notewell {said}",
    )


def _rule(name: str, line: Line, length_s: float) -> str:
    """A line that is typed is uncovered from the left in as many steps as it has keys."""
    start = 100 * line.at_s / length_s
    if line.keys:
        end = start + 100 * line.keys * KEY_S / length_s
        hidden, visible = "clip-path:inset(0 100% 0 0)", "clip-path:inset(0 0 0 0)"
        steps = f"steps({line.keys})"
    else:
        end = start + 0.01
        hidden, visible, steps = "opacity:0", "opacity:1", "linear"
    # The whole session first: a reader who does not wait, or a viewer without motion, sees it.
    held = 100 * HOLD_S / length_s
    before = f"0%,{held:.2f}%{{{visible}}}{held + 0.01:.2f}%,{start:.2f}%{{{hidden}}}"
    frames = f"{before}{end:.2f}%,100%{{{visible}}}"
    motion = f"{name} {length_s:.1f}s {steps} infinite"
    return f"@keyframes {name}{{{frames}}}#{name}{{animation:{motion}}}"


def _row(name: str, number: int, line: Line) -> str:
    y = EDGE_PX + BAR_PX + number * LINE_PX + FONT_PX
    text = escape(line.text)
    return f'<text id="{name}" class="{_kind(line)}" x="{EDGE_PX}" y="{y}">{text}</text>'


def _kind(line: Line) -> str:
    if line.keys:
        return "typed"
    return "more" if line.text.startswith(" ") else "hit"


_FRAME = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"
 role="img" aria-label="{said}">
<style>
text{{
font:{font}px ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;
white-space:pre
}}
.typed{{fill:#7cc3de}}
.hit{{fill:#e9e6e0}}
.more{{fill:#a9a59c}}
@media (prefers-reduced-motion: no-preference){{
{rules}
}}
</style>
<rect width="{width}" height="{height}" rx="10" fill="#15171a"/>
<circle cx="22" cy="18" r="5" fill="#3a4047"/>
<circle cx="40" cy="18" r="5" fill="#3a4047"/>
<circle cx="58" cy="18" r="5" fill="#3a4047"/>
{rows}
</svg>
"""


if __name__ == "__main__":
    PICTURE.write_text(picture(run_session()), encoding="utf-8")
