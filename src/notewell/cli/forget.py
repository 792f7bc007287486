"""`notewell forget`: show what was said and will go, ask, then remove it from every file of ours.

Notes are not edited: the command names the lines that their owner has to edit.
"""

from __future__ import annotations

import sys
from datetime import date, datetime, time, timedelta, tzinfo
from typing import TYPE_CHECKING

from notewell.cli.output import flush, print_json, say, tell
from notewell.cli.place import add_place, memory_of
from notewell.errors import BadRequest
from notewell.types import counted

if TYPE_CHECKING:
    import argparse

    from notewell.capture import ForgetRequest
    from notewell.memory import Memory
    from notewell.tools import Findings

NOTHING_FOUND = 3
NOT_CONFIRMED = 4
LEFT_ELSEWHERE = 5
SHOWN = 20
LINE_CHARS = 160


def add_options(parser: argparse.ArgumentParser) -> None:
    add_place(parser)
    parser.add_argument(
        "phrase", nargs="*", help="forget every message that has these words, in this order"
    )
    parser.add_argument(
        "--session", metavar="ID", help="of this conversation: its id, or its path in a search"
    )
    parser.add_argument(
        "--before", metavar="DATE", help="said before this day or time (2026-11-01, …T14:00)"
    )
    parser.add_argument("--after", metavar="DATE", help="said after this day or time")
    parser.add_argument("--on", metavar="DATE", help="said on this day")
    parser.add_argument(
        "--yes", action="store_true", help="ask nothing; without a terminal, nothing goes unasked"
    )


def run(arguments: argparse.Namespace) -> int:
    from notewell.tools import find_forgettable, finish_forgetting

    with memory_of(arguments) as memory:
        request = _request(arguments, memory)
        finished = finish_forgetting(memory)
        if finished:
            tell("completed a `notewell forget` that was interrupted")
        if request is None:
            return 0
        findings = find_forgettable(memory, request)
        code, is_forgotten = _decided(arguments, memory, findings)
    if arguments.json:
        print_json(_as_json(findings, is_forgotten=is_forgotten))
    else:
        _tell_left(findings)
    return 0 if finished and code == NOTHING_FOUND else code


def _decided(
    arguments: argparse.Namespace, memory: Memory, findings: Findings
) -> tuple[int, bool]:
    """The exit code, and whether something was removed."""
    from notewell.tools import forget_found

    left = LEFT_ELSEWHERE if findings.notes or findings.host_files else 0
    if findings.is_empty and not findings.is_repeated:
        tell("nothing that was said matches")
        return left or NOTHING_FOUND, False
    if not arguments.json:
        _show(findings)
    # What was forgotten before needs no second consent: only copies of it are removed.
    if not findings.is_empty and not arguments.yes and not _is_confirmed(arguments, findings):
        return NOT_CONFIRMED, False
    trouble = forget_found(memory, findings)
    if not arguments.json:
        say(f"forgot {_summary(findings)}" if not findings.is_empty else "forgotten already")
    if trouble:
        tell(f"QMD has no index now, `notewell index` makes one: {trouble}")
        left = LEFT_ELSEWHERE
    return left, True


def _is_confirmed(arguments: argparse.Namespace, findings: Findings) -> bool:
    # A question needs a user who can answer it.
    if arguments.json or not sys.stdin.isatty():
        tell("nothing was removed; `--yes` removes it without a question")
        return False
    everything = len(findings.messages) == findings.of > 1
    which = f"that is all {findings.of} messages; type {findings.of} to forget them: "
    sys.stdout.write(which if everything else f"forget {_summary(findings)}? [y]es, [n]o: ")
    flush()
    answer = sys.stdin.readline().strip().lower()
    is_confirmed = answer == str(findings.of) if everything else answer in ("y", "yes")
    if not is_confirmed:
        tell("nothing was removed")
    return is_confirmed


# -- what to forget ------------------------------------------------------------------------------


