"""Datasets: questions with known answers, in three formats.

    workspaces   `evidence.json` beside one or more workspaces: a question names path and lines
    probe        `queries.jsonl` beside `workspace/`: a question names a note
    passages     `corpus.jsonl`, `queries.jsonl`, `qrels.tsv` (BEIR): a question names passages;
                 each passage becomes a note, so that chunking and indexing are measured too

A folder with several corpora is one dataset. Each question is asked in its own workspace only.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from notewell.errors import NotADataset, StateNotWritable
from notewell.evals.set_files import read_object, read_objects, read_rows
from notewell.records import dataclass, replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from notewell.evals.set_files import Record

EVERY_LINE = 10**9
"""The end of evidence that is a whole note: no note has so many lines."""
COLUMNS = 3


class EvidenceLines(NamedTuple):
    """Lines of a note, both ends included."""

    path: str
    start_line: int = 1
    end_line: int = EVERY_LINE


class Evidence(NamedTuple):
    """One part of an answer. If it stands in several places, any of them is enough."""

    places: tuple[EvidenceLines, ...]
    gain: int = 1
    text: str = ""
    """The span of these lines that answers; empty: all of them."""


class EvalQuestion(NamedTuple):
    """A question and the places of its answer."""

    id: str
    text: str
    category: str
    workspace: str
    evidence: tuple[Evidence, ...]


class NotesFolder(NamedTuple):
    """A workspace that questions are asked in."""

    path: Path
    whole: bool = False
    """Whether every Markdown file below it is a note, not only MEMORY.md and memory/."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """Questions and the workspaces they are asked in."""

    name: str
    workspaces: Mapping[str, NotesFolder]
    questions: tuple[EvalQuestion, ...]
    unanswerable: int
    """How many questions have no evidence; they are not asked."""
    by_note: bool
    """Whether evidence is a whole note; then several hits in one note count once."""

    @property
    def digest(self) -> str:
        """Of questions and evidence, not of the notes: shows whether two runs are comparable."""
        # JSON and not `repr`, which contains the names of our classes. Texts are left out: they
        # are those of the lines, and runs that were saved without them stay comparable.
        questions = [
            (*question[:-1], [(piece.places, piece.gain) for piece in question.evidence])
            for question in self.questions
        ]
        return hashlib.sha256(json.dumps(questions).encode()).hexdigest()[:16]


def load_dataset(folder: Path, scratch: Path, limit: int | None = None) -> Dataset:
    """Read the dataset in `folder`; passages are written as notes below `scratch`.

    With a `limit`, a sample of so many questions of each workspace.
    """
    # Resolved: the name of the folder is the name of the dataset, also for `eval .`.
    folder = folder.expanduser().resolve()
    dataset = _load(folder, scratch)
    return dataset if limit is None else replace(dataset, questions=_sample(dataset, limit))


def _load(folder: Path, scratch: Path) -> Dataset:
    if (folder / "evidence.json").exists():
        return _load_workspaces(folder)
    if (folder / "workspace").is_dir() and (folder / "queries.jsonl").exists():
        return _load_probe(folder)
    return _load_passages(folder, scratch)


def _sample(dataset: Dataset, limit: int) -> tuple[EvalQuestion, ...]:
    """The same in every run: chosen by the digest of the id, not by the order of the file, in
    which questions of one kind often stand together."""

    def place(question: EvalQuestion) -> bytes:
        return hashlib.sha256(question.id.encode(errors="surrogatepass")).digest()

    by_workspace: dict[str, list[EvalQuestion]] = {}
    for question in sorted(dataset.questions, key=place):
        by_workspace.setdefault(question.workspace, []).append(question)
    chosen = {one.id for questions in by_workspace.values() for one in questions[:limit]}
    return tuple(question for question in dataset.questions if question.id in chosen)


# -- workspaces with evidence --------------------------------------------------------------------


def _load_workspaces(folder: Path) -> Dataset:
    file = read_object(folder / "evidence.json")
    default = file.text("workspace", ".")
    questions = [_question(record, folder, default) for record in file.records("queries")]
    names = sorted({question.workspace for question in questions})
    workspaces = {name: NotesFolder(_below(folder, name)) for name in names}
    for question in questions:
        if any(_is_outside_memory(piece) for piece in question.evidence):
            # Else the evidence would not be indexed, and every system would miss it.
            workspaces[question.workspace] = workspaces[question.workspace]._replace(whole=True)
    return _dataset(folder, workspaces, questions, by_note=False)


def _question(query: Record, folder: Path, default: str) -> EvalQuestion:
    name = query.text("workspace", default)
    workspace = _below(folder, name)
    if not workspace.is_dir():
        raise query.wrong(f"there is no workspace {str(workspace)!r}")
    evidence = tuple(_evidence(record, workspace) for record in query.records("evidence"))
    return EvalQuestion(query.text("query_id"), query.text("text"), query.category, name, evidence)


def _below(folder: Path, workspace: str) -> Path:
    # Relative to the dataset, or absolute: a user's own notes can be evaluated in place.
    return folder / Path(workspace).expanduser()


def _evidence(record: Record, workspace: Path) -> Evidence:
    records = record.records("places") if record.values.get("places") else [record]
    places = tuple(_lines(each) for each in records)
    # One existing place is enough: the others may be transcripts outside the workspace.
    if not any((workspace / place.path).is_file() for place in places):
        raise record.wrong(f"there is no {places[0].path!r} in {str(workspace)!r}")
    return Evidence(places, text=record.text("text", ""))


def _lines(record: Record) -> EvidenceLines:
    path = record.text("path").removeprefix("./")
    lines = EvidenceLines(path, record.line_number("start"), record.line_number("end"))
    if lines.end_line < lines.start_line:
        raise record.wrong(f"the lines end ({lines.end_line}) before they begin")
    return lines


def _is_outside_memory(evidence: Evidence) -> bool:
    """Whether it is in Markdown files that are not notes by default."""
    paths = [place.path for place in evidence.places if place.path.lower().endswith(".md")]
    notes = [path for path in paths if path.startswith("memory/") or path.lower() == "memory.md"]
    return bool(paths) and not notes


def _load_probe(folder: Path) -> Dataset:
    file = folder / "queries.jsonl"
    workspace = folder / "workspace"
    questions = []
    for number, query in enumerate(read_objects(file)):
        path = query.text("path").removeprefix("./")
        if not (workspace / path).is_file():
            raise query.wrong(f"there is no {path!r} in {str(workspace)!r}")
        evidence = (Evidence((EvidenceLines(path),)),)
        kind, name = query.text("kind", ""), f"{folder.name}-{number}"
        questions.append(EvalQuestion(name, query.text("query"), kind, "workspace", evidence))
    whole = any(_is_outside_memory(piece) for question in questions for piece in question.evidence)
    return _dataset(folder, {"workspace": NotesFolder(workspace, whole)}, questions, by_note=True)


# -- passages ------------------------------------------------------------------------------------


def _load_passages(folder: Path, scratch: Path) -> Dataset:
    workspaces, questions = {}, []
    for group in _load_groups(folder, scratch):
        workspaces[group.name] = NotesFolder(group.workspace)
        for query in group.queries:
            gains = group.gains.get(query.text("_id"), {})
            evidence = tuple(
                Evidence((EvidenceLines(note),), gain) for note, gain in gains.items()
            )
            name = f"{group.name}/{query.text('_id')}"
            questions.append(
                EvalQuestion(name, query.text("text"), query.category, group.name, evidence)
            )
    return _dataset(folder, workspaces, questions, by_note=True)


class _PassageGroup(NamedTuple):
    """One corpus and the questions about it."""

    name: str
    workspace: Path
    queries: list[Record]
    gains: Mapping[str, Mapping[str, int]]
    """EvalQuestion id → note → gain."""


def _load_groups(folder: Path, scratch: Path) -> Iterator[_PassageGroup]:
    """The folder itself, or each folder in it that has a corpus."""
    is_group = (folder / "corpus.jsonl").exists()
    groups = (
        [folder] if is_group else sorted(file.parent for file in folder.glob("*/corpus.jsonl"))
    )
    if not groups:
        raise NotADataset(
            str(folder),
            "expected evidence.json, or corpus.jsonl with queries.jsonl and qrels.tsv, here or in "
            "the folders below"
            if folder.is_dir()
            else "there is no such folder",
        )
    # Two datasets whose folders have the same name must not share their notes.
    digest = hashlib.sha256(str(folder).encode(errors="surrogatepass")).hexdigest()[:8]
    for group in groups:
        workspace = scratch / f"{folder.name}-{digest}" / group.name
        notes = _write_notes(group / "corpus.jsonl", workspace)
        gains = _read_gains(group / "qrels.tsv", notes)
        queries = list(read_objects(group / "queries.jsonl"))
        yield _PassageGroup(group.name, workspace, queries, gains)


def _write_notes(corpus: Path, workspace: Path) -> dict[str, str]:
    """Passage id → note. Unchanged files are not written again, so that they stay indexed."""
    notes: dict[str, str] = {}
    folder = workspace / "memory"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for number, passage in enumerate(read_objects(corpus)):
            if passage.text("_id") in notes:
                raise passage.wrong(f"two passages have the id {passage.text('_id')!r}")
            # Notewell searches file names too, and the id of a passage often says what it is
            # about. A plain full-text search does not know ids, so notes are only numbered.
            name = f"{number:06}.md"
            notes[passage.text("_id")] = f"memory/{name}"
            _write(folder / name, _as_note(passage))
        # Notes of an earlier version of the corpus would be found too.
        for stray in {note.name for note in folder.iterdir()} - {f[7:] for f in notes.values()}:
            (folder / stray).unlink()
    except OSError as error:
        raise StateNotWritable(str(folder), error.strerror or str(error)) from error
    return notes


def _as_note(passage: Record) -> bytes:
    title = passage.values.get("title")
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


def _read_gains(qrels: Path, notes: Mapping[str, str]) -> dict[str, dict[str, int]]:
    gains: dict[str, dict[str, int]] = {}
    for number, row in read_rows(qrels):
        if number == 1 and row[0] == "query-id":  # BEIR files have a header, others do not.
            continue
        if len(row) != COLUMNS or not row[2].removeprefix("-").isdecimal():
            raise NotADataset(
                str(qrels), "expected question id, passage id and a whole number, by tabs", number
            )
        query, passage, gain = row[0], row[1], int(row[2])
        if passage not in notes:
            raise NotADataset(str(qrels), f"no passage has the id {passage!r}", number)
        # 0 and below mean "judged, and not relevant".
        if gain > 0:
            gains.setdefault(query, {})[notes[passage]] = gain
    return gains


# -- all formats ---------------------------------------------------------------------------------


def _dataset(
    folder: Path,
    workspaces: Mapping[str, NotesFolder],
    questions: Sequence[EvalQuestion],
    *,
    by_note: bool,
) -> Dataset:
    duplicate = _first_duplicate(question.id for question in questions)
    if duplicate is not None:
        raise NotADataset(str(folder), f"two questions have the id {duplicate!r}")
    answerable = tuple(question for question in questions if question.evidence)
    if not answerable:
        raise NotADataset(str(folder), f"none of its {len(questions)} questions has evidence")
    return Dataset(folder.name, workspaces, answerable, len(questions) - len(answerable), by_note)


def _first_duplicate(names: Iterable[str]) -> str | None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None
