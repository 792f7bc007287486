"""Headings and docstrings are asked for, and answered by what stands below them."""

from __future__ import annotations

from random import Random

from model.documents import Document, Section
from model.pairs import (
    PASSAGE_CHARS,
    PASSAGE_CHARS_ZH,
    code_pairs,
    heading_pairs,
    heading_pairs_zh,
)
from model.sources import File

LONG = "A sentence that says something about it.\n" * 30
DOCUMENT = Document(
    "a.md",
    "Pods at work",
    (
        Section("", 0, LONG),
        Section("Restart policy", 2, LONG),
        Section("Examples", 2, LONG),
        Section("See also", 2, LONG),
        Section("Short", 2, "Too short."),
    ),
)


def test_sections_that_say_something_are_asked_for() -> None:
    found = list(heading_pairs([DOCUMENT] * 20, "docs", Random(1)))
    assert len(found) == 60
    for pair in found:
        assert "pods" in pair.query.lower() or "restart policy" in pair.query.lower()
        assert "see also" not in pair.query.lower()
        assert len(pair.passage) <= PASSAGE_CHARS + len("# Pods at work › ## Restart policy\n\n")


def test_most_passages_stand_below_their_headings() -> None:
    found = list(heading_pairs([DOCUMENT] * 200, "docs", Random(1)))
    below = sum(pair.passage.startswith("# Pods at work") for pair in found)
    assert 0.5 < below / len(found) < 0.7
    assert "# Pods at work › ## Restart policy\n\nA sentence" in "".join(
        pair.passage for pair in found
    )


def test_only_a_heading_of_its_own_has_another_section_as_negative() -> None:
    for pair in heading_pairs([DOCUMENT] * 20, "docs", Random(1)):
        assert bool(pair.negative) == ("restart policy" in pair.query.lower())


def test_the_same_seed_asks_the_same_questions() -> None:
    first, second = (list(heading_pairs([DOCUMENT], "docs", Random(7))) for _ in range(2))
    assert first == second


def test_chinese_sections_are_asked_for_in_chinese() -> None:
    text = "这是一个说明容器如何重新启动的段落。\n" * 40
    document = Document(
        "a.md", "容器", (Section("重启策略", 2, text), Section("English", 2, LONG))
    )
    found = list(heading_pairs_zh([document] * 10, "docs", Random(1)))
    assert len(found) == 10
    for pair in found:
        assert "重启策略" in pair.query
        assert len(pair.passage) <= PASSAGE_CHARS_ZH + len("# 容器 › ## 重启策略\n\n")


CODE = '''
class Graph:
    def degree(self, node):
        """Return the number of edges at a node.

        More about it.
        """
        edges = self.edges[node]
        return len(edges)

    def no_docstring(self):
        return 1


def stub():
    """Only this sentence and nothing else."""
'''


def test_a_docstring_asks_for_its_function() -> None:
    found = list(code_pairs([File("graph.py", CODE)] * 20, "code", Random(1)))
    assert len(found) == 20
    for pair in found:
        assert "return the number of edges at a node" in pair.query.lower()
        assert pair.passage.startswith("def degree(self, node):\n    ")
    assert {"More about it." in pair.passage for pair in found} == {True, False}


def test_tests_and_broken_files_hold_no_functions() -> None:
    files = [File("pkg/tests/a.py", CODE), File("test_a.py", CODE), File("a.py", "def (")]
    assert list(code_pairs(files, "code", Random(1))) == []
