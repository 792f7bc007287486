"""A small memory to look at: sixty notes, three conversations, and some text that means harm."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path

FIRST_DAY = date(2026, 8, 20)
DAYS = 40
SUBJECTS = {
    "garden": "The tomato bed needs water at dawn; the compost heap was turned.",
    "router": "The access point drops packets on channel eleven; the guest network is separate.",
    "bread": "The rye loaf wants a longer proof; the oven stone is heated for an hour.",
    "telescope": "The finder scope is aligned; the mount tracks without trailing.",
    "bicycle": "The chain is worn; the rear wheel was trued to half a millimetre.",
    "solar": "The inverter peaks at noon; the battery holds through the night.",
}
SECRET = "sk-proj-" + "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z" * 2
"""What no page may show."""
CANARY = "quicksilver"
"""A word of the hostile note that nothing else has, to find it by."""
HOSTILE_PATH = 'memory/<img src=x onerror="hacked=1">&amp;.md'
HOSTILE = f"""# <img src=x onerror="window.hacked=2"> {CANARY}

<script>window.hacked = 3</script> {CANARY} in a script
<img src="x" onerror="window.hacked = 4"><svg onload="window.hacked = 5"></svg>
<a href="javascript:window.hacked = 6">press here</a>
<iframe srcdoc="<script>top.hacked=7</script>"></iframe>
<style>* {{ display: none !important }}</style>
<form action="/v1/append" method="post"><input autofocus onfocus="window.hacked = 8"></form>
</pre></main></body> {{{{constructor.constructor('window.hacked = 9')()}}}}
\u202eright to left {CANARY}\u202c and \x1b[31mred\x1b[0m and \x1b]0;a title\x07 {CANARY}
👩‍🔬 before {CANARY} after
"""
LEVAIN = """---
title: "Levain, step by step"
tags: [bread, kitchen]
summary: Feed it twice a day.
---
# Another heading

1. Mix **50 g** flour with `50 g` water.
   - warm, not hot
2. Wait until it [doubles](../reference/bread-02.md), see [a page](https://example.com/levain).

| hour | height |
|---|---|
| 0 | 2 cm |
| 6 | 4 cm |

> It smells of apples.

```python
rise = 2 * height  # <b>not bold</b>
```

- [x] fed
- [ ] baked
"""
"""Every kind of Markdown, and front matter."""


FROM_RIGHT_PATH = "memory/reference/arabic.md"
FROM_RIGHT = "# ملاحظة\n\n- الخادم: `backup-01`\n- الحجم: 40 GB\n"


def make_workspace(folder: Path) -> None:
    """`folder/workspace`, `folder/state` with transcripts, and the settings that name both."""
    workspace = folder / "workspace"
    for path, text in _notes().items():
        target = workspace / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    sessions = folder / "state" / "agents" / "main" / "sessions"
    sessions.mkdir(parents=True)
    for name, turns in _conversations().items():
        lines = "".join(f"{json.dumps(one)}\n" for one in turns)
        (sessions / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    search = {"sources": ["memory", "sessions"], "experimental": {"sessionMemory": True}}
    settings = {"agents": {"defaults": {"memorySearch": search}}}
    (folder / "config.json").write_text(json.dumps(settings), encoding="utf-8")


def _notes() -> dict[str, str]:
    notes = {
        "MEMORY.md": "# What lasts\n\n- We store the readings in SQLite.\n- The zebra is Ada's.\n",
        HOSTILE_PATH: HOSTILE,
        "memory/recipes/levain.md": LEVAIN,
        FROM_RIGHT_PATH: FROM_RIGHT,
    }
    names = list(SUBJECTS)
    for number in range(DAYS):
        day = FIRST_DAY + timedelta(number)
        first, second = names[number % 6], names[(number + 1) % 6]
        notes[f"memory/{day}.md"] = (
            f"# {day}\n\n## {first.title()}\n\n- {SUBJECTS[first]} Visit {number}.\n\n"
            f"## {second.title()}\n\n- {SUBJECTS[second]}\n"
        )
    for number in range(18):
        name = names[number % 6]
        notes[f"memory/reference/{name}-{number:02}.md"] = (
            f"# {name.title()}: sheet {number}\n\n{SUBJECTS[name]}\n\n## Why\n\nMeasured twice.\n"
        )
    return notes


def _conversations() -> dict[str, list[dict[str, object]]]:
    return {
        "with-a-key": [
            _turn("user", f"Please keep my key {SECRET} for the solar gateway."),
            _turn("assistant", "I do not keep keys. The gateway reports every minute."),
        ],
        "with-markup": [
            _turn("user", 'What is <b onclick="window.hacked=10">bold</b> \x1b[31m here?'),
            _turn("assistant", "<script>window.hacked = 11</script> stays text."),
        ],
        "about-bread": [
            _turn("user", "Why was the rye loaf dense?"),
            _turn("assistant", "The levain was too young."),
        ],
    }


def _turn(role: str, text: str) -> dict[str, object]:
    message = {"role": role, "content": text}
    return {"type": "message", "timestamp": "2026-09-01T10:00:00Z", "message": message}
