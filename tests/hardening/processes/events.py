"""What happened, told by every process into one file, each line in one write.

Times are of the monotonic clock, which is the same for all processes of a machine.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

Event = dict[str, Any]


class Events:
    """A line is appended before and after whatever can be killed in between."""

    def __init__(self, root: Path) -> None:
        self.path = root / "events.jsonl"

    def tell(self, what: str, **facts: object) -> None:
        line = json.dumps({"what": what, "pid": os.getpid(), **facts}) + "\n"
        fd = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(fd, line.encode())
        finally:
            os.close(fd)

    def read(self, what: str) -> list[Event]:
        if not self.path.exists():
            return []
        lines = self.path.read_text(encoding="utf-8").splitlines()
        events: list[Event] = [json.loads(line) for line in lines if line.endswith("}")]
        return [one for one in events if one["what"] == what]


def now() -> float:
    return time.monotonic()
