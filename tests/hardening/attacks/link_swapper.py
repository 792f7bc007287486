"""Another process swaps a file or a folder for a link to a stranger's, as fast as it can.

with LinkSwapper("folder", workspace / "memory", outside) as swapper:
    ...                     # whatever is done here must neither see nor touch `outside`
swapper.swaps              # how often it was swapped meanwhile
"""

from __future__ import annotations

import select
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["leaf", "folder"]

_SWAPPER = """
import os, sys, threading
kind, target, outside = sys.argv[1:]
spare, aside = target + ".spare", target + ".aside"
stop = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()
plain = open(target, "rb").read() if kind == "leaf" else b""
print("started", flush=True)
swaps = made = 0
while not stop.is_set():
    if kind == "leaf":
        os.symlink(outside, spare)
        os.replace(spare, target)
        with open(spare, "wb") as file:
            file.write(plain)
        os.replace(spare, target)
    else:
        try:
            os.rename(target, aside)
            os.symlink(outside, target)
            os.unlink(target)
        except OSError:
            pass  # Who is attacked has made a folder of that name meanwhile.
        while os.path.lexists(aside):  # It may be made anew as often as we put it away.
            made += 1
            try:
                os.rename(aside, target)
            except OSError:
                try:
                    os.rename(target, target + f".made-{made}")
                except OSError:
                    pass
    swaps += 1
    if swaps == 25:
        print("enough", flush=True)
print(swaps, flush=True)
"""


class LinkSwapper:
    def __init__(self, kind: Kind, target: Path, outside: Path) -> None:
        self._words = (kind, str(target), str(outside))
        self.swaps = 0

    def __enter__(self) -> LinkSwapper:
        self._child = subprocess.Popen(
            [sys.executable, "-S", "-c", _SWAPPER, *self._words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,  # `has_swapped_enough` asks the pipe, so nothing may wait in a buffer.
        )
        assert self._child.stdout is not None
        assert self._child.stdout.readline() == b"started\n"
        return self

    def has_swapped_enough(self) -> bool:
        """Whether there were so many swaps that a race means something."""
        assert self._child.stdout is not None
        return bool(select.select([self._child.stdout], [], [], 0)[0])

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        output, _ = self._child.communicate(timeout=60)
        self.swaps = int(output.split()[-1])
        assert self._child.returncode == 0
