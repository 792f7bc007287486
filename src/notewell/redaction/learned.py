"""Values that no rule names, found by the words around them: a linear model.

    text without what the rules found ──▶ lines near a word about secrets
        ──▶ values with a digit ──▶ features (context.py) ──▶ sum of their weights ──▶ above the bar?

People tell secrets in more ways than rules can list. The weights were learned from generated texts
and from the pages and programs of other projects (`model/secrets`).
"""
# ruff: noqa: E501 - a pattern is read as a whole

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from notewell.redaction.compiled import compile_later
from notewell.redaction.context import (
    MASKED,
    Around,
    Element,
    bag,
    elements,
    features_around,
    own_features,
)
from notewell.redaction.plausible import is_example, is_public
from notewell.redaction.rulebook import lines_in_blocks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Span = tuple[int, int]

KIND = "secret"
WEIGHTS = Path(__file__).with_name("learned_weights.bin")
SCALE = 32
"""A weight is kept as a byte: its value times this."""
BAR = 1.5
"""For the sum of the weights. `python -m model.secrets` prints what is found and what is wrong with others."""
HOPELESS = -2.5
"""With so little from its own shape and signs, no value in the texts that the model learned from was a secret."""

LINES_ABOVE, LINES_BELOW = 1, 2
"""How far from a word about secrets a value is looked for."""
MAX_LINE_CHARS = 1500
NEAR_CHARS = 100
"""So much of the lines around says what they are about."""
MAX_ROUNDS = 4
"""The first finds nearly all. A chain of values, each of which gives away the next, must not take forever."""
REACH = 4
"""Lines whose features a value changes: two above or below, each behind a blank one."""
MIN_CHARS, MAX_CHARS = 4, 200

CUES = (
    r"pass[ _-]?(?:w|ph|c|k|t\b|:|=|[_.]|\b)|[_.]pass|pas+(?:w?o?r?d|e\b)|pas?sw|pwd|\bpw|[_-]pw|p/w|\bpsw|kennw|losung|contrase|clave|parol|senha|palavra|wachtw|hesl|has[lł][oa]|l[öo]senord|adgang|kode|passord|salasan|tunnus|jelsz|[şs]ifre|lozink|geslo|slapta[zž]|sandi|kunci|mật kh|khóa|mdp|mot de|motdep|secr|секрет|парол|пасс?ворд|\bкод|пин|лозинк|шифр|κωδικ|κλειδ|συνθημ"
    r"|密码|密碼|口令|密钥|密鑰|秘钥|令牌|验证码|驗證碼|暗号|暗證|パスワ|パスコ|パスフ|暗証|認証|合言葉|キー|コード|トークン|비밀|비번|암호|패스|코드|토큰|인증|번호|كلمة|رمز|مفتاح|باسورد|الرقم|گذر|پسورد|סיסמ|קוד|מפתח|पासवर्ड|कूट|कुंजी|कोड|पिन|পাস|কোড|পিন|รหัส|พิน"
    r"|\bpins?\b|[_-]pin\b|pinco|\bpuk|\botp|2fa|\bmfa|totp|\bkod|codes?\b|codi[cg]|cód|\bkód|koodi|\bmã\b|combination|kombin|keys?\b|[_-]key|key[_:=]|apikey|schlüssel|schluess|geheim|\bcl[ée]\b|jeton|chiave|segret|chave|segred|sleutel|klucz|klíč|kľúč|nyckel|n[øo]gle|nøkkel|avain|kulcs|anahtar|cheie|ключ|token|токен|credential|creds?\b|bearer|\bauth|log-?in|log in|sign ?in|zugang|identifiant|credenc|inlog|logow|wi-?fi|wlan|psk|wpa|recovery|\bseed|salt\b|hmac|licen[sc]e|activation|unlock|alarm|tresor|voicemail|security (?:q|a)|memorable|mnemonic|identified by"
)
"""Words about secrets, for RE2, without case."""
_CHARS = compile_later(r"[^\n]")
_DIGIT = compile_later(r"\d")
_TOKEN = compile_later(r"[^\s\"'`<>|,;(){}\[\]]{4,}")
_NEVER = compile_later(
    r"(?i)[./~].*|.*://.*|[\w.+-]+@[\w-]+\..*|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|v?\d+(?:\.\d+)+|(?:19|20)\d\d|512|1024|2048|4096|8192|16384|32768|65536|\d{4}-\d\d-\d\d.*|\d{1,2}:\d\d(?::\d\d.*)?|.*§.*"
)
_TAIL = compile_later(r"[!#$%&*?+=^~@-]+(?=[\s\"'`]|$)")


def learned_spans(data: bytes, known: Iterable[Span]) -> list[Span]:
    """The spans of secrets outside of those that are `known`, which have no overlaps. In bytes."""
    if not _cues().search(data):
        return []
    text = hidden(data, known)
    spans = likely_spans(text)
    if not spans:
        return []
    whole = _text(data)
    return [(len(_bytes(whole[:start])), len(_bytes(whole[:end]))) for start, end in spans]


