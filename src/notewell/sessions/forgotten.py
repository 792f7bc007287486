"""What the user has had forgotten, and so must never be taken from a host's file again.

    <state>/agents/<agent>/sessions/<digest of the workspace>.forgotten.json

A host keeps its own files, and a message that was removed from ours would come back with the next
hook, the next import, or the next sync of a host's folder. So each `notewell forget` leaves a
rule: the conversations, the time, and a digest of the phrase with its number of words. The record
has no text. A rule is about what was said before it: the same words said later are kept.

A message without a time counts as said before, unless the rule names a time.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import unicodedata
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from notewell.errors import StateNotWritable
from notewell.files import MAX_STATE_BYTES, describe_os_error
from notewell.records import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

# Scripts without spaces between words: each character is a unit.
_DENSE = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7ff\uf900-\ufaff"
)
_UNIT = re.compile(rf"[{_DENSE}]|[^\W_{_DENSE}]+")


def phrase_words(text: str) -> list[str]:
    """The words by which phrases are compared: without case and punctuation."""
    return _UNIT.findall(unicodedata.normalize("NFKC", text).casefold())


class PhraseDigest(NamedTuple):
    """A phrase without its text."""

    words: int
    digest: str


def phrase_digest(salt: bytes, words: Iterable[str]) -> PhraseDigest:
    parts = list(words)
    code = hmac.new(salt, " ".join(parts).encode("utf-8", "surrogatepass"), hashlib.sha256)
    return PhraseDigest(len(parts), code.hexdigest())


@dataclass(frozen=True, slots=True)
class ForgetRule:
    """One `notewell forget`. What is not named is not compared."""

    id: str
    at: datetime
    """What was said later is not meant."""
    sessions: tuple[str, ...] = ()
    """The names of hosts' files, without suffix; see `session_stem`."""
    after: datetime | None = None
    before: datetime | None = None
    """From the first moment on, and until before the second."""
    phrase: PhraseDigest | None = None
    counts: dict[str, int] = field(default_factory=dict)
    """What was found when it was made, for the history."""
    is_done: bool = False
    """False: the removal was interrupted, and the next `notewell forget` completes it."""

    def covers_time(self, at: datetime | None) -> bool:
        if at is None:
            return self.after is None and self.before is None
        is_within = self.after is None or at >= self.after
        return is_within and (self.before is None or at < self.before)

    def covers_session(self, session: str | None) -> bool:
        return not self.sessions or session in self.sessions

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "at": self.at.isoformat(),
            "sessions": list(self.sessions),
            "after": self.after.isoformat() if self.after else None,
            "before": self.before.isoformat() if self.before else None,
            "phrase": list(self.phrase) if self.phrase else None,
            "counts": self.counts,
            "done": self.is_done,
        }


@dataclass(frozen=True, slots=True)
class ForgottenMessages:
    """The rules of one memory."""

    salt: bytes = b""
    rules: tuple[ForgetRule, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.rules)

    def has(self, session: str | None, text: str, at: datetime | None) -> bool:
        """Whether a message was forgotten."""
        about = [
            rule
            for rule in self.rules
            if (at is None or at <= rule.at)
            and rule.covers_time(at)
            and rule.covers_session(session)
        ]
        if not about:
            return False
        return any(rule.phrase is None for rule in about) or self._has_phrase(about, text)

    def has_phrase(self, rule: ForgetRule, text: str) -> bool:
        return rule.phrase is not None and self._has_phrase([rule], text)

    def _has_phrase(self, rules: Iterable[ForgetRule], text: str) -> bool:
        by_words: dict[int, set[str]] = {}
        for rule in rules:
            if rule.phrase:
                by_words.setdefault(rule.phrase.words, set()).add(rule.phrase.digest)
        words = phrase_words(text)
        return any(
            phrase_digest(self.salt, words[start : start + count]).digest in digests
            for count, digests in by_words.items()
            for start in range(len(words) - count + 1)
        )

    def of_session(self, session: str | None) -> Callable[[str, datetime | None], bool]:
        """The filter for the messages of one conversation."""
        return lambda text, at: self.has(session, text, at)

    def to_json(self) -> dict[str, Any]:
        return {"salt": self.salt.hex(), "rules": [rule.to_json() for rule in self.rules]}


def read_forgotten(file: Path) -> ForgottenMessages:
    """The rules of one memory; see `forgotten_file`.

    Raises `StateNotWritable` for a file that is damaged: if it counted as empty, what was
    forgotten would come back.
    """
    try:
        with file.open("rb") as opened:
            return _parsed(json.loads(opened.read(MAX_STATE_BYTES)))
    except FileNotFoundError:
        return ForgottenMessages()
    except OSError as error:
        raise StateNotWritable(str(file), describe_os_error(error)) from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        why = "it is damaged, and without it forgotten messages would come back"
        raise StateNotWritable(str(file), f"{why}; restore it, or remove it") from error


def _parsed(value: Any) -> ForgottenMessages:
    return ForgottenMessages(bytes.fromhex(value["salt"]), tuple(map(_rule, value["rules"])))


def _rule(value: dict[str, Any]) -> ForgetRule:
    phrase = value["phrase"]
    return ForgetRule(
        id=str(value["id"]),
        at=datetime.fromisoformat(value["at"]),
        sessions=tuple(map(str, value["sessions"])),
        after=_moment(value["after"]),
        before=_moment(value["before"]),
        phrase=PhraseDigest(int(phrase[0]), str(phrase[1])) if phrase else None,
        counts={str(name): int(count) for name, count in value["counts"].items()},
        is_done=bool(value["done"]),
    )


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
