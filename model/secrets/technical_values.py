"""Secrets of machines that a template cannot write: quoted, escaped or encoded for their place."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import TYPE_CHECKING

from model.secrets import marks

if TYPE_CHECKING:
    from random import Random

FOLDER = Path(__file__).parent / "technical"
PUNCTUATION = "!@#%*-_+=.?^,:~"
# Which punctuation a value of each kind may have: what its place would not have to quote.
_ALLOWED = {
    "password": PUNCTUATION,
    "shell": "!@%-_+=.^",
    "quoted": "!@#%&*()-_+=.?^,:~'<>|;/[]{}",
    "single": '!@#%&*()-_+=.?^,:~$<>|;/[]{}"',
    "url": "!*-_.~",
}
_ESCAPES = {
    "quoted": ['\\"', "\\\\", "\\u0026", "\\t", '\\"', "/"],
    "xml": ["&amp;", "&lt;", "&gt;", "&quot;", "&apos;", "&#38;"],
    "url": ["%40", "%23", "%2F", "%21", "%3A", "%24", "%26"],
}
_PEM_BYTES = [48, 96, 144, 240, 384]
_PEM_BREAKS = {
    "pem": "\n",
    "pem_escaped": "\\n",
    "pem_indent2": "\n  ",
    "pem_indent4": "\n    ",
    "pem_indent8": "\n        ",
    "pem_quoted": "\n> ",
    "pem_concatenated": '\\n" +\n  "',
    "pem_one_line": "",
}


class Drawing(marks.Drawing):
    def __init__(self, random: Random) -> None:
        sections = [
            section for path in sorted(FOLDER.glob("*.txt")) for section in marks.sections(path)
        ]
        super().__init__(random, marks.fillers(sections))
        self.made = {
            "password": lambda: self.password("password"),
            "shell": lambda: self.password("shell"),
            "quoted": lambda: self._escaped("quoted", one_in=12),
            "single": lambda: self._any_or("single"),
            "xml": lambda: self._escaped("xml", one_in=6),
            "url": self._in_url,
            "any": lambda: self._any_or("password"),
            "alnum": lambda: re.sub("[^A-Za-z0-9]", "", self.password("shell")) or "k3Tm",
            "mixed": self._mixed,
            "jwt": self._jwt,
            "b64_basic": lambda: _b64(f"{self.value('name')}:{self.password('password')}"),
            "b64_plain": lambda: _b64(f"\0{self.value('name')}\0{self.password('password')}"),
            "b64_password": lambda: _b64(self.password("password")),
            "b64_password_line": lambda: _b64(self.password("password") + "\n"),
            "ansible_vault": lambda: self._ansible_vault("\n"),
            "ansible_vault_indented": lambda: self._ansible_vault("\n          "),
        }
        for name in _PEM_BREAKS:
            self.made[name] = self._pem(name)

    def password(self, kind: str) -> str:
        shape = self.value("password_shape")
        value = re.sub("¤", lambda _: self.random.choice(_ALLOWED[kind]), shape)
        return value if value[-1] not in ",.:~" else value[:-1] + self.value("c:A1")

    def _any_or(self, kind: str) -> str:
        """A password, or a longer value: tokens, keys."""
        draw = self.random.random()
        if kind != "password" and draw < 0.25:
            return self.password(kind)
        return (
            self.value("long_secret") if self.random.random() < 0.4 else self.password("password")
        )

    def _escaped(self, kind: str, one_in: int) -> str:
        value = self._any_or(kind if kind in _ALLOWED else "password")
        return value if self.random.randrange(one_in) else self._with_escape(value, kind)

    def _with_escape(self, value: str, kind: str) -> str:
        at = self.random.randint(1, len(value) - 1)
        return value[:at] + self.random.choice(_ESCAPES[kind]) + value[at:]

    def _in_url(self) -> str:
        value = self.password("url") if self.random.randrange(4) else self.value("c:A10-32")
        value = re.sub("[^A-Za-z0-9!*._~-]", lambda mark: f"%{ord(mark[0]):02X}", value)
        return value if self.random.randrange(5) else self._with_escape(value, "url")

    def _mixed(self) -> str:
        """Letters and digits with much punctuation."""
        letters = marks.ALPHABETS["A"] + "¤" * 26
        inner = "".join(self.random.choices(letters, k=self.random.randint(9, 22)))
        return self.value("c:A1") + inner + self.value("c:A1")

    def _jwt(self) -> str:
        algorithm = self.random.choice(["HS256", "RS256", "ES256"])
        issued = self.random.randint(1_500_000_000, 1_700_000_000)
        expires = self.random.randint(1_700_000_000, 1_900_000_000)
        head = f'{{"alg":"{algorithm}","typ":"JWT"}}'
        claims = f'{{"sub":"{self.value("name")}","iat":{issued},"exp":{expires}}}'
        return f"{_b64url(head)}.{_b64url(claims)}.{self.value('c:Y43')}"

    def _pem(self, name: str) -> marks.Made:
        def made() -> str:
            value = self.value(f"c:B{self.random.choice(_PEM_BYTES)}")
            lines = [value[start : start + 64] for start in range(0, len(value), 64)]
            return _PEM_BREAKS[name].join(lines)

        return made

    def _ansible_vault(self, line_break: str) -> str:
        """Digits of digits in hexadecimal, as `ansible-vault` writes them."""
        digits = "".join(self.random.choice("36") + self.value("c:D1") for _ in range(160))
        return line_break.join(digits[start : start + 80] for start in range(0, 320, 80))


def _b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _b64url(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
