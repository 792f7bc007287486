"""Questions with known answers, in the two forms public sets come in.

    workspaces   `evidence.json` beside one or more workspaces: a question names path and lines
    passages     `corpus.jsonl`, `queries.jsonl`, `qrels.tsv`: a question names passages; each
                 becomes a note, so that chunking and all the rest is part of what is measured

A folder of such folders is one set; each question is asked in its own workspace only.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from recollect import RecollectError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


class Evidence(NamedTuple):
    """Where an answer stands; a passage is evidence from its first line to its last."""

    path: str
    start_line: int
    end_line: int
    gain: int = 1


class Question(NamedTuple):
    """What is asked, and where the answer stands."""

    id: str
    text: str
    category: str
    workspace: str
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Dataset:
    """A set of questions and the workspaces they are asked in."""

    name: str
    workspaces: Mapping[str, Path]
    questions: tuple[Question, ...]
    unanswerable: int
    """Questions without evidence: they are counted, not asked."""
    by_note: bool
    """Whether an answer is a note as a whole; several hits in one note then count once."""


class NotADataset(RecollectError):
    """The folder has none of the forms we read."""


EVERY_LINE = 10**9


def load_dataset(folder: Path, scratch: Path) -> Dataset:
    """Read the set in `folder`; passages are written out as notes below `scratch`."""
    if (folder / "evidence.json").exists():
        return _load_workspaces(folder)
    if (folder / "workspace").is_dir() and (folder / "queries.jsonl").exists():
        return _load_probe(folder)
    groups = [folder] if (folder / "corpus.jsonl").exists() else sorted(folder.glob("*/"))
    groups = [group for group in groups if (group / "corpus.jsonl").exists()]
    if not groups:
        raise NotADataset(
            f"{str(folder)!r} is no evaluation set: expected evidence.json, or corpus.jsonl with "
            f"queries.jsonl and qrels.tsv"
        )
    return _load_passages(folder.name, groups, scratch)


# -- workspaces with evidence --------------------------------------------------------------------


def _load_workspaces(folder: Path) -> Dataset:
    told = json.loads((folder / "evidence.json").read_text(encoding="utf-8"))
    questions = [
        _ranged(query, str(told.get("workspace", "workspace"))) for query in told["queries"]
    ]
    asked = tuple(question for question in questions if question.evidence)
    names = {question.workspace for question in questions}
    workspaces = {name: folder / name for name in sorted(names)}
    return Dataset(folder.name, workspaces, asked, len(questions) - len(asked), by_note=False)


def _ranged(query: Mapping[str, Any], otherwise: str) -> Question:
    evidence = tuple(
        Evidence(one["path"], one["start"], one["end"]) for one in query.get("evidence", ())
    )
    category = str(query.get("meta", {}).get("category", ""))
    workspace = str(query.get("workspace", otherwise))
    return Question(query["query_id"], query["text"], category, workspace, evidence)


def _load_probe(folder: Path) -> Dataset:
    """Questions that name the note they are about."""
    questions = tuple(
        Question(
            f"{folder.name}-{number}",
            query["query"],
            str(query.get("kind", "")),
            "workspace",
            (Evidence(query["path"], 1, EVERY_LINE),),
        )
        for number, query in enumerate(_json_lines(folder / "queries.jsonl"))
    )
    workspaces = {"workspace": folder / "workspace"}
    return Dataset(folder.name, workspaces, questions, 0, by_note=True)


# -- passages ------------------------------------------------------------------------------------


def _load_passages(name: str, groups: list[Path], scratch: Path) -> Dataset:
    workspaces, questions, unanswerable = {}, [], 0
    for group in groups:
        workspace = scratch / name / group.name
        notes = _write_notes(group / "corpus.jsonl", workspace)
        judged = _judgements(group / "qrels.tsv")
        workspaces[group.name] = workspace
        for query in _json_lines(group / "queries.jsonl"):
            evidence = tuple(
                Evidence(notes[passage], 1, EVERY_LINE, gain)
                for passage, gain in judged[query["_id"]].items()
                if passage in notes
            )
            unanswerable += not evidence
            if evidence:
                category = str(query.get("meta", {}).get("category", ""))
                question_id = f"{group.name}/{query['_id']}"
                questions.append(
                    Question(question_id, query["text"], category, group.name, evidence)
                )
    return Dataset(name, workspaces, tuple(questions), unanswerable, by_note=True)


def _write_notes(corpus: Path, workspace: Path) -> dict[str, str]:
    """Passage id → note. What is already there and the same is left alone, so it stays indexed."""
    notes: dict[str, str] = {}
    for number, passage in enumerate(_json_lines(corpus)):
        safe = re.sub(r"[^\w.-]+", "-", passage["_id"]).removesuffix(".md")[:80]
        notes[passage["_id"]] = f"memory/{number:06}/{safe}.md"
        title = passage.get("title") or ""
        text = f"# {title}\n\n{passage['text']}\n" if title else f"{passage['text']}\n"
        path = workspace / notes[passage["_id"]]
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="")
    return notes


def _judgements(qrels: Path) -> defaultdict[str, dict[str, int]]:
    judged: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for line in qrels.read_text(encoding="utf-8").splitlines():
        query, passage, gain = (*line.split("\t"), "", "")[:3]
        if gain.isdigit() and int(gain) > 0:
            judged[query][passage] = int(gain)
    return judged


def _json_lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from (json.loads(line) for line in file if line.strip())
