"""The comment at the end of an appended entry: for us to know it by, for nobody to search."""

from __future__ import annotations

import re

# No white space, no `>` and no `--`: nothing that could end the comment.
NAME = r"[A-Za-z0-9][A-Za-z0-9._:/@+-]*"
ID = rf"(?: #{NAME})?"
# Begun only where the white space does: a line of nothing else would be tried from every column.
_MARK = re.compile(rf"(?<![ \t])[ \t]*<!-- @{NAME}{ID} -->[ \t]*$", re.MULTILINE)


def without_marks(text: str) -> str:
    """The same lines, without what says who appended them."""
    return _MARK.sub("", text) if "<!-- @" in text else text
