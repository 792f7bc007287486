"""Templates that are put together: of a key and a value, a service and its token, an address."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from model.secrets import marks
from model.secrets.technical_values import FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from model.secrets.technical_values import Drawing

WRITTEN_WITH_SECRET = 26  # times that each line of the grid is written
WRITTEN_WITHOUT = 44
NEAR = 46
TOKENS = 5
HOOKS = 6
URLS = 11
_SECRET = re.compile("⟦[^⟧]*⟧")
_PIN_KEY = re.compile(r"(^|[_.-])(pin|puk|暗証番号|code_pin)([_.\d-]|$)", re.IGNORECASE)
_TOKEN_KEY = re.compile(
    "(seed|salt|license|session|signing|hmac|encryption|jwt|token|tok|apikey|api_key"
    "|client_secret)",
    re.IGNORECASE,
)
_TOKEN_VALUES = ["⟦token⟧", "⟦hex⟧", "⟦Y22-48⟧", "⟦B24⟧", "⟦uuid⟧"]
# Who reads such a token alone knows what it is.
_TELLING = re.compile(
    r"(gh[ps]_|github_|gl|ATBB|ATATT|xox|xapp|MT|syt_|EAA|AIza|ya29|GOCSPX|dop_|dnsimple|HRKU"
    r"|FlyV1|rnd_|nfp_|sbp_|napi|pscale|CCDB1|pcsk|sk-|hf_|r8_|gsk_|pplx|xai-|fw_|jina_|tvly"
    r"|lsv2|rpa_|sk_|rk_|whsec|SG\.|key-|xkeysib|re_|NRAK|sntrys|dt0c|squ_|CCIPAT|bkua|pul-"
    r"|dp\.|hvs|ops_|npm_|pypi|rubygems|dckr|AKCp|packagist|perm:|lin_api|ntn_|pat|figd|shpat"
    r"|sdk-|CFPAT|tskey|RGAPI|PMAK|pnu_|dapi|dbtc|phx_|cflt)"
)


@dataclass(frozen=True, slots=True)
class Draft:
    kind: str
    line: str
    times: int = 1
    """That it is written."""


class Parts:
    def __init__(self, drawing: Drawing) -> None:
        self.drawing = drawing
        self.random = drawing.random

    def grid(self) -> Iterator[Draft]:
        """Each way to write a value of a key, with keys whose values are secrets."""
        for line in _lines("grid.txt", "with grid"):
            for _ in range(WRITTEN_WITH_SECRET):
                key = self.drawing.value("key")
                yield Draft("grid", _with_key(self._fitting(line, key), key))

    def _fitting(self, line: str, key: str) -> str:
        draw = self.random.random()
        if _PIN_KEY.search(key) and draw < 0.75:
            return _SECRET.sub("⟦pin⟧", line)
        if _TOKEN_KEY.search(key) and draw < 0.6:
            return _SECRET.sub(self.random.choice(_TOKEN_VALUES), line)
        if draw < 0.05:
            return _SECRET.sub("⟦unicode⟧", line)
        return _SECRET.sub("⟦short⟧", line) if draw > 0.94 else line

    def clean_grid(self) -> Iterator[Draft]:
        """With the same keys, and values that only say where the secret is."""
        for line in _lines("grid.txt", "without grid"):
            for _ in range(WRITTEN_WITHOUT):
                yield Draft("grid", _with_key(line, self.drawing.value("key")))

    def near(self) -> Iterator[Draft]:
        """Keys like those of secrets, with values that look random and are none."""
        lines = _lines("grid.txt", "without grid")
        for near in _lines("near.txt", "near"):
            keys, _, values = near.partition(" = ")
            for _ in range(NEAR):
                key = self._varied(self.random.choice(keys.split()))
                value = self.random.choice(marks.alternatives(values))
                line = self.random.choice(lines).replace("‹value›", value)
                yield Draft("near", _with_key(line, key))

    def _varied(self, key: str) -> str:
        draw = self.random.random()
        if draw < 0.35:
            return f"{self.drawing.value('system')}_{key}"
        if draw < 0.48:
            return key.upper()
        return key.replace("_", "-") if draw < 0.56 else key

    def tokens(self) -> Iterator[Draft]:
        """The token of each service, in the shape that the service gives it."""
        wrappers = _lines("tokens.txt", "wrapper")
        bare = _lines("tokens.txt", "bare wrapper")
        for token in _lines("tokens.txt", "token"):
            service, name, shape = token.split("|")
            chosen = self.random.choices(wrappers, k=TOKENS)
            if _TELLING.match(shape):
                chosen.append(self.random.choice(bare))
            for wrapper in chosen:
                yield Draft("token", self._token(wrapper, service, name, shape))

    def _token(self, wrapper: str, service: str, name: str, shape: str) -> str:
        if self.random.random() >= 0.6:
            name = self.drawing.filled(self.random.choice(["‹SYSTEM›_", "MY_", "CI_"])) + name
        lower = name.lower()
        written = self.random.choice([lower, marks.CHANGES["inner"](lower)])
        marked = wrapper.replace("⟦T⟧", f"⟦={shape}⟧").replace("‹ENV›", name)
        return marked.replace("‹env›", written).replace("‹service›", service)

    def webhooks(self) -> Iterator[Draft]:
        """Addresses that whoever knows them may call."""
        wrappers = _lines("webhooks.txt", "wrapper")
        for hook in _lines("webhooks.txt", "hook"):
            for wrapper in self.random.sample(wrappers, HOOKS):
                yield Draft("webhook", wrapper.replace("%s", hook))

    def urls(self) -> Iterator[Draft]:
        """Passwords in addresses of each scheme."""
        wrappers = _lines("urls.txt", "wrapper")
        shapes = _lines("urls.txt", "url")
        for scheme in _lines("urls.txt", "scheme"):
            for _ in range(URLS):
                url = self.random.choice(shapes).replace("‹scheme›", scheme)
                yield Draft("url", self.random.choice(wrappers).replace("%s", url))


def _lines(name: str, title: str) -> tuple[str, ...]:
    return next(
        section.lines for section in marks.sections(FOLDER / name) if section.title == title
    )


def _with_key(line: str, key: str) -> str:
    """The key as the syntax of the line can have it."""
    flag = re.sub("[^A-Za-z0-9]+", "-", key).strip("-").lower() or "password"
    constant = re.sub("[^A-Za-z0-9]", "_", key).upper().strip("_") or "PASSWORD"
    forms = {
        "key": key, "key_word": re.sub(r"[^\w.-]", "", key), "key-flag": flag, "KEY": constant,
    }  # fmt: skip
    return re.sub("‹(key|key_word|key-flag|KEY)›", lambda mark: forms[mark[1]], line)
