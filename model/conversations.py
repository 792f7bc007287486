"""Meetings and dialogues: their lines, and questions about them.

A conversation is lines `Name: text`, as a transcript in a memory is. Three sources hold some:
QMSum (meetings, with questions and the turns that answer them), Schema-Guided Dialogue (a user and
an assistant, with every value the user names marked) and Taskmaster-4 (orders of coffee).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from model.pairs import PASSAGE_CHARS, Pair

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from random import Random

    from model.sources import File

MAX_LINE_CHARS = 700
MAX_ANSWERING_CHUNKS = 25
"""A question answered all over the meeting says nothing about one of its chunks."""
NAMES = (
    "Anna", "Ben", "Clara", "David", "Elena", "Farid", "Grace", "Hugo", "Ines", "Jack", "Kenji",
    "Lena", "Marco", "Nadia", "Oliver", "Priya", "Quinn", "Rosa", "Samir", "Tara", "Umar", "Vera",
    "Wei", "Xenia", "Yusuf", "Zoe", "Alice", "Bruno", "Carmen", "Dmitri", "Emma", "Felix", "Gina",
    "Henry", "Isabel", "Jonas", "Karin", "Liam", "Maya", "Nils", "Olga", "Peter", "Rita", "Simon",
    "Tom", "Ursula", "Victor", "Wendy", "Yara", "Ming", "Li Na", "Sofia", "Daniel", "Julia",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Chunk:
    first: int
    """Index of its first line in the conversation."""
    last: int
    text: str


def chunks(lines: list[str], limit: int = PASSAGE_CHARS) -> list[Chunk]:
    """Whole lines, in order, as many as fit; empty ones count, and are left out of the text."""
    found: list[Chunk] = []
    start = 0
    size = 0
    for index, line in enumerate(lines):
        if index > start and size + len(line) > limit:
            found.append(Chunk(start, index - 1, _joined(lines[start:index])))
            start, size = index, 0
        size += len(line) + 1
    if lines:
        found.append(Chunk(start, len(lines) - 1, _joined(lines[start:])))
    return found


def _joined(lines: list[str]) -> str:
    return "\n".join(filter(None, lines))


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    answer: str
    spans: tuple[tuple[int, int], ...]
    """First and last line, both included."""


@dataclass(frozen=True, slots=True)
class Meeting:
    path: str
    lines: tuple[str, ...]
    questions: tuple[Question, ...]


def meetings(files: Iterable[File]) -> Iterator[Meeting]:
    for file in files:
        record: dict[str, Any] = json.loads(file.text)
        lines = tuple(
            _spoken(turn["speaker"], turn["content"]) for turn in record["meeting_transcripts"]
        )
        asked = [
            (query["query"], query["answer"], query["relevant_text_span"])
            for query in record.get("specific_query_list", [])
        ] + [
            (topic["topic"], "", topic["relevant_text_span"])
            for topic in record.get("topic_list", [])
        ]
        yield Meeting(file.path, lines, tuple(_question(*parts) for parts in asked))


def _spoken(name: str, text: str) -> str:
    """Without the marks for noises, and with the blanks of a sentence that is written.

    Empty if nothing was said: questions name lines by their number.
    """
    text = re.sub(r"\{\w+\}|<[^>]+>", "", text)
    text = re.sub(r"\s+([.,?!;:'’])", r"\1", re.sub(r"\s+", " ", text)).strip()
    return f"{name}: {text}"[:MAX_LINE_CHARS] if text else ""


def _question(text: str, answer: str, spans: list[list[str]]) -> Question:
    return Question(text, answer, tuple((int(first), int(last)) for first, last in spans))


def meeting_pairs(found: Iterable[Meeting], source: str, random: Random) -> Iterator[Pair]:
    """A question with the chunks that share most words with its answer; their other chunks."""
    for meeting in found:
        parts = chunks(list(meeting.lines))
        for question in meeting.questions:
            good, bad = _answering(parts, question)
            if not good or len(good) > MAX_ANSWERING_CHUNKS:
                continue
            reference = _long_words(f"{question.text} {question.answer}")
            good.sort(key=lambda part: -len(reference & _long_words(part.text)))
            negative = random.choice(bad).text if bad else ""
            for part in good[:3]:
                yield Pair(question.text, part.text, source, negative)
            for sentence in re.split(r"(?<=\.)\s", question.answer)[:3]:
                if len(sentence) > 30:
                    words = _long_words(sentence)
                    best = max(good, key=lambda part: len(words & _long_words(part.text)))
                    yield Pair(sentence, best.text, source, negative)


def _answering(parts: list[Chunk], question: Question) -> tuple[list[Chunk], list[Chunk]]:
    good: list[Chunk] = []
    bad: list[Chunk] = []
    for part in parts:
        hit = any(part.first <= last and part.last >= first for first, last in question.spans)
        (good if hit else bad).append(part)
    return good, bad


def _long_words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]{4,}", text.lower()))


@dataclass(frozen=True, slots=True)
class Wish:
    """One thing that a user asked for."""

    task: str
    """Such as "reserve restaurant"."""
    what: str
    """Such as "party size"."""
    value: str


@dataclass(frozen=True, slots=True)
class Dialogue:
    lines: tuple[str, ...]
    user: str
    """The name of the one who asks for something."""
    wishes: tuple[Wish, ...] = ()
    """In the order they are first named."""


def schema_guided(files: Iterable[File], random: Random) -> Iterator[Dialogue]:
    for file in files:
        for record in json.loads(file.text):
            user = random.choice(NAMES)
            turns: list[dict[str, Any]] = record["turns"]
            names = {"USER": user, "SYSTEM": random.choice(("Assistant", "Agent", "assistant"))}
            lines = tuple(f"{names[turn['speaker']]}: {turn['utterance']}" for turn in turns)
            yield Dialogue(lines, user, tuple(_wishes(turns)))


def _wishes(turns: list[dict[str, Any]]) -> list[Wish]:
    found: dict[tuple[str, str], Wish] = {}
    for frame in (frame for turn in turns for frame in turn["frames"]):
        state = frame.get("state", {})
        task = _words_of_name(state.get("active_intent", "NONE"))
        for slot, said in state.get("slot_values", {}).items():
            if task != "none":
                wish = Wish(task, slot.replace("_", " "), said[0])
                found.setdefault((wish.task, wish.what), wish)
    return list(found.values())


def _words_of_name(name: str) -> str:
    """`ReserveRestaurant` as `reserve restaurant`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()