def hidden(data: bytes, known: Iterable[Span]) -> str:
    """The text with as many characters and lines, those of known secrets replaced."""
    parts: list[str] = []
    at = 0
    for start, end in known:
        parts += (_text(data[at:start]), _CHARS.sub(MASKED, _text(data[start:end])))
        at = end
    return "".join([*parts, _text(data[at:])])


def likely_spans(text: str) -> list[Span]:
    """The spans of secrets in `text`, in which each masked character is `MASKED`."""
    found: list[Span] = []
    lines = _lines_near_cues(_bytes(text))
    # A value that is found changes the words around the others, so they are looked at again:
    # the masked text must give the same answer.
    for _ in range(MAX_ROUNDS):
        more = [one for one in possible_secrets(text, lines) if _is_secret(one)]
        if not more:
            break
        found += [one.span for one in more]
        text = _with_masks(text, [one.span for one in more])
        changed = {near for one in more for near in range(one.line - REACH, one.line + REACH + 1)}
        lines = [line for line in lines if line in changed]
    return sorted(found)


def _with_masks(text: str, spans: Iterable[Span]) -> str:
    parts: list[str] = []
    at = 0
    for start, end in spans:
        parts += (text[at:start], MASKED * (end - start))
        at = end
    return "".join([*parts, text[at:]])


def _is_secret(value: PossibleSecret) -> bool:
    own = _sum(value.own_features())
    # Most values are a version, a number or an identifier whatever the words around them.
    return own > HOPELESS and own + _sum(value.features_around()) > BAR


def _sum(features: Iterable[int]) -> float:
    weights = _weights()
    return sum(weights[index] for index in features) / SCALE


class PossibleSecret:
    """A value that could be a secret, where it is in the text, and what is around it."""

    def __init__(self, text: _Text, line: int, place: int) -> None:
        self._text, self.line, self._place = text, line, place
        word, end = text.words(line)[place], 0
        if tail := _TAIL.match(text.lines[line], word.end):
            end = tail.end()
        start = text.start_of(line)
        self.span = (start + word.start, start + (end or word.end))

    def own_features(self) -> set[int]:
        line = self.line
        return own_features(self._text.lines[line], self._text.words(line), self._place)

    def features_around(self) -> set[int]:
        line = self.line
        return features_around(self._text.words(line), self._place, self._text.around(line))


def possible_secrets(text: str, lines: Sequence[int] | None = None) -> Iterator[PossibleSecret]:
    """In these lines, or in all that are near a word about secrets."""
    if lines is None:
        lines = _lines_near_cues(_bytes(text))
    if not lines:
        return
    read = _Text(text)
    for line in lines:
        # Most lines have no such value, and a regular expression is quicker than `words`.
        if any(map(_may_be_secret, _TOKEN.findall(read.lines[line]))):
            for place, word in enumerate(read.words(line)):
                if _may_be_secret(word.text):
                    yield PossibleSecret(read, line, place)


@lru_cache(1 << 12)
def _may_be_secret(value: str) -> bool:
    return (
        MIN_CHARS <= len(value) <= MAX_CHARS
        and _DIGIT.search(value) is not None
        and not _NEVER.fullmatch(value)
        and not is_example(value)
        and not is_public(value)
    )


class _Text:
    """The words of each line, read when they are needed."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self._starts = [0]
        self._words: dict[int, list[Element]] = {}
        self._around: dict[int, Around] = {}

    def start_of(self, line: int) -> int:
        """In characters of the text."""
        starts = self._starts
        while len(starts) <= line:
            starts.append(starts[-1] + len(self.lines[len(starts) - 1]) + 1)
        return starts[line]

    def words(self, line: int) -> list[Element]:
        if line not in self._words:
            text = self.lines[line]
            self._words[line] = elements(text) if len(text) <= MAX_LINE_CHARS else []
        return self._words[line]

    def around(self, line: int) -> Around:
        if line not in self._around:
            above = self._next(line, -1)
            further = self._next(above, -1) if above is not None else None
            below = self._next(line, 1)
            self._around[line] = Around(
                above=bag(self.lines[above][-NEAR_CHARS:]) if above is not None else (),
                further_above=bag(self.lines[further][-NEAR_CHARS:])
                if further is not None
                else (),
                below=bag(self.lines[below][:NEAR_CHARS]) if below is not None else (),
            )
        return self._around[line]

    def _next(self, line: int, step: int) -> int | None:
        """The next line that is not blank; at most one blank line is skipped."""
        for one in (line + step, line + 2 * step):
            if 0 <= one < len(self.lines) and self.lines[one].strip():
                return one
        return None


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _lines_near_cues(data: bytes) -> list[int]:
    near: set[int] = set()
    number = counted_to = 0
    for start, end in lines_in_blocks(data):
        for cue in _cues().finditer(data[start:end]):
            at = start + cue.start()
            number += data.count(b"\n", counted_to, at)
            counted_to = at
            near.update(range(number - LINES_ABOVE, number + LINES_BELOW + 1))
    count = data.count(b"\n") + 1
    return sorted(number for number in near if 0 <= number < count)


@cache
def _cues() -> Any:
    import re2  # type: ignore[import-untyped]

    return re2.compile(f"(?i){CUES}")


@cache
def _weights() -> memoryview:
    """A byte for each feature, signed."""
    return memoryview(WEIGHTS.read_bytes()).cast("b")
