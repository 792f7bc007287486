"""Markdown that is hard to read: each shape as long as asked for, named for what it piles up."""

from __future__ import annotations

from collections.abc import Callable

PLAIN = "Some words in a line of prose that is plain.\n"


def _filled(unit: str, *, head: str = "", tail: str = "") -> Callable[[int], str]:
    return lambda chars: head + unit * (chars // len(unit)) + tail


def _numbered(template: str) -> Callable[[int], str]:
    return lambda chars: "".join(template % n for n in range(chars // (len(template) + 3)))


def _staircase(unit: str, end: str) -> Callable[[int], str]:
    """Each line one level deeper than the one before."""
    return lambda chars: "".join(
        unit * n + end for n in range(int((2 * chars / len(unit)) ** 0.5))
    )


def _inflated_tables(chars: int) -> str:
    """Each of 1800 characters asks for as many cells as the parser gives to one table."""
    table = "|a" * 222 + "|\n" + "|-" * 222 + "|\n" + "|b\n" * 290 + "\n"
    return table * (chars // len(table) + 1)


def _wide_table(chars: int) -> str:
    columns = chars // 8
    return "|a" * columns + "|\n" + "|-" * columns + "|\n" + "|b\n" * (chars // 8)


SHAPES: dict[str, Callable[[int], str]] = {
    "quotes, one line": _filled(">"),
    "quotes, many lines": _filled("> " * 50 + "a\n"),
    "quotes, a staircase": _staircase(">", "a\n"),
    "quotes, lazy": _filled("b\n", head="> a\n"),
    "lists, one line": _filled("- "),
    "lists, ordered": _filled("1. "),
    "lists, a staircase": _staircase("  ", "- a\n"),
    "lists, many entries": _filled("- a\n"),
    "lists, one after another": _filled("- a\n* b\n"),
    "lists, loose": _filled("- a\n\n"),
    "lists in quotes": _filled(">- " * 9 + "a\n"),
    "lists, continued": _filled("- a\n b\n"),
    "brackets": _filled("["),
    "brackets, closed": lambda chars: "[" * (chars // 2) + "]" * (chars // 2),
    "emphasis": _filled("*a_"),
    "stars": _filled("*"),
    "links": _filled("[a](b"),
    "images": _filled("!["),
    "less than": _filled("<"),
    "table, wide": _wide_table,
    "tables, inflated": _inflated_tables,
    "tables, inflated in quotes": lambda chars: (
        "> " + _inflated_tables(chars).replace("\n", "\n> ")
    ),
    "table, tall": _filled("|c|d|\n", head="|a|b|\n|-|-|\n"),
    "tables": _filled("|a|b|\n|-|-|\n\n"),
    "table, rules only": _filled("|-|-|\n"),
    "entities": _filled("&amp;"),
    "entities, numbers": _filled("&#x10FFFF;"),
    "definitions": _numbered("[%d]: x\n"),
    "definitions, apart": _numbered("[%d]: x\n\n"),
    "definitions, an open title": _filled("c\n", head='[a]: b "'),
    "definitions, open titles": _filled('[a]: b "\n'),
    "definitions, open labels": _filled("[a\n"),
    "fences": _filled("```\n"),
    "fence, open": _filled("a\n", head="```\n"),
    "backticks": _filled("`"),
    "html": _filled("<div>\n"),
    "html, open comments": _filled("<!--\n"),
    "html, open tags": _filled("<a b='"),
    "html, CDATA": _filled("<![CDATA[\n\n"),
    "headings": _filled("# a\n"),
    "headings, underlined": _filled("a\n-\n"),
    "heading, closed by many": _filled("#", head="# a "),
    "heading, blanks": _filled(" ", head="# a", tail="b"),
    "rules": _filled("* * *\n"),
    "front matter, open": _filled("a: &a [*a, *a]\n", head="---\n"),
    "front matter, aliases": _filled("- *a\n", head="---\na: &a [1, 2]\n", tail="---\n"),
    "blank lines": _filled("\n"),
    "blanks": _filled(" "),
    "tabs": _filled("\t\n"),
    "one word": _filled("a"),
    "one line": _filled("word "),
    "one line, CJK": _filled("温"),
    "marks on one letter": _filled("\u0301", head="a"),
    "emoji joined": _filled("👩\u200d"),
    "flags": _filled("🇩🇪"),
    "zero width": _filled("\u200b"),
    "right to left": _filled("\u202eabc "),
    "byte order marks": _filled("\ufeff"),
    "our own mark, open": _filled(" ", head="<!-- @"),
    "our own marks": _filled("a <!-- @mcp -->\n"),
    "open comments on a line": _filled("<!-- "),
}
