"""The recipes of the architecture page name files that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
RECIPES = dict(re.findall(r"^### (Add [^\n]+)\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL))
PATH = re.compile(r"`((?:src|tests|docs|scripts|bench)/[\w./-]+|README\.md)`")


def test_there_is_a_recipe_for_each_thing_people_add() -> None:
    assert list(RECIPES) == [
        "Add an embedding provider",
        "Add a host",
        "Add a program to import from",
        "Add a setting",
        "Add a command",
        "Add a storage engine",
    ]


@pytest.mark.parametrize("recipe", RECIPES)
def test_every_file_that_a_recipe_names_exists(recipe: str) -> None:
    named = PATH.findall(RECIPES[recipe])
    assert len(named) >= 3
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_every_name_in_the_table_of_who_is_who_is_defined_where_the_page_says() -> None:
    table = PAGE.partition("## Who is who")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \|.*\| `(src/[\w./]+)` \|$", table, re.MULTILINE)
    assert len(rows) >= 10
    for name, path in rows:
        text = (ROOT / path).read_text(encoding="utf-8")
        assert re.search(rf"^(?:class|def) {name}\b", text, re.MULTILINE), (name, path)
