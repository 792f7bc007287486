"""Passages as notes: `corpus.jsonl` is written out, so that it is found, cut and indexed like any.

A note is called by its number, for Notewell searches names too, and a passage's id often says
what the passage is about: a plain full-text search over the passages could not have known.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from notewell.errors import NotADataset, StateNotWritable
from notewell.evals.records import Record, read_objects, read_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

COLUMNS = 3


class Group(NamedTuple):
    """One corpus and the questions about it."""

    name: str
    workspace: Path
    queries: list[Record]
    judged: Mapping[str, Mapping[str, int]]
    """Question id → note → gain."""


def load_groups(folder: Path, scratch: Path) -> Iterator[Group]:
    """The folder itself, or each folder in it that has a corpus."""
    here = (folder / "corpus.jsonl").exists()
    groups = [folder] if here else sorted(file.parent for file in folder.glob("*/corpus.jsonl"))
    if not groups:
        raise NotADataset(
            str(folder),
            "expected evidence.json, or corpus.jsonl with queries.jsonl and qrels.tsv, here or in "
            "the folders below"
            if folder.is_dir()
            else "there is no such folder",
        )
    # Sets of the same name must not share their notes.
    place = hashlib.sha256(str(folder).encode(errors="surrogatepass")).hexdigest()[:8]
    for group in groups:
        workspace = scratch / f"{folder.name}-{place}" / group.name
        notes = _write_notes(group / "corpus.jsonl", workspace)
        judged = _judgements(group / "qrels.tsv", notes)
        yield Group(group.name, workspace, list(read_objects(group / "queries.jsonl")), judged)


def _write_notes(corpus: Path, workspace: Path) -> dict[str, str]:
    """Passage id → note. What is already there and the same is left alone, so it stays indexed."""
    notes: dict[str, str] = {}
    folder = workspace / "memory"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for number, passage in enumerate(read_objects(corpus)):
            if passage.text("_id") in notes:
                raise passage.wrong(f"two passages have the id {passage.text('_id')!r}")
            name = f"{number:06}.md"
            notes[passage.text("_id")] = f"memory/{name}"
            _write(folder / name, _as_note(passage))
        for stray in {note.name for note in folder.iterdir()} - {f[7:] for f in notes.values()}:
            (folder / stray).unlink()
    except OSError as error:
        raise StateNotWritable(str(folder), error.strerror or str(error)) from error
    return notes


def _as_note(passage: Record) -> bytes:
    title = passage.told.get("title")
    text = passage.text("text")
    note = f"# {title}\n\n{text}\n" if title else f"{text}\n"
    return note.encode("utf-8", "replace")


def _write(path: Path, data: bytes) -> None:
    try:
        if path.read_bytes() == data:
            return
    except FileNotFoundError:
        pass
    path.write_bytes(data)


def _judgements(qrels: Path, notes: Mapping[str, str]) -> dict[str, dict[str, int]]:
    judged: dict[str, dict[str, int]] = {}
    for number, row in read_rows(qrels):
        if number == 1 and row[0] == "query-id":
            continue
        if len(row) != COLUMNS or not row[2].removeprefix("-").isdecimal():
            raise NotADataset(
                str(qrels), "expected question id, passage id and a whole number, by tabs", number
            )
        query, passage, gain = row[0], row[1], int(row[2])
        if passage not in notes:
            raise NotADataset(str(qrels), f"no passage has the id {passage!r}", number)
        if gain > 0:
            judged.setdefault(query, {})[notes[passage]] = gain
    return judged
