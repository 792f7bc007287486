"""Hooks keep conversations whole, if the settings or the entry of the hook say so.

    prompt, stop, pre-compact, session-end    this conversation
    session-start                             earlier ones that were not kept to their end

A host may be killed at any time. So the start of a session leaves the path of its transcript in
the list of pending sessions, and a later start keeps what is left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from notewell.errors import NoteUnreadable, NotewellError
from notewell.records import replace

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from pathlib import Path

    from notewell.capture import SessionEnd
    from notewell.cli.hook_setup import Hook
    from notewell.config import Settings

OVER_S = 86_400
"""A session whose transcript was not written for a day is over; it is no longer waited for."""


class KeptNow(NamedTuple):
    """What a hook has kept."""

    messages: int = 0
    is_complete: bool = True
    """False: there is more, or it failed, and a later hook should try again."""
    trouble: str | None = None


class KeptEarlier(NamedTuple):
    messages: int = 0
    waiting: tuple[SessionEnd, ...] = ()
    """Sessions that a later start must look at again."""
    trouble: str | None = None


def add_notes_only(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--notes-only",
        action="store_true",
        help="do not keep whole conversations; the last messages still become a note",
    )


def keeps_conversations(arguments: argparse.Namespace, settings: Settings) -> bool:
    """Whether conversations are kept whole: the settings decide, else the entry of the hook."""
    if settings.off_because:
        return False
    keep = settings.capture.keep
    return bool(getattr(arguments, "keep", False)) if keep.enabled is None else keep.enabled


def keep_now(hook: Hook) -> KeptNow:
    """Keep what was said in this conversation since the last hook."""
    if not hook.keeps or not hook.call.transcript:
        return KeptNow()
    return _kept(hook, hook.ended())


def keep_earlier(hook: Hook, waiting: Sequence[SessionEnd]) -> KeptEarlier:
    """Keep the ends of earlier conversations, then remove what is too old."""
    if not hook.keeps:
        return KeptEarlier()
    messages = 0
    troubles: list[str | None] = []
    left: list[SessionEnd] = []
    for ended in waiting:
        done = _kept(hook, ended) if hook.left_s else KeptNow(is_complete=False)
        messages += done.messages
        troubles.append(done.trouble)
        if not done.is_complete or not _is_over(hook, ended.transcript):
            left.append(replace(ended, has_note=False))
    troubles.append(_drop_expired(hook))
    return KeptEarlier(messages, tuple(left), next(filter(None, troubles), None))


def remember_start(hook: Hook) -> None:
    """This conversation begins; its host may be killed before it reports anything else."""
    if hook.keeps and hook.call.transcript:
        from notewell.capture import remember_pending

        remember_pending(hook.folder, replace(hook.ended(), has_note=False))


def _kept(hook: Hook, ended: SessionEnd) -> KeptNow:
    from notewell.capture import keep_messages

    settings = hook.settings.capture.keep
    try:
        kept = keep_messages(hook.kept, ended, hook.redact, settings=settings, now=hook.now)
    except NoteUnreadable as error:
        # Not there yet, or not any more; or the host writes a format that we do not know.
        if error.__cause__ is None or isinstance(error.__cause__, FileNotFoundError):
            return KeptNow()
        return KeptNow(is_complete=False, trouble=f"the conversation is not kept: {error}")
    except NotewellError as error:
        return KeptNow(is_complete=False, trouble=f"the conversation is not kept: {error}")
    return KeptNow(kept.messages, kept.is_complete)


def _drop_expired(hook: Hook) -> str | None:
    from notewell.capture import drop_expired

    try:
        drop_expired(hook.kept, hook.settings.capture.keep, hook.now)
    except (NotewellError, OSError) as error:
        return f"old conversations are not removed: {error}"
    return None


def _is_over(hook: Hook, transcript: Path) -> bool:
    # A conversation in a database is no file: it is over when its host reports no more.
    try:
        return hook.now.timestamp() - transcript.stat().st_mtime > OVER_S
    except OSError:
        return True
