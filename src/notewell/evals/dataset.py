"""Questions with known answers, in the forms that sets come in.

    workspaces   `evidence.json` beside one or more workspaces: a question names path and lines
    probe        `queries.jsonl` beside `workspace/`: a question names a note
    passages     `corpus.jsonl`, `queries.jsonl`, `qrels.tsv`: a question names passages; each
                 becomes a note, so that chunking and all the rest is part of what is measured

A folder of such groups of passages is one set. Each question is asked in its own workspace only.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from notewell.errors import NotADataset
from notewell.evals.passages import load_groups
from notewell.evals.records import Record, read_object, read_objects

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

EVERY_LINE = 10**9
"""A note is evidence as a whole: no note has a line beyond this one."""


class Place(NamedTuple):
    """Lines of a note, both ends included."""

    path: str
    start_line: int = 1
    end_line: int = EVERY_LINE


class Evidence(NamedTuple):
    """One piece of an answer. Where it stands in several places, any of them will do."""

    places: tuple[Place, ...]
    gain: int = 1


class Question(NamedTuple):
    """What is asked, and where the answer stands."""

    id: str
    text: str
    category: str
    workspace: str
    evidence: tuple[Evidence, ...]


class NotesFolder(NamedTuple):
    """A workspace to ask in."""

    path: Path
    whole: bool = False
    """Whether every Markdown file below it is a note, not only MEMORY.md and memory/."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A set of questions and the workspaces they are asked in."""

    name: str
    workspaces: Mapping[str, NotesFolder]
    questions: tuple[Question, ...]
    unanswerable: int
    """Questions without evidence: they are counted, not asked."""
    by_note: bool
    """Whether an answer is a note as a whole; several hits in one note then count once."""

    @property
    def digest(self) -> str:
        """Tells whether two runs were asked the same: questions and evidence, not the notes."""
        return hashlib.sha256(repr(self.questions).encode()).hexdigest()[:16]


def load_dataset(folder: Path, scratch: Path) -> Dataset:
    """Read the set in `folder`; passages are written out as notes below `scratch`."""
    folder = folder.expanduser().resolve()
    if (folder / "evidence.json").exists():
        return _load_workspaces(folder)
    if (folder / "workspace").is_dir() and (folder / "queries.jsonl").exists():
        return _load_probe(folder)
    return _load_passages(folder, scratch)


# -- workspaces with evidence --------------------------------------------------------------------


def _load_workspaces(folder: Path) -> Dataset:
    told = read_object(folder / "evidence.json")
    otherwise = told.text("workspace", ".")
    questions = [_ranged(record, folder, otherwise) for record in told.records("queries")]
    names = sorted({question.workspace for question in questions})
    workspaces = {name: NotesFolder(_below(folder, name)) for name in names}
    for question in questions:
        if any(_is_loose(piece) for piece in question.evidence):
            workspaces[question.workspace] = workspaces[question.workspace]._replace(whole=True)
    return _dataset(folder, workspaces, questions, by_note=False)


def _ranged(query: Record, folder: Path, otherwise: str) -> Question:
    name = query.text("workspace", otherwise)
    workspace = _below(folder, name)
    if not workspace.is_dir():
        raise query.wrong(f"there is no workspace {str(workspace)!r}")
    evidence = tuple(_piece(record, workspace) for record in query.records("evidence"))
    return Question(query.text("query_id"), query.text("text"), query.category, name, evidence)


def _below(folder: Path, workspace: str) -> Path:
    """A workspace is named from its set, or may lie anywhere: one's notes stay where they are."""
    return folder / Path(workspace).expanduser()


def _piece(record: Record, workspace: Path) -> Evidence:
    listed = record.records("places") if record.told.get("places") else [record]
    places = tuple(_place(one) for one in listed)
    if not any((workspace / place.path).is_file() for place in places):
        raise record.wrong(f"there is no {places[0].path!r} in {str(workspace)!r}")
    return Evidence(places)


def _place(record: Record) -> Place:
    path = record.text("path").removeprefix("./")
    place = Place(path, record.line_number("start"), record.line_number("end"))
    if place.end_line < place.start_line:
        raise record.wrong(f"the lines end ({place.end_line}) before they begin")
    return place


def _is_loose(evidence: Evidence) -> bool:
    """Whether it stands in Markdown outside of what every workspace takes in."""
    paths = [place.path for place in evidence.places if place.path.lower().endswith(".md")]
    kept = [path for path in paths if path.startswith("memory/") or path.lower() == "memory.md"]
    return bool(paths) and not kept


def _load_probe(folder: Path) -> Dataset:
    file = folder / "queries.jsonl"
    workspace = folder / "workspace"
    questions = []
    for number, query in enumerate(read_objects(file)):
        path = query.text("path").removeprefix("./")
        if not (workspace / path).is_file():
            raise query.wrong(f"there is no {path!r} in {str(workspace)!r}")
        evidence = (Evidence((Place(path),)),)
        kind, name = query.text("kind", ""), f"{folder.name}-{number}"
        questions.append(Question(name, query.text("query"), kind, "workspace", evidence))
    whole = any(_is_loose(piece) for question in questions for piece in question.evidence)
    return _dataset(folder, {"workspace": NotesFolder(workspace, whole)}, questions, by_note=True)


# -- passages ------------------------------------------------------------------------------------


def _load_passages(folder: Path, scratch: Path) -> Dataset:
    workspaces, questions = {}, []
    for group in load_groups(folder, scratch):
        workspaces[group.name] = NotesFolder(group.workspace)
        for query in group.queries:
            judged = group.judged.get(query.text("_id"), {})
            evidence = tuple(Evidence((Place(note),), gain) for note, gain in judged.items())
            name = f"{group.name}/{query.text('_id')}"
            questions.append(
                Question(name, query.text("text"), query.category, group.name, evidence)
            )
    return _dataset(folder, workspaces, questions, by_note=True)


def _dataset(
    folder: Path,
    workspaces: Mapping[str, NotesFolder],
    questions: Sequence[Question],
    *,
    by_note: bool,
) -> Dataset:
    twice = _first_twice(question.id for question in questions)
    if twice is not None:
        raise NotADataset(str(folder), f"two questions have the id {twice!r}")
    asked = tuple(question for question in questions if question.evidence)
    if not asked:
        raise NotADataset(
            str(folder), f"none of its {len(questions)} questions says where its answer stands"
        )
    return Dataset(folder.name, workspaces, asked, len(questions) - len(asked), by_note)


def _first_twice(names: Iterable[str]) -> str | None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None
