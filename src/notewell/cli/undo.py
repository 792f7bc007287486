"""`notewell undo`: take back one write of ours, byte for byte, if it is still as we wrote it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from notewell.cli.history import notes_of
from notewell.cli.output import print_json, say
from notewell.cli.place import add_place

if TYPE_CHECKING:
    import argparse


def add_options(parser: argparse.ArgumentParser) -> None:
    add_place(parser)
    parser.add_argument("id", help="as `notewell history` shows it; its beginning is enough")


def run(arguments: argparse.Namespace) -> int:
    from notewell.capture import undo_write

    notes, folder = notes_of(arguments)
    done = undo_write(notes, folder, arguments.id, now=datetime.now(UTC))
    size = done.write.end_byte - done.write.start_byte
    if arguments.json:
        print_json({"undone": done.id, "path": done.write.path, "bytes": size})
    else:
        say(f"took {size} bytes out of {done.write.path}")
    return 0
