"""What the data exports of chat apps have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from notewell.hosts import parse_time, turn_of
from notewell.imports.files import read_json_files, unusable
from notewell.sessions import SaidMessage
from notewell.types import Ignored, counted

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable
    from pathlib import Path

_OTHER = {"mapping": "chatgpt", "chat_messages": "claude"}
"""The key of a conversation, by which the exports of the apps differ."""


def list_of_conversations(
    path: Path, files: re.Pattern[str], key: str, title: str
) -> tuple[list[dict[str, Any]], list[Ignored]]:
    """The conversations of an export, and what else it has. Raises `BadRequest` for something
    else."""
    documents, others = read_json_files(path, files)
    if not documents:
        raise unusable(path, "it has no conversations.json; name the data export of the app")
    items = [item for document in documents for item in _listed(path, document)]
    known = [item for item in items if isinstance(item, dict) and key in item]
    if items and not known:
        raise unusable(path, _why_other(items, title))
    if len(known) < len(items):
        why = f"not a conversation of {title}"
        others.append(Ignored(counted(len(items) - len(known), "item"), why))
    return known, others


def said(role: str, texts: Iterable[str], id_: object, at: object) -> SaidMessage | None:
    turn = turn_of(role, tuple(texts), id_)
    return SaidMessage(turn, parse_time(at), 0) if turn else None


def without_text(count: int) -> list[Ignored]:
    return [Ignored(counted(count, "conversation"), "nothing was said in it")] if count else []


def _listed(path: Path, document: object) -> list[Any]:
    if not isinstance(document, list):
        raise unusable(path, "it is no list of conversations")
    return document


def _why_other(items: list[Any], title: str) -> str:
    first = items[0] if isinstance(items[0], dict) else {}
    other = next((id_ for key, id_ in _OTHER.items() if key in first), None)
    hint = f"; it is one of `notewell import {other}`" if other else ""
    return f"it is no export of {title}{hint}"
