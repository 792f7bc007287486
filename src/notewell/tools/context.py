"""The conversation that a tool is called from. The host sets it; a model cannot change it."""

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
class CallContext:
    """Which conversation calls, and what it may see."""

    session_key: str | None = None
    """`agent:<id>:<channel>:<context>`; None for a program that talks to its own user."""
    citations: Citations = "auto"
    origin: str = "tool"
    """The mark of entries that are written from here: one word, or the session key."""
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
        """Between the agent and one person."""
        if self.session_key is None:
            return True
        key = parse_session_key(self.session_key)
        # A key that we cannot parse may belong to a group, so it does not count as private.
        return isinstance(key, SessionKey) and key.chat_type == "direct"

    @property
    def cites(self) -> bool:
        """Whether sources are shown: the members of a group must not learn paths of notes."""
        return self.is_private if self.citations == "auto" else self.citations == "on"


HERE = CallContext()
"""A program that talks to its own user."""
