"""Texts as long as a chunk, of the kinds that a memory holds, with their lines.

A model that is distilled on sentences alone forgets how to read 800 characters. Sections,
articles, meetings and functions are found; conversations, bullet notes and diaries in everyday
words are put together from single sentences, because no free source holds many of them. Their
sentences share a word or begin alike, so that a text is about something.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from model.conversations import NAMES, chunks
from model.documents import whole_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from random import Random

    from model.documents import Document
    from model.pairs import Function
    from model.parallel import Parallel

MIN_CHARS = 300
MAX_CHARS = 1500
MAX_CHARS_ZH = 600
LINES = (3, 14)
NEIGHBOURS = 0.1
"""The share of made texts whose sentences merely begin alike."""
_COMMON = 150
"""A word of so many sentences ("know", "want") is not what a conversation is about."""
_RARE = 4


@dataclass(frozen=True, slots=True)
class LongText:
    text: str
    source: str
    heading: str = ""


def sections(documents: Iterable[Document], source: str) -> Iterator[LongText]:
    for document in documents:
        for section in document.sections:
            text = whole_lines(section.text, MAX_CHARS)
            if len(text) >= MIN_CHARS and document.title:
                below = f" › ## {section.heading}" if section.heading else ""
                yield LongText(text, source, f"# {document.title}{below}")


def articles(text: str, source: str) -> Iterator[LongText]:
    """Paragraphs of wikitext, below the title of their article and section."""
    title = heading = ""
    for line in text.split("\n"):
        bare = detokenised(line)
        if match := re.fullmatch(r"(=(?: =)*) (.+?) =(?: =)*", line.strip()):
            level = match[1].count("=")
            title, heading = (match[2], "") if level == 1 else (title, match[2])
        elif len(bare) >= MIN_CHARS:
            below = f" › ## {heading}" if heading else ""
            yield LongText(bare[:MAX_CHARS], source, f"# {title}{below}")


def detokenised(line: str) -> str:
    """`0 @.@ 7 kg , or <unk>` as it was written: `0.7 kg, or`."""
    line = re.sub(r" @(.)@ ", r"\1", line.strip())
    line = re.sub(r"<unk>( 's\b)?", "", line)
    line = re.sub(r"\s+", " ", line)
    line = re.sub(r" ([.,;:?!)\]%]|'s\b|n't\b)", r"\1", line)
    return re.sub(r"([(\[]) ", r"\1", line)


def code(functions: Iterable[Function], source: str) -> Iterator[LongText]:
    for function in functions:
        text = whole_lines(function.code, MAX_CHARS)
        if len(text) >= MIN_CHARS:
            yield LongText(text, source, function.path)


def transcripts(
    conversations: Iterable[Sequence[str]], source: str, random: Random
) -> Iterator[LongText]:
    """Chunks of conversations, of all lengths, in the styles that transcripts are written in."""
    for lines in conversations:
        style = random.choice(_STYLES)
        clock = Clock(random)
        styled = [style(*_name_and_text(line), clock) for line in lines if line]
        for part in chunks(styled, random.choice((500, 800, 1200, MAX_CHARS))):
            if len(part.text) >= MIN_CHARS:
                yield LongText(part.text[:MAX_CHARS], source)


def _name_and_text(line: str) -> tuple[str, str]:
    name, _, text = line.partition(": ")
    return (name, text) if text else ("", line)


class Clock:
    """A day, and a minute of it that moves on."""

    def __init__(self, random: Random) -> None:
        self._random = random
        month, day = random.randint(1, 12), random.randint(1, 28)
        self.day = f"{random.randint(2021, 2026)}-{month:02}-{day:02}"
        self._minute = random.randint(7 * 60, 21 * 60)

    def minute(self) -> str:
        self._minute += self._random.randint(0, 4)
        return f"{self._minute // 60:02}:{self._minute % 60:02}"


def _plain(name: str, text: str, clock: Clock) -> str:
    del clock
    return f"{name}: {text}"


def _bold(name: str, text: str, clock: Clock) -> str:
    del clock
    return f"**{name}:** {text}"


def _stamped(name: str, text: str, clock: Clock) -> str:
    return f"[{clock.day} {clock.minute()}] {name}: {text}"


def _timed_bullet(name: str, text: str, clock: Clock) -> str:
    return f"- {clock.minute()} {name}: {text}"


_STYLES = (_plain, _plain, _plain, _bold, _stamped, _timed_bullet)


class Topics:
    """Sentences by the words they share."""

    def __init__(self, sentences: Sequence[str]) -> None:
        self._sentences = sentences
        by_word: defaultdict[str, list[int]] = defaultdict(list)
        for index, sentence in enumerate(sentences):
            for word in _words(sentence):
                by_word[word].append(index)
        self._topics = {
            word: indices
            for word, indices in sorted(by_word.items())
            if _RARE <= len(indices) <= _COMMON
        }
        self._words = list(self._topics)

    def some(self, count: int, random: Random) -> list[int]:
        """Indices of sentences, each once: neighbours, or such that share a word.

        After a few sentences the talk moves on to another word of the last one.
        """
        if random.random() < NEIGHBOURS:
            start = random.randrange(max(1, len(self._sentences) - count))
            return list(range(start, min(start + count, len(self._sentences))))
        found: dict[str, int] = {}
        word = random.choice(self._words)
        for _ in range(count):
            topic = self._topics[word]
            for index in random.sample(topic, min(len(topic), random.randint(2, 6))):
                found.setdefault(self._sentences[index], index)
            last = next(reversed(found))
            known = [other for other in _words(last) if other in self._topics and other != word]
            word = random.choice(known or self._words)
            if len(found) >= count:
                break
        return list(found.values())[:count]


def _words(sentence: str) -> list[str]:
    return sorted(set(re.findall(r"[a-z]{4,}", sentence.lower())))


def made_conversations(
    sentences: Sequence[str], count: int, source: str, random: Random
) -> Iterator[LongText]:
    """Two or three people, one to three sentences each time."""
    topics = Topics(sentences)
    while count:
        names = random.sample(NAMES, random.choice((2, 2, 2, 3)))
        if random.random() < 0.25:
            names = ["user", "assistant"]
        style = random.choice(_STYLES)
        clock = Clock(random)
        said = topics.some(random.randint(8, 40), random)
        lines = [
            style(names[turn % len(names)], text, clock)
            for turn, text in enumerate(_grouped(sentences, said, (1, 3), random))
        ]
        text = "\n".join(lines[: LINES[1]])
        if len(text) >= MIN_CHARS:
            count -= 1
            heading = f"# {clock.day}" if random.random() < 0.4 else ""
            yield LongText(whole_lines(text, MAX_CHARS), source, heading)


def made_notes(
    sentences: Sequence[str], count: int, source: str, random: Random
) -> Iterator[LongText]:
    """Bullets under a heading or a date."""
    topics = Topics(sentences)
    while count:
        said = topics.some(random.randint(6, 30), random)
        groups = _grouped(sentences, said, (1, 2), random)[: LINES[1]]
        mark = random.choice(("- ", "- ", "* ", "- [ ] ", "1. "))
        text = whole_lines("\n".join(mark + group for group in groups), MAX_CHARS)
        if len(text) >= MIN_CHARS:
            count -= 1
            heading = _note_heading(sentences[said[0]], random)
            yield LongText(text, source, heading)


def _note_heading(sentence: str, random: Random) -> str:
    day = Clock(random).day
    words = " ".join(sentence.rstrip(".?!").split()[:5])
    return random.choice((f"# {day}", f"## {words}", f"# {day} › ## {words}", f"# {words}"))


def made_diaries(
    sentences: Sequence[str], count: int, source: str, random: Random
) -> Iterator[LongText]:
    """Paragraphs about the day of one person."""
    own = [
        sentence for sentence in sentences if re.match(r"(I|My|We|It|Today|Yesterday)\b", sentence)
    ]
    topics = Topics(own)
    while count:
        said = topics.some(random.randint(8, 32), random)
        text = whole_lines("\n\n".join(_grouped(own, said, (3, 7), random)), MAX_CHARS)
        if len(text) >= MIN_CHARS:
            count -= 1
            yield LongText(text, source, f"# {Clock(random).day}")


def _grouped(
    sentences: Sequence[str], indices: Sequence[int], sizes: tuple[int, int], random: Random
) -> list[str]:
    """Sentences put together, a few at a time, in the given order."""
    groups: list[str] = []
    start = 0
    while start < len(indices):
        size = random.randint(*sizes)
        groups.append(" ".join(sentences[index] for index in indices[start : start + size]))
        start += size
    return groups


@dataclass(frozen=True, slots=True)
class Line:
    en: str
    zh: str


@dataclass(frozen=True, slots=True)
class LongParallel:
    lines: tuple[Line, ...]
    style: str
    """How the lines are to be written in both languages: `paragraphs`, `dialogue`, `bullets`."""


def neighbours(lines: Sequence[Parallel], random: Random) -> Iterator[LongParallel]:
    """Three to fourteen lines in a row of one document, overlapping by half."""
    start = 0
    while start < len(lines):
        chosen = _fitting(lines[start : start + random.randint(*LINES)])
        if len(chosen) >= LINES[0]:
            yield LongParallel(
                _lines(chosen), random.choice(("paragraphs", "paragraphs", "bullets"))
            )
        start += max(1, len(chosen) // 2)


def everyday(lines: Sequence[Parallel], count: int, random: Random) -> Iterator[LongParallel]:
    """Sentences about one thing as a dialogue or as bullets."""
    topics = Topics([line.en for line in lines])
    for _ in range(count):
        chosen = [lines[index] for index in topics.some(random.randint(*LINES), random)]
        style = random.choice(("dialogue", "dialogue", "bullets", "paragraphs"))
        yield LongParallel(_lines(_fitting(chosen)), style)


def _lines(chosen: Sequence[Parallel]) -> tuple[Line, ...]:
    return tuple(Line(line.en, line.zh) for line in chosen)


def _fitting(lines: Sequence[Parallel]) -> list[Parallel]:
    """The first lines of the first line's document that fit."""
    found: list[Parallel] = []
    size = 0
    for line in lines:
        size += len(line.zh) + 1
        if line.document != lines[0].document or size > MAX_CHARS_ZH:
            break
        found.append(line)
    return found
