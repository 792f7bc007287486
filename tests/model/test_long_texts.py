"""Long texts have the lines and the length of what a memory holds."""

from __future__ import annotations

import re
from random import Random

from model.documents import Document, Section
from model.long_texts import MAX_CHARS, MAX_CHARS_ZH, MIN_CHARS, LongText
from model.parallel import Parallel

from model import long_texts

THINGS = ("train", "garden", "teacher", "window", "dinner", "bicycle", "village", "river")
SENTENCES = [
    f"{who} {verb} the {one} near the {other}."
    for who in ("I", "We", "My sister")
    for verb in ("like", "know", "remember")
    for one in THINGS
    for other in THINGS
    if one != other
]


def test_sections_and_articles_keep_their_headings() -> None:
    document = Document("a.md", "Pods", (Section("Run", 2, "word " * 100), Section("No", 2, "x")))
    assert [text.heading for text in long_texts.sections([document], "docs")] == [
        "# Pods › ## Run"
    ]
    wikitext = " = Lobster = \n short \n = = Size = = \n " + "It weighs 0 @.@ 7 kg , <unk> . " * 20
    [article] = long_texts.articles(wikitext, "wikitext")
    assert article.heading == "# Lobster › ## Size"
    assert article.text.startswith("It weighs 0.7 kg,. It")


def test_transcripts_are_whole_lines_in_one_style() -> None:
    spoken = [tuple(f"Ann: Sentence number {n} of this meeting." for n in range(60))] * 30
    found = list(long_texts.transcripts(spoken, "meetings", Random(1)))
    assert found
    for text in found:
        assert MIN_CHARS <= len(text.text) <= MAX_CHARS
        assert all(line.endswith("of this meeting.") for line in text.text.split("\n"))
    starts = {re.sub(r"\d", "0", text.text.split("Ann")[0]) for text in found}
    assert starts == {"", "**", "[0000-00-00 00:00] ", "- 00:00 "}


def made(kind: str) -> list[LongText]:
    return list(getattr(long_texts, f"made_{kind}")(SENTENCES, 40, "made", Random(1)))


def test_made_texts_are_as_many_and_as_long_as_asked_for() -> None:
    for kind in ("conversations", "notes", "diaries"):
        found = made(kind)
        assert len(found) == 40
        assert all(MIN_CHARS <= len(text.text) <= MAX_CHARS for text in found)
        assert found == made(kind)


def test_made_conversations_have_speakers_and_notes_have_bullets() -> None:
    lines = [line for text in made("conversations") for line in text.text.split("\n")]
    assert all(":" in line for line in lines)
    for text in made("notes"):
        assert text.heading
        assert all(re.match(r"([-*]|1\.) ", line) for line in text.text.split("\n"))
    assert all(text.text.startswith(("I ", "We ", "My ")) for text in made("diaries"))


def test_a_made_text_says_nothing_twice() -> None:
    topics = long_texts.Topics(SENTENCES)
    for seed in range(20):
        found = topics.some(12, Random(seed))
        assert len(set(found)) == len(found) <= 12


def test_neighbours_are_of_one_document_and_fit() -> None:
    lines = [
        Parallel(f"Line {n}.", f"第{n}行。" + "字" * 60, "docs", f"docs:{n // 20}")
        for n in range(60)
    ]
    found = list(long_texts.neighbours(lines, Random(1)))
    documents = {line.en: line.document for line in lines}
    assert found
    for text in found:
        assert 3 <= len(text.lines) <= 14
        assert len({documents[line.en] for line in text.lines}) == 1
        assert sum(len(line.zh) for line in text.lines) <= MAX_CHARS_ZH


def test_everyday_sentences_become_dialogues_and_bullets() -> None:
    lines = [Parallel(sentence, "句子。", "tatoeba", "tatoeba") for sentence in SENTENCES]
    found = list(long_texts.everyday(lines, 40, Random(1)))
    assert len(found) == 40
    assert {text.style for text in found} == {"dialogue", "bullets", "paragraphs"}
