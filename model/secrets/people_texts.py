"""Texts as people write them: one template, or a few, among lines about other things."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from model.secrets.people_languages import Drawing, Language, Template, languages

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

    from model.secrets.marks import Text

TEXTS = 20_000  # with secrets, and as many without
SHARE_ENGLISH = 0.5
SHORTEST_SECRET = 3
_STOPS = {"zh": "。", "ja": "。", "hi": "।", "bn": "।", "ur": "۔", "th": " "}
_ENDS = ".!?。！？।;:؟…۔"
_SECRET = re.compile(r"(⟦[^⟧]*⟧)")


class Writer:
    """Writes the texts of one language."""

    def __init__(self, random: Random, language: Language) -> None:
        self.random = random
        self.language = language
        self.drawing = Drawing(random, language)
        self.english = language.name == "en"
        self._left: dict[bool, list[Template]] = {True: [], False: []}

    def text(self, secret: bool) -> Text | None:
        """None if a sentence stands in it twice, or a secret."""
        template = self._next(secret)
        filled, broken = self._templates(template, secret)
        filled = self._careless(filled, broken)
        filled = self._among_others(filled, template, secret, broken)
        kind = f"people/{self.language.name}/{template.kind}"
        text = self.drawing.complete(_tidy(filled), kind)
        return None if _repeats(text.text) or not _each_once(text) else text

    def _next(self, secret: bool) -> Template:
        """Each template in its turn, each round in another order."""
        if not self._left[secret]:
            self._left[secret] = list(self._pool(secret))
            self.random.shuffle(self._left[secret])
        return self._left[secret].pop()

    def _pool(self, secret: bool) -> tuple[Template, ...]:
        return self.language.with_secret if secret else self.language.without

    def _templates(self, template: Template, secret: bool) -> tuple[str, bool]:
        """The template, at times in a list with others; and whether it takes several lines."""
        chosen = [template]
        alone = template.structured or (template.asks and not secret)
        if not alone and self.random.random() < 0.1:
            others = self.random.choices(self._pool(secret), k=self.random.choice([1, 1, 2]))
            chosen += [
                other
                for other in others
                if not other.structured and other != template and not other.asks
            ]
        if len(chosen) == 1:
            return self._without_stop(self.drawing.filled(template.line)), template.structured
        self.random.shuffle(chosen)
        bullet = self.random.choice(["- ", "* ", "", "• ", "", "1. "])
        lines = [
            (f"{number}. " if bullet == "1. " else bullet) + self.drawing.filled(one.line)
            for number, one in enumerate(chosen, 1)
        ]
        return self._without_stop("\n".join(lines)), True

    def _without_stop(self, filled: str) -> str:
        if filled.endswith((".", "。", "।")) and self.random.random() < 0.15:
            return filled[:-1]
        return filled

    def _careless(self, filled: str, broken: bool) -> str:
        """Without capitals, or with a typing error: never in a secret."""
        if not broken and self.random.random() < (0.12 if self.english else 0.05):
            filled = _without_capitals(filled)
        if self.english and self.random.random() < 0.05:
            filled = self._typing_error(filled)
        return filled

    def _typing_error(self, filled: str) -> str:
        """Two letters swapped, or one left out, or written twice."""
        blanked = _SECRET.sub(lambda mark: " " * len(mark[0]), filled)
        words = list(re.finditer("[A-Za-z]{4,}", blanked))
        if not words:
            return filled
        word = self.random.choice(words)
        at = self.random.randrange(word.start() + 1, word.end() - 1)
        pair = filled[at : at + 2]
        wrong = self.random.choice([pair[::-1], pair[1], pair[0] + pair])
        return filled[:at] + wrong + filled[at + 2 :]

    def _among_others(self, filled: str, template: Template, secret: bool, broken: bool) -> str:
        """With lines about other things before and after it, or at the place of a list item."""
        draw, asks = self.random.random(), template.asks and not secret
        between = "\n" if broken else self.random.choice([" ", "\n", " "])
        if asks:
            return self._line("plain") + between + filled if draw < 0.2 else filled
        if draw < 0.16 or 0.32 <= draw < 0.38:
            filled = self._line("before") + between + filled
        if 0.16 <= draw < 0.38:
            filled = self._ended(filled, between) + between + self._line("after")
        elif 0.38 <= draw < 0.48 and not broken:
            filled = self._item_start(draw < 0.44) + filled
        elif 0.48 <= draw < 0.58 and secret:
            filled = self._beside_clean(filled)
        if self.random.random() < 0.07:
            filled = self._in_long_text(filled)
        return filled

    def _ended(self, filled: str, between: str) -> str:
        if between != " " or filled.rstrip()[-1:] in _ENDS:
            return filled
        return filled + _STOPS.get(self.language.name, ".")

    def _item_start(self, plain: bool) -> str:
        if plain:
            return self.random.choice(["- ", "* ", "[ ] ", "> ", "PS: ", "TODO ", "NB: ", "– "])
        starts = ["‹person›: ", "[‹clock›] ", "‹person›, ‹clock›: ", "‹date›: "]
        return self.drawing.filled(self.random.choice(starts))

    def _beside_clean(self, filled: str) -> str:
        clean = self.random.choice(self.language.without)
        if clean.asks:
            return filled
        parts = [filled, self.drawing.filled(clean.line)]
        self.random.shuffle(parts)
        return "\n".join(parts)

    def _in_long_text(self, filled: str) -> str:
        for _ in range(self.random.choice([2, 3, 4])):
            parts = [filled, self._line("plain")]
            self.random.shuffle(parts)
            filled = self.random.choice(["\n", "\n\n", "\n"]).join(parts)
        return filled

    def _line(self, place: str) -> str:
        """One about something else: `plain` lines fit everywhere."""
        if not self.english:
            own = place == "plain" or self.random.random() < 0.75
            return self.drawing.filled("‹own_line›" if own else "‹card_line›")
        if place == "plain":
            return self.drawing.filled("‹plain_line›")
        return self.drawing.filled(self.random.choice(["‹line›", f"‹{place}›"]))


def _without_capitals(filled: str) -> str:
    parts = _SECRET.split(filled)
    return "".join(part if part.startswith("⟦") else part.lower() for part in parts)


def _tidy(filled: str) -> str:
    """Without two full stops, or spaces before a line break."""
    return re.sub(" +(?=\n)", "", re.sub(r"(?<!\.)\.\.(?!\.)", ".", filled)).strip()


def _repeats(text: str) -> bool:
    sentences = [part.strip() for part in re.split(r"[\n.。।۔]", text) if len(part.strip()) > 9]
    return len(set(sentences)) < len(sentences)


def _each_once(text: Text) -> bool:
    lowered = text.text.lower()
    return all(
        len(secret) >= SHORTEST_SECRET and lowered.count(secret.lower()) == 1
        for secret in text.secrets
    )


def texts(random: Random, secret: bool) -> Iterator[Text]:
    """Without end, each with secrets or none."""
    writers = [Writer(random, language) for language in languages()]
    weights = [len(writer.language.with_secret) ** 0.7 for writer in writers[1:]]
    while True:
        english = random.random() < SHARE_ENGLISH
        writer = writers[0] if english else random.choices(writers[1:], weights)[0]
        text = writer.text(secret)
        if text is not None:
            yield text
