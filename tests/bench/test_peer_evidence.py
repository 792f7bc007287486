"""Found and seen mean the same for a peer that names lines and for one that does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from bench.peers.evidence import SEEN_CHARS, Judge, place_of
from bench.peers.peer import PeerAnswer, PeerHit

from notewell.evals.dataset import EvalQuestion, Evidence, EvidenceLines

NOTE = [
    "# 2023-05-08",
    "",
    "## Evening",
    'Ana said "hello" & left.',
    "",
    "Ben painted a sunrise.",
    "## Evening",
    "Nobody came.",
]
PATH = "memory/2023-05-08.md"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("\n".join(NOTE), (1, 8)),
        ("Ben  painted\na sunrise.", (6, 6)),
        # A heading that stands twice belongs to the longer run, and a blank line breaks none.
        ('## Evening\nAna said "hello" & left.\nBen painted a sunrise.', (3, 7)),
        ("painted a sun", (6, 6)),
        ("Carl slept.", (0, 0)),
        ("", (0, 0)),
    ],
)
def test_a_text_without_lines_gets_those_of_the_note(text: str, lines: tuple[int, int]) -> None:
    assert place_of(text, NOTE) == lines


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    (tmp_path / "memory").mkdir()
    (tmp_path / PATH).write_text("\n".join(NOTE), encoding="utf-8")
    return Judge(tmp_path)


def question(*spans: tuple[int, int]) -> EvalQuestion:
    evidence = tuple(Evidence((EvidenceLines(PATH, *span),)) for span in spans)
    return EvalQuestion("q", "?", "", "one", evidence)


def test_lines_and_text_are_found_alike(judge: Judge) -> None:
    asked = question((4, 4), (6, 6))
    named = judge.verdict(asked, PeerAnswer((PeerHit(PATH, "cut", 4, 5),), ""))
    by_text = judge.verdict(asked, PeerAnswer((PeerHit(PATH, NOTE[3]),), ""))
    assert (named.any_found, named.all_found) == (by_text.any_found, by_text.all_found)
    assert (named.any_found, named.all_found) == (True, False)


def test_the_right_text_of_another_note_is_not_found(judge: Judge) -> None:
    verdict = judge.verdict(question((4, 4)), PeerAnswer((PeerHit("memory/x.md", NOTE[3]),), ""))
    assert not verdict.any_found


def test_only_the_first_six_hits_count(judge: Judge) -> None:
    wrong = PeerHit(PATH, "", 1, 1)
    right = PeerHit(PATH, "", 4, 4)
    assert not judge.verdict(question((4, 4)), PeerAnswer((wrong,) * 6 + (right,), "")).any_found


def test_evidence_is_seen_in_plain_text_in_json_and_in_quotations(judge: Judge) -> None:
    asked = question((4, 4), (6, 6))
    as_json = json.dumps({"snippet": f"{NOTE[3]}\n{NOTE[5]}"}, indent=2)
    for answer in (
        PeerAnswer((), f"{NOTE[3]} {NOTE[5]}"),
        PeerAnswer((), as_json, is_json=True),
        PeerAnswer((), NOTE[3].replace("&", "&amp;") + "\n" + NOTE[5]),
    ):
        assert judge.verdict(asked, answer).all_seen


def test_what_stands_behind_the_budget_is_not_seen(judge: Judge) -> None:
    late = "x" * SEEN_CHARS + NOTE[5]
    verdict = judge.verdict(question((6, 6)), PeerAnswer((), late))
    assert verdict.any_seen is False
    assert verdict.chars == len(late)


def test_a_long_note_as_evidence_is_not_measured(tmp_path: Path) -> None:
    (tmp_path / "long.md").write_text("word " * 1000, encoding="utf-8")
    asked = EvalQuestion("q", "?", "", "one", (Evidence((EvidenceLines("long.md"),)),))
    verdict = Judge(tmp_path).verdict(asked, PeerAnswer((PeerHit("long.md", "word", 1, 1),), ""))
    assert verdict.any_found
    assert verdict.any_seen is None
