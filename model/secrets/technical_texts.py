"""Texts as machines write them, and people to machines: configuration, code, commands, logs.

A template stands alone, or among lines of the same sort; the generic ones of `grid.txt`,
`tokens.txt`, `urls.txt`, `webhooks.txt` and `near.txt` are put together from parts.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from model.secrets import marks
from model.secrets.technical_parts import Draft, Parts
from model.secrets.technical_values import FOLDER, Drawing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

    from model.secrets.marks import Text

WRITTEN = {"with": 5, "without": 9}  # times that each template is written
# Those of these files are few for what they cover: whole families of programs and devices.
WRITTEN_OF_FEW = {"with": 13, "without": 12}
FEW = {
    "devices", "languages", "layouts", "lookalikes", "requests", "services", "settings",
    "source", "terminal", "vendors",
}  # fmt: skip
TRIES = 12  # A short secret may stand in the text twice.
MIXED = 900  # texts of many parts, with secrets, and as many without
LONGEST_MIXED = 700  # characters of the secrets: a text is not mainly secrets
SHORTEST_SECRET = 4
SHORT_LINE = 110
LONG_CLEAN = 500
_KINDS = ("with", "without")
_LINE_STARTS = ["  ", "    ", "\t", "> ", "+", "# ", "- ", "1. ", "// "]
_JSON_SHAPES = [
    '{"role":"tool","content":"%s"}', '{"type":"text","text":"%s"}', '{"stdout":"%s","rc":0}',
    '{"msg": "%s"}', '"%s\\n",',
]  # fmt: skip
_FENCES = ["", "yaml", "sh", "python", "json", "ini"]
_CLOSED = {"`": "`", "“": "”"}
# What ends so goes on in the next line.
_UNFINISHED = (":", "=", "›")
_ASKING = ("=", "?", "？")


def drafts(folder_kind: str) -> list[Draft]:
    """The templates with secrets, or those without; of the files that are no parts."""
    return [
        Draft(
            section.title.partition(" ")[2],
            line,
            (WRITTEN_OF_FEW if path.stem in FEW else WRITTEN)[folder_kind],
        )
        for path in sorted(FOLDER.glob("*.txt"))
        for section in marks.sections(path)
        for line in section.lines
        if section.title.startswith(f"{folder_kind} ") and path.name != "grid.txt"
    ]


class Writer:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.drawing = Drawing(random)
        self.with_secret, self.without = (drafts(kind) for kind in _KINDS)
        names = self.drawing.known["secret_name"] + self.drawing.known["foreign_name"]
        # After such an end, in a text without secrets, the next line would be read as one.
        self.asking = (*_ASKING, *(name.lower() for name in names))

    def texts_with_secrets(self) -> Iterator[Text]:
        parts = Parts(self.drawing)
        for draft in [
            *_repeated(self.with_secret), *parts.grid(), *parts.tokens(),
            *parts.webhooks(), *parts.urls(),
        ]:  # fmt: skip
            yield from self._first_good(draft)
        for _ in range(MIXED):
            yield self._mixed()

    def _first_good(self, draft: Draft) -> Iterator[Text]:
        for _ in range(TRIES):
            text = self._in_place(self._written(draft))
            if each_once(text):
                yield text
                return

    def texts_without(self) -> Iterator[Text]:
        parts = Parts(self.drawing)
        for draft in [*_repeated(self.without), *parts.clean_grid(), *parts.near()]:
            # A template with few values would be the same text many times.
            fixed = draft.line.count("‹") < 2 and self.random.random() < 0.93
            text = self._written(draft)
            yield self._among_lines(text, least=1) if fixed else self._in_place(text)
        for _ in range(MIXED):
            texts = [self._clean_part(0.7) for _ in range(self.random.randint(3, 10))]
            yield self._joined(texts)

    def _written(self, draft: Draft) -> Text:
        filled = self.drawing.filled(draft.line)
        return self.drawing.complete(filled, f"technical/{draft.kind}")

    def _in_place(self, text: Text) -> Text:
        """Alone, among lines, after a prompt or a prefix, in JSON, or in a code block."""
        draw = self.random.random()
        if draw < 0.30:
            return self._among_lines(text, least=0)
        if draw < 0.36 and "\n" not in text.text:
            return text.within(self.random.choice(_LINE_STARTS), "")
        if 0.36 <= draw < 0.42 and text.kind not in ("technical/log", "technical/prose"):
            return self._quoted(text)
        if 0.42 <= draw < 0.47:
            return self._in_json(text)
        if 0.47 <= draw < 0.50:
            return text.within(f"```{self.random.choice(_FENCES)}\n", "\n```")
        return text

    def _among_lines(self, text: Text, least: int) -> Text:
        before = [self._line() for _ in range(self.random.randint(least, 2))]
        after = [self._line() for _ in range(self.random.randint(0, 2))]
        asks = not text.secrets and text.text.lower().rstrip().endswith(self.asking)
        if asks or text.text.endswith((":", "\n", ": ")):
            after = []
        return text.within(
            "".join(f"{line}\n" for line in before), "".join(f"\n{line}" for line in after)
        )

    def _line(self) -> str:
        if self.random.random() < 0.15:
            for _ in range(9):
                line = self.random.choice(self.without).line
                if len(line) < SHORT_LINE and "⏎" not in line and not _goes_on(line):
                    return self.drawing.filled(line)
        return self.drawing.value("line")

    def _quoted(self, text: Text) -> Text:
        start = self.drawing.value("found_in")
        if "\n" in text.text:
            return text.within(start.rstrip("`“$ ") + "\n```\n", "\n```")
        return text.within(start, _CLOSED.get(start, ""))

    def _in_json(self, text: Text) -> Text:
        start, _, end = self.random.choice(_JSON_SHAPES).partition("%s")
        return text.changed(_in_json_string).within(start, end)

    def _clean_part(self, share_of_templates: float) -> Text:
        if self.random.random() >= share_of_templates:
            return self._written(Draft("mixed", "‹line›"))
        while True:
            text = self._written(self.random.choice(self.without))
            if len(text.text) < LONG_CLEAN and not _goes_on(text.text):
                return text

    def _mixed(self) -> Text:
        while True:
            texts = [self._clean_part(0.6) for _ in range(self.random.randint(2, 8))]
            for _ in range(self.random.choice([1, 1, 1, 2, 3])):
                at = self.random.randint(0, len(texts))
                texts.insert(at, self._written(self.random.choice(self.with_secret)))
            text = self._joined(texts)
            if sum(map(len, text.secrets)) <= LONGEST_MIXED and each_once(text):
                return text

    def _joined(self, texts: list[Text]) -> Text:
        between = self.random.choice(["\n", "\n", "\n\n"])
        secrets = tuple(secret for text in texts for secret in text.secrets)
        return marks.Text(between.join(text.text for text in texts), secrets, "technical/mixed")


def _repeated(drafts: list[Draft]) -> list[Draft]:
    return [draft for draft in drafts for _ in range(draft.times)]


def _goes_on(line: str) -> bool:
    return line.rstrip().endswith(_UNFINISHED) or line.endswith("\n")


def _in_json_string(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)[1:-1]


def each_once(text: Text) -> bool:
    """Whether each secret stands in it once, and none in another, or in spaces."""
    return all(
        len(secret) >= SHORTEST_SECRET
        and secret == secret.strip()
        and text.text.count(secret) == 1
        for secret in text.secrets
    ) and not any(
        one in other
        for at, one in enumerate(text.secrets)
        for other in text.secrets[:at] + text.secrets[at + 1 :]
    )
