"""The conversation a tool is called from. The host says what it is; a model cannot change it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from notewell.core import SessionKey, parse_session_key
from notewell.errors import BadSetting

Citations: TypeAlias = Literal["on", "off", "auto"]

INJECT_CHARS = 4000
"""About a thousand tokens: six whole snippets, less one paragraph."""
LEAST_INJECT_CHARS = 200


@dataclass(frozen=True, slots=True)
class Talk:
    """Who is talking where, and what they may see of it."""

    session_key: str | None = None
    """`agent:<id>:<channel>:<context>`; None for a program that talks to its own user."""
    citations: Citations = "auto"
    origin: str = "tool"
    """What an entry written from here is marked with: one word, or the session's key."""
    inject_chars: int = INJECT_CHARS
    enabled: bool = True
    """False when the configuration gives this agent no memory."""

    def __post_init__(self) -> None:
        if self.citations not in ("on", "off", "auto"):
            raise BadSetting("memory.citations", f"expected on, off or auto: {self.citations!r}")
        if self.inject_chars < LEAST_INJECT_CHARS:
            raise BadSetting(
                "inject chars", f"expected at least {LEAST_INJECT_CHARS}, not {self.inject_chars}"
            )

    @property
    def is_private(self) -> bool:
        """Between the agent and one person. A key we cannot read may be a group's."""
        if self.session_key is None:
            return True
        key = parse_session_key(self.session_key)
        return isinstance(key, SessionKey) and key.chat_type == "direct"

    @property
    def cites(self) -> bool:
        """Whether sources are shown: paths of notes are nobody's business in a group."""
        return self.is_private if self.citations == "auto" else self.citations == "on"
