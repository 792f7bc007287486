"""Prepared texts: token ids and windows, as the product makes them.

    texts/*.jsonl, texts/vocabulary ──▶ WordPiece and windows of the product ──▶ tokens.npz

The machine that trains needs neither a tokenizer nor the product then. Besides the columns of
texts (`ragged.py` describes them) the file has

    prefix          the ids before a query
    vocabulary      how many rows the model has
    gloss           a column: the English meaning of each new row
    gloss.rows      which row that is
    gloss.stop      ids that say nothing in a meaning
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from model.base import STOP_WORDS
from notewell.core.windows import split_text
from notewell.embedders.encoder import QUERY_PREFIX, window_ids
from notewell.embedders.wordpiece import WordPiece

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from notewell.ports import SplitText, Window

Arrays: TypeAlias = dict[str, NDArray[Any]]

SHORT_TEXTS = {
    "pairs_en": ("query", "passage", "negative"),
    "pairs_zh": ("query", "passage"),
    "parallel": ("en", "zh"),
    "dictionary": ("en", "zh"),
    "code_switched": ("en", "zh"),
}
"""Files, and the columns of each."""

LONG_TEXTS = ("long_en", "long_zh")
VOCABULARY, TRADITIONAL, GLOSSES = "vocab.txt", "traditional.tsv", "glosses.json"

LINE_MARKS: Mapping[str, Callable[[int, str], str]] = {
    "paragraphs": lambda number, line: line,
    "dialogue": lambda number, line: f"{'AB'[number % 2]}: {line}",
    "bullets": lambda number, line: f"- {line}",
}
"""What a line of a long Chinese text looks like, by the style of the text."""


class Segments(NamedTuple):
    """A text as token ids, and where its windows are."""

    ids: list[int]
    head: int
    """How many ids are the heading."""
    windows: list[tuple[int, int]]
    """The first id and the end of each."""


def files_needed(texts: Path) -> list[Path]:
    names = [f"{name}.jsonl" for name in (*SHORT_TEXTS, *LONG_TEXTS)]
    names += [f"vocabulary/{name}" for name in (VOCABULARY, TRADITIONAL, GLOSSES)]
    return [texts / name for name in names]


def write_tokens(texts: Path, out: Path) -> None:
    """All that training needs, in one file."""
    arrays = prepare(texts)
    with out.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)
    for name, lengths in arrays.items():
        if name.endswith(".lengths"):
            texts_of, total = len(lengths), int(lengths.sum(dtype=np.int64))
            print(f"{name.removesuffix('.lengths')}: {texts_of} texts, {total} ids", flush=True)


def prepare(texts: Path) -> Arrays:
    vocabulary = texts / "vocabulary"
    pieces = WordPiece.load(vocabulary / VOCABULARY, vocabulary / TRADITIONAL)
    # Not `splitlines()`: a piece may be a Unicode line separator.
    lines = (vocabulary / VOCABULARY).read_text(encoding="utf-8").removesuffix("\n").split("\n")
    rows = {piece: row for row, piece in enumerate(lines)}
    arrays: Arrays = {
        "prefix": np.array(pieces.pieces(QUERY_PREFIX)),
        "vocabulary": np.array(len(rows)),
        "gloss.stop": np.array(pieces.pieces(STOP_WORDS)),
    }
    arrays |= glosses(json.loads((vocabulary / GLOSSES).read_text(encoding="utf-8")), pieces, rows)
    for name, columns in SHORT_TEXTS.items():
        arrays |= _short(name, columns, list(_read(texts / f"{name}.jsonl")), pieces)
    arrays |= _english(texts / "long_en.jsonl", pieces)
    return arrays | _chinese(texts / "long_zh.jsonl", pieces)


def glosses(
    meanings: Mapping[str, Sequence[str]], pieces: WordPiece, rows: Mapping[str, int]
) -> Arrays:
    """For each Chinese row of the vocabulary, the ids of its English meaning."""
    known = sorted((rows[piece], " ".join(found[:2])) for piece, found in meanings.items())
    ids = [pieces.pieces(meaning) for _, meaning in known]
    return {"gloss.rows": np.array([row for row, _ in known], np.uint16)} | _ragged("gloss", ids)


def segments(text: SplitText, pieces: WordPiece) -> Segments:
    ids, windows = window_ids(text, pieces)
    return Segments(ids, len(pieces.pieces(text.above)), windows)


def _short(
    name: str, columns: Sequence[str], rows: Sequence[Mapping[str, str]], pieces: WordPiece
) -> Arrays:
    arrays: Arrays = {}
    for column in columns:
        ids = [pieces.pieces(row.get(column, "")) for row in rows]
        arrays |= _ragged(f"{name}.{column}", ids)
    if rows and "source" in rows[0]:
        arrays |= _codes(f"{name}.source", [row["source"] for row in rows])
    return arrays


def _english(path: Path, pieces: WordPiece) -> Arrays:
    rows = (split_text(row.get("heading", ""), row["text"]) for row in _read(path))
    return _windowed("long_en", (segments(row, pieces) for row in rows))


def _chinese(path: Path, pieces: WordPiece) -> Arrays:
    """Texts in Chinese; `long_zh.en` has their translations and `long_zh.part` those of windows,
    in the order of the windows."""
    texts, translations, parts = [], [], []
    for row in _read(path):
        mark = LINE_MARKS[row["style"]]
        chinese = [mark(number, line["zh"]) for number, line in enumerate(row["lines"])]
        english = [mark(number, line["en"]) for number, line in enumerate(row["lines"])]
        text = "\n".join(chinese)
        split = split_text("", text)
        spans = [_lines_in(text, window) for window in split.windows]
        # A window that is a part of a line has no translation of its own.
        whole = [window for window, span in zip(split.windows, spans, strict=True) if span]
        texts.append(segments(split._replace(windows=tuple(whole)), pieces))
        translations.append(pieces.pieces("\n".join(english)))
        parts += [pieces.pieces("\n".join(english[s[0] : s[1]])) for s in spans if s]
    return {
        **_windowed("long_zh", texts),
        **_ragged("long_zh.en", translations),
        **_ragged("long_zh.part", parts),
    }


def _lines_in(text: str, window: Window) -> tuple[int, int] | None:
    """The first line and the end, if the window is whole lines."""
    first = text.count("\n", 0, window.start)
    last = text.count("\n", 0, window.end)
    starts = window.start == 0 or text[window.start - 1] == "\n"
    ends = window.end == len(text) or text[window.end] == "\n"
    return (first, last + 1) if starts and ends else None


def _windowed(name: str, texts: Iterable[Segments]) -> Arrays:
    ids, heads, windows = [], [], []
    for number, text in enumerate(texts):
        ids.append(text.ids)
        heads.append(text.head)
        windows += [(number, first, end) for first, end in text.windows]
    return {
        **_ragged(name, ids),
        f"{name}.heads": np.array(heads, np.uint16),
        f"{name}.windows": np.array(windows, np.int32).reshape(-1, 3),
    }


def _ragged(name: str, ids: Sequence[Sequence[int]]) -> Arrays:
    lengths = np.array([len(one) for one in ids], np.uint16)
    flat = np.fromiter(
        (number for one in ids for number in one), np.uint16, int(lengths.sum(dtype=np.int64))
    )
    return {f"{name}.ids": flat, f"{name}.lengths": lengths}


def _codes(name: str, values: Sequence[str]) -> Arrays:
    names = sorted(set(values))
    codes = np.array([names.index(value) for value in values], np.uint8)
    return {name: codes, f"{name}.names": np.array(names)}


def _read(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)