def _request(arguments: argparse.Namespace, memory: Memory) -> ForgetRequest | None:
    """None: only what was interrupted is to be completed."""
    from notewell.tools import has_unfinished, request_of

    names = ("session", "before", "after", "on")
    is_named = arguments.phrase or any(getattr(arguments, name) is not None for name in names)
    if not is_named and has_unfinished(memory):
        return None
    if arguments.on is not None and (arguments.before or arguments.after):
        raise BadRequest("--on names a day; leave out --before and --after")
    before = _moment(arguments.before, memory.zone, is_end=False)
    after = _moment(arguments.after, memory.zone, is_end=True)
    if arguments.on is not None:
        after = _moment(arguments.on, memory.zone, is_end=False)
        before = _moment(arguments.on, memory.zone, is_end=True)
    return request_of(
        memory,
        phrase=" ".join(arguments.phrase) if arguments.phrase else None,
        session=arguments.session,
        after=after,
        before=before,
    )


def _moment(text: str | None, zone: tzinfo | None, *, is_end: bool) -> datetime | None:
    """A time in the user's zone; of a day its begin, or its end."""
    if text is None:
        return None
    try:
        if len(text) == len("2026-11-01"):
            day = date.fromisoformat(text) + timedelta(days=is_end)
            at = datetime.combine(day, time.min)
        else:
            at = datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        raise BadRequest(f"{text!r} is no date: write 2026-11-01 or 2026-11-01T14:00") from None
    if at.tzinfo is not None:
        return at
    return at.replace(tzinfo=zone) if zone else at.astimezone()


# -- what is shown -------------------------------------------------------------------------------


def _show(findings: Findings) -> None:
    by_path: dict[str, int] = {}
    for message in findings.messages:
        by_path[message.path] = by_path.get(message.path, 0) + 1
    for path, count in by_path.items():
        say(f"{path}  {counted(count, 'message')}")
    for message in findings.messages[:SHOWN]:
        at = f"{message.at.astimezone():%Y-%m-%d %H:%M}" if message.at else "no time"
        text = " ".join(message.text.split())
        cut = text if len(text) <= LINE_CHARS else f"{text[:LINE_CHARS]} …"
        say(f"    {message.path}#L{message.line}  {at}  {message.speaker}: {cut}")
    if len(findings.messages) > SHOWN:
        say(f"    … and {len(findings.messages) - SHOWN} more")
    if findings.searches:
        say(f"{counted(findings.searches, 'recorded question')}")
    for entry in findings.entries:
        say(f"entry {entry.id}: {entry.text[:LINE_CHARS]}")


def _tell_left(findings: Findings) -> None:
    """What is not ours to edit."""
    for place in findings.notes:
        tell(f"still in a note, which you edit: {place.path}#L{place.line}")
    for path in findings.host_files:
        tell(f"still in the host's own file, no longer searched there: {path}")


def _summary(findings: Findings) -> str:
    counts = findings.counts
    parts = [f"{counted(counts['messages'], 'message')} of {findings.of}"]
    parts.append(f"in {counted(counts['conversations'], 'conversation')}")
    more = [("questions", "recorded question"), ("entries", "stored entry")]
    extra = [_plural(counts[name], noun) for name, noun in more if counts[name]]
    return ", ".join([" ".join(parts), *extra])


def _plural(count: int, noun: str) -> str:
    return f"{count} stored entries" if noun.endswith("y") and count != 1 else counted(count, noun)


def _as_json(findings: Findings, *, is_forgotten: bool) -> dict[str, object]:
    return {
        "forgotten": is_forgotten,
        "counts": findings.counts,
        "of": findings.of,
        "messages": [
            {
                "path": message.path,
                "line": message.line,
                "speaker": message.speaker,
                "at": message.at.isoformat() if message.at else None,
                "text": message.text,
            }
            for message in findings.messages
        ],
        "entries": [{"id": entry.id, "text": entry.text} for entry in findings.entries],
        "notes": [{"path": place.path, "line": place.line} for place in findings.notes],
        "hostFiles": list(findings.host_files),
    }
