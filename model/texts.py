"""All training texts, out of the sources and into files of JSON lines: `write_texts`.

Each file is written by one function that is handed what was read, and by a `Random` of its own, so
that a change to one file changes no other.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from random import Random
from typing import TYPE_CHECKING, Any, TypeVar

from model import code_switching, conversations, dictionary, long_texts, pairs, sources, vocabulary
from model.documents import HAN
from model.readings import read

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from model.pairs import Pair
    from model.parallel import Parallel
    from model.readings import Readings

T = TypeVar("T")

# At most so many, drawn at random: none of the sources should outweigh all others.
PAIRS = {"mdn": 30_000, "kubernetes": 12_000, "react": 4_000, "vue": 2_000, "guide": 500}
CODE_PAIRS = 14_000
MEETING_PAIRS = 9_000
DIALOGUE_PAIRS = 6_000
PAIRS_ZH = {"mdn": 9_000, "kubernetes": 6_000, "react": 2_500, "vue": 1_500, "guide": 500}
LONG = {
    "mdn": 11_000, "kubernetes": 8_000, "react": 2_000, "vue": 1_000, "wikitext": 3_500,
    "meetings": 6_000, "dialogues": 5_000, "orders": 1_500, "code": 6_000,
}  # fmt: skip
MADE_CONVERSATIONS = 9_000
MADE_NOTES = 7_000
MADE_DIARIES = 3_000
LONG_PARALLEL = 17_000
EVERYDAY_PARALLEL = 8_000
CODE_SWITCHED = 90_000
PIECE_CHARS = 250
SHARES_SWITCHED = (0.5, 0.9, 1.0, 1.0)


def write_texts(folder: Path, base_vocabulary: Path, out: Path) -> None:
    readings = read(folder)
    out.mkdir(parents=True, exist_ok=True)
    english = english_pairs(readings)
    chinese = chinese_pairs(readings)
    write_records(out / "pairs_en.jsonl", english)
    write_records(out / "pairs_zh.jsonl", chinese)
    write_records(out / "parallel.jsonl", readings.parallel)
    write_records(
        out / "dictionary.jsonl", dictionary.glosses(readings.entries, Random("dictionary"))
    )
    write_records(out / "long_en.jsonl", long_english(readings))
    write_records(out / "long_zh.jsonl", long_parallel(readings.parallel))
    folding = vocabulary.traditional_characters(sources.member(folder, sources.OPENCC))
    counts = vocabulary.frequencies(sources.member(folder, sources.JIEBA), folding)
    found = _vocabulary(base_vocabulary, readings, chinese, counts, folding)
    _write_vocabulary(out / "vocabulary", found, folding)
    words = code_switching.attested(
        code_switching.candidates(readings.entries, counts), readings.parallel, folding
    )
    write_records(out / "code_switched.jsonl", code_switched(readings, english, words))


def english_pairs(readings: Readings) -> list[Pair]:
    random = Random("pairs_en")
    found: list[Pair] = []
    for source, documents in readings.english.items():
        asked = list(pairs.heading_pairs(documents, source, random))
        found += _some(asked, PAIRS[source], random)
    code = list(pairs.code_pairs(readings.code, "code", random))
    found += _some(code, CODE_PAIRS, random)
    talks = list(conversations.meeting_pairs(readings.meetings, "meetings", random))
    found += _some(talks, MEETING_PAIRS, random)
    tasks = list(conversations.dialogue_pairs(readings.dialogues, "dialogues", random))
    return found + _some(tasks, DIALOGUE_PAIRS, random)


def chinese_pairs(readings: Readings) -> list[Pair]:
    random = Random("pairs_zh")
    found: list[Pair] = []
    for source, documents in readings.chinese.items():
        asked = list(pairs.heading_pairs_zh(documents, source, random))
        found += _some(asked, PAIRS_ZH[source], random)
    return found


def long_english(readings: Readings) -> list[long_texts.LongText]:
    random = Random("long_en")
    everyday = everyday_sentences(readings.parallel)
    kinds = {
        source: list(long_texts.sections(documents, source))
        for source, documents in readings.english.items()
        if source in LONG
    }
    kinds["wikitext"] = [
        text for article in readings.articles for text in long_texts.articles(article, "wikitext")
    ]
    kinds["code"] = list(long_texts.code(pairs.functions(readings.code), "code"))
    for source, spoken in (
        ("meetings", [meeting.lines for meeting in readings.meetings]),
        ("dialogues", [dialogue.lines for dialogue in readings.dialogues]),
        ("orders", [dialogue.lines for dialogue in readings.orders]),
    ):
        kinds[source] = list(long_texts.transcripts(spoken, source, random))
    found = [
        text for source, texts in kinds.items() for text in _some(texts, LONG[source], random)
    ]
    found += long_texts.made_conversations(
        everyday, MADE_CONVERSATIONS, "made conversations", random
    )
    found += long_texts.made_notes(everyday, MADE_NOTES, "made notes", random)
    found += long_texts.made_diaries(everyday, MADE_DIARIES, "made diaries", random)
    return found


def everyday_sentences(lines: Iterable[Parallel]) -> list[str]:
    """English sentences of Tatoeba, each once, in their order; the shortest say little."""
    said = dict.fromkeys(line.en for line in lines if line.source == "tatoeba")
    return [sentence for sentence in said if len(sentence) >= 20]


def long_parallel(lines: Sequence[Parallel]) -> list[long_texts.LongParallel]:
    random = Random("long_zh")
    written = [line for line in lines if line.source != "tatoeba"]
    spoken = [line for line in lines if line.source == "tatoeba" and len(line.en) >= 15]
    found = _some(list(long_texts.neighbours(written, random)), LONG_PARALLEL, random)
    return found + list(long_texts.everyday(spoken, EVERYDAY_PARALLEL, random))


@dataclass(frozen=True, slots=True)
class CodeSwitched:
    en: str
    zh: str


def code_switched(
    readings: Readings, asked: Sequence[Pair], words: Mapping[str, list[str]]
) -> list[CodeSwitched]:
    """Sentences, queries and pieces of passages with words in Chinese."""
    random = Random("code_switched")
    english = dict.fromkeys(
        line.en for line in readings.parallel if line.source in ("tatoeba", "ntrex", "guide")
    )
    for article in readings.articles:
        for line in article.split("\n"):
            english |= dict.fromkeys(_pieces(long_texts.detokenised(line)))
    english |= dict.fromkeys(pair.query for pair in asked)
    for pair in asked:
        if pair.source != "code" and random.random() < 0.5:
            english |= dict.fromkeys(_pieces(pair.passage)[:1])
    chosen = _some([text for text in english if len(text) >= 8], CODE_SWITCHED, random)
    mixed = (
        CodeSwitched(text, code_switching.code_switched(text, words, share, random))
        for text in chosen
        for share in [random.choice(SHARES_SWITCHED)]
    )
    return [line for line in mixed if HAN.search(line.zh)]


def _pieces(text: str) -> list[str]:
    """Whole words, at most `PIECE_CHARS` long."""
    pieces: list[str] = []
    while len(text) >= 60:
        end = len(text) if len(text) <= PIECE_CHARS else text.rfind(" ", 0, PIECE_CHARS)
        end = end if end > 0 else PIECE_CHARS
        pieces.append(text[:end].strip())
        text = text[end:].strip()
    return pieces


def _vocabulary(
    base: Path,
    readings: Readings,
    chinese: Iterable[Pair],
    counts: dict[str, int],
    folding: dict[str, str],
) -> vocabulary.Vocabulary:
    pieces = tuple(base.read_text(encoding="utf-8").rstrip("\n").split("\n"))
    texts = [line.zh for line in readings.parallel] + [pair.passage for pair in chinese]
    return vocabulary.build(pieces, readings.entries, counts, folding, texts)


def _write_vocabulary(out: Path, found: vocabulary.Vocabulary, folding: dict[str, str]) -> None:
    out.mkdir(exist_ok=True)
    _write_text(out / "vocab.txt", "".join(f"{piece}\n" for piece in found.pieces))
    _write_text(
        out / "traditional.tsv",
        "".join(f"{old}\t{new}\n" for old, new in sorted(folding.items())),
    )
    _write_text(out / "glosses.json", json.dumps(found.glosses, ensure_ascii=False, indent=0))


def _some(found: Sequence[T], most: int, random: Random) -> list[T]:
    """At most so many, in their order."""
    if len(found) <= most:
        return list(found)
    return [found[index] for index in sorted(random.sample(range(len(found)), most))]


def write_records(path: Path, records: Iterable[Any]) -> None:
    lines = [json.dumps(_plain(record), ensure_ascii=False) for record in records]
    _write_text(path, "".join(f"{line}\n" for line in lines))
    print(f"{path.name}: {len(lines)}", flush=True)


def _plain(record: Any) -> dict[str, Any]:
    """Without a negative where there is none."""
    fields = asdict(record)
    return {name: value for name, value in fields.items() if name != "negative" or value}


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