def taskmaster(files: Iterable[File], random: Random) -> Iterator[Dialogue]:
    for file in files:
        for record in json.loads(file.text):
            user = random.choice(NAMES)
            names = {"user": user, "assistant": random.choice(("Assistant", "Barista"))}
            lines = tuple(
                f"{names.get(turn['speaker'], 'Assistant')}: {turn['text'].strip()}"
                for turn in record["utterances"]
                if turn["text"].strip()
            )
            yield Dialogue(lines, user)


def dialogue_pairs(found: Iterable[Dialogue], source: str, random: Random) -> Iterator[Pair]:
    """A question about one wish of the user, with the chunk where it is named.

    Another wish for the same task says in the question which of many dialogues is meant.
    """
    for dialogue in found:
        telling = [wish for wish in dialogue.wishes if _is_telling(wish.value)]
        asked = random.choice(telling) if telling else None
        others = [wish for wish in telling if asked and _goes_with(wish, asked)]
        if not asked or not others:
            continue
        given = random.choice(others)
        parts = chunks(list(dialogue.lines))
        holding = [part for part in parts if asked.value.lower() in part.text.lower()]
        if not holding:
            continue
        best = max(holding, key=lambda part: given.value.lower() in part.text.lower())
        elsewhere = [part for part in parts if part not in holding]
        negative = random.choice(elsewhere).text if elsewhere else ""
        yield Pair(_asking(dialogue.user, asked, given, random), best.text, source, negative)


def _is_telling(value: str) -> bool:
    return len(value) > 2 and value.lower() not in ("true", "false", "dontcare")


def _goes_with(wish: Wish, asked: Wish) -> bool:
    return wish.task == asked.task and wish.value.lower() != asked.value.lower()


def _asking(user: str, asked: Wish, given: Wish, random: Random) -> str:
    return random.choice(
        (
            f"What {asked.what} did {user} choose for {given.value}?",
            f"Which {asked.what} did {user} want when the {given.what} was {given.value}?",
            f"{user} {asked.task} {given.value} {asked.what}",
            f"{asked.task} {given.value} {asked.value}",
            f"When did {user} talk about {asked.value} and {given.value}?",
        )
    )
