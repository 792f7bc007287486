"""The page of what is masked is made from the rules."""

from __future__ import annotations

from pathlib import Path

from scripts.docs.redaction_page import redaction_page

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "redaction.md"


def test_the_page_says_what_the_rules_say() -> None:
    # `python -m scripts.docs.redaction_page > docs/reference/redaction.md` writes it.
    assert PAGE.read_text(encoding="utf-8") == redaction_page()
