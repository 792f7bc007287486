"""Meetings and dialogues are cut at lines, and asked about where the answer stands."""

from __future__ import annotations

import json
from random import Random

from model.conversations import (
    Dialogue,
    Wish,
    chunks,
    dialogue_pairs,
    meeting_pairs,
    meetings,
    schema_guided,
    taskmaster,
)
from model.sources import File

TURNS = [
    {"speaker": "Ann", "content": f"We talk about subject number {n} . {{vocalsound}}"}
    for n in range(60)
]
MEETING = {
    "meeting_transcripts": [*TURNS, {"speaker": "Ben", "content": "{disfmarker}"}],
    "specific_query_list": [
        {
            "query": "What was said about the budget?",
            "answer": "The talk was about subject number 40 and nothing else.",
            "relevant_text_span": [["38", "42"]],
        }
    ],
    "topic_list": [{"topic": "Everything", "relevant_text_span": [["0", "60"]]}],
}


def test_chunks_are_whole_lines_in_order() -> None:
    lines = ["a" * 30, "b" * 30, "", "c" * 30, "d" * 200]
    found = chunks(lines, 70)
    assert [(part.first, part.last) for part in found] == [(0, 2), (3, 3), (4, 4)]
    assert found[0].text == "a" * 30 + "\n" + "b" * 30
    assert chunks([]) == []


def test_a_meeting_is_lines_with_names_and_numbers_kept() -> None:
    [meeting] = meetings([File("m.json", json.dumps(MEETING))])
    assert len(meeting.lines) == 61
    assert meeting.lines[3] == "Ann: We talk about subject number 3."
    assert meeting.lines[60] == ""


def test_a_question_is_answered_by_the_chunk_that_its_span_names() -> None:
    found = list(
        meeting_pairs(meetings([File("m.json", json.dumps(MEETING))]), "meetings", Random(1))
    )
    asked = [pair for pair in found if "budget" in pair.query]
    assert asked
    assert all("number 4" in pair.passage for pair in asked)
    assert all("number 40" not in pair.negative for pair in asked)
    assert any(pair.query.startswith("The talk was") for pair in found)


def test_a_dialogue_knows_what_its_user_asked_for() -> None:
    state = {
        "active_intent": "ReserveRestaurant",
        "slot_values": {"city": ["San Jose"], "party_size": ["2"]},
    }
    record = {
        "turns": [
            {"speaker": "USER", "utterance": "A table in San Jose.", "frames": [{"state": state}]},
            {"speaker": "SYSTEM", "utterance": "When?", "frames": [{}]},
        ]
    }
    [dialogue] = schema_guided([File("d.json", json.dumps([record]))], Random(1))
    assert dialogue.lines[0] == f"{dialogue.user}: A table in San Jose."
    assert dialogue.wishes == (
        Wish("reserve restaurant", "city", "San Jose"),
        Wish("reserve restaurant", "party size", "2"),
    )


def test_a_value_is_asked_for_where_it_is_named() -> None:
    lines = (
        *[f"Assistant: {'Something else entirely. ' * 8}" for _ in range(8)],
        "Ann: A table at Sino in San Jose.",
    )
    wishes = (
        Wish("reserve", "city", "San Jose"),
        Wish("reserve", "name", "Sino"),
        Wish("reserve", "size", "2"),
        Wish("find films", "genre", "Comedy"),
    )
    dialogue = Dialogue(lines, "Ann", wishes)
    for pair in dialogue_pairs([dialogue] * 20, "dialogues", Random(1)):
        assert "Ann: A table" in pair.passage
        assert "Ann: A table" not in pair.negative
        assert "San Jose" in pair.query or "Sino" in pair.query
        assert "Comedy" not in pair.query
    assert list(dialogue_pairs([Dialogue(lines, "Ann")], "dialogues", Random(1))) == []


def test_an_order_is_lines_with_names() -> None:
    record = {
        "utterances": [
            {"speaker": "user", "text": "A latte, please."},
            {"speaker": "assistant", "text": " "},
        ]
    }
    [order] = taskmaster([File("o.json", json.dumps([record]))], Random(1))
    assert order.lines == (f"{order.user}: A latte, please.",)
