"""Where the value of a name is: the grammars of settings, code, markup, commands and speech.

    before │ name │ tail ──▶ the first grammar that reads a value in the tail ──▶ ValuePlace(span, tie, quoted)

Every pattern here is anchored at the end of the name, and reads a bounded tail.
"""
# ruff: noqa: E501 - a pattern is read as a whole

from __future__ import annotations

import re
from typing import Literal, NamedTuple, TypeAlias

from notewell.redaction.compiled import compile_later

Tie: TypeAlias = Literal[
    "place", "assign", "spaced", "cell", "verb", "perhaps", "pair", "next", "remark"
]
"""How a name and its value belong together:

place    nothing but the value can be there: `<password>…</`, `"name": "PW", "value": "…"`, `--password …`
assign   `password=…`, `"password": …`
spaced   `password = …`: a setting, or a variable of a program
cell     `| password | … |`
verb     `the password for guests is …`
perhaps  `the password … in …`: a verb, or another word that looks like one
pair     `user anna, password …`
next     `password …`
remark   `password (…)`
"""


class ValuePlace(NamedTuple):
    start: int
    """In characters of the tail; `end`, too."""
    end: int
    tie: Tie
    quoted: bool


_SCRIPTS = (
    "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0900-\u097f\u0e00-\u0e7f\u0600-\u06ff\u0590-\u05ff"
)
_QUOTED = compile_later(
    r"""[@NrbLu]?\\{0,3}(?:"(?P<a>[^"\n]{1,200}?)\\{0,3}"|'(?P<b>[^'\n]{1,200}?)\\{0,3}'|`{1,3}(?P<c>[^`\n]{1,200})`"""
    r"|[“„](?P<d>[^“”\n]{1,80})[”“]|[‘‚](?P<e>[^‘’\n]{1,80})[’‘]|[«»](?P<f>[^«»\n]{1,80})[«»]"
    r"|[「『](?P<g>[^」』\n]{1,80})[」』]|\*\*(?P<h>[^*\n]{1,80})\*\*|\|\|(?P<j>[^|\s]{1,80})\|\||<(?P<i>[^<>\s/]{1,60}[\d!@#$%^&*?_][^<>\s/]{0,60})>)"
)
_TAG = compile_later(r"!!str[ ]+|!unsafe[ ]+|<b>|<code>|<strong>|<em>")
_OPEN_QUOTE = compile_later(r"""\\{0,3}["'](?P<a>[^\s"']{3,200})""")
_SCRIPT_VALUE = compile_later(
    r"(?P<a>[\u3040-\u30ff\u3400-\u9fff]{1,5}[-_.]?[a-z]{0,8}\d{2,8}|[\uac00-\ud7af\u0590-\u05ff\u0600-\u06ff\u0900-\u097f]{2,12}[-_.]?\d{2,8}"
    r"|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0590-\u05ff\u0600-\u06ff]{1,12}(?:[-_.][\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0590-\u05ff\u0600-\u06ff]{1,12}){1,5}\d{0,8})(?=\s|$|[\"'<，。、,])"
)
_BARE = compile_later(
    rf"[*_]{{0,3}}(?P<a>[^\s\"'`<>|,;“”„«»（）()【】。，、；：「」『』{_SCRIPTS}]+)"
)
_CLOSED = compile_later(r"""(?:\\{0,3}["'`”’»」』]|[*_]{1,3}|\](?!\()|\)|\}|\[\d*\])*+""")
_REMARK = compile_later(r"[ ]?[(\[（]([^()\[\]（）\n]{1,40})[)\]）][*_]{0,2}")
_SIGN = compile_later(
    r"[ \t\u3000]*(?P<sign>:=|[=~-]>|→|⇒|={1,3}|[:：]|\?=|\|\|=?|\?\?|<-|[–—…]|--?(?=[ \t])|\.{3}|[;\t](?=[^\s;,]+\s*(?:\n|$)))[*_]{0,3}[ \t\u3000]*"
)
_TYPED = compile_later(r":[ \t]*[A-Za-z][\w\[\]|., <>?*&]{0,30}?[ \t]*=[ \t]*")
_ATTRIBUTE = compile_later(
    r"""["']?[\s,;]*(?:\{\s*(?:[>+\d]{1,4}\s{1,8})?(?:(?:type|description|sensitive|nullable|ephemeral)\s*=[^\n]{1,80}\n\s*(?:[>+\d]{1,4}\s{1,8})?){0,4})?(?:\w{1,16}=["'][^"'\n]{0,40}["']\s{1,4}){0,3}(?:--)?["']?"""
    r"""(?:[a-z]*value|default|content|val|body|secret-string)["']?[ \t]*(?:[:=][ \t]*|[ \t])""",
    re.IGNORECASE,
)
_ELEMENT = compile_later(
    r"""(?:["'](?:\s[^<>\n]{0,80})?>|(?:\s[^<>\n]{0,80})?>|</\w{1,20}>[\s>+\d]{0,40}<\w{1,20}>|["']\s{0,4}>\s{0,40}<\w{1,20}>|</t[hd]>\s*<td>)"""
    r"\s{0,40}(?P<a>[^\s<>]{3,200})\s{0,40}</"
)
_DEFAULT = compile_later(r":-?(?P<a>[^\s}\"'$]{3,200})\}")
_CALL = compile_later(r"""["']\s{0,4},\s{0,8}N?["'](?P<a>[^"'\n\s]{3,200})["']""")
_METHOD = compile_later(r"""[({]\s{0,4}["'](?P<a>[^"'\n\s]{3,200})["']\s{0,4}[)}]""")
MAX_USER_CHARS = 80
_NEXT_PARAMETER = compile_later(r"&(?:amp;)?[A-Za-z_][\w.-]{0,40}=|\\[nr]")
_SPACE = compile_later(r"[ \t]+")
_FLAG = compile_later(r"[ \t]+|=")
_CELL = compile_later(
    r"[`*]{0,3}[ \t]*\|[ \t]*(?P<q>[`*]{0,3})(?P<a>[^\s|`*]{3,80})[`*]{0,3}[ \t]*(?:\||$)",
    re.MULTILINE,
)
_SCRIPT_VERB = compile_later(
    r"(?:は|が|を|也|就|还|都|现在|改|设|換|换|置|定|成|为|為|是|了|叫|는|은|이|가|를|을|هو|هي|है|คือ|[ \t:：=「『→-])*+"
)
_FILLERS = r"(?:[ ]+(?!is |was |to )[^\W\d_][\w'’-]{0,24}){0,6}?"
SURE_VERBS = "|".join(
    (
        "(?:is |was |has been |been |got )?(?:set|changed|reset|updated|switched) to|is|was|should be|must be|reads|remains|becomes|equals",
        "ist|war|lautet|heißt|est|c'est|était|sera|es|era|sigue siendo|é|è|continua sendo|jest|это|är|wordt|είναι|היא|هي|هو|है|คือ",
    )
)
VERBS = "|".join((
    "are|were|be|to|it['’]s|that['’]s|called|auf|pour|en|a|para|in|come|naar|na|на|такой|у нас|er|till|til|on|je|este|là",
    "thành|adalah|olarak",
))  # fmt: skip
_STILL = r"(?:[ ]+(?:now|still|just|again|only|jetzt|noch|nun|ahora|maintenant|nu|agora)){0,2}"
_OF = (
    r"(?:[ ]+(?:for|of|to|on|at|from|behind|für|fürs|vom|von|zu|zum|pour|du|de|del|do|da|di|van|k|od|от|для|new|nuova|nueva|neu|prod|old|hint)\b"
    r"(?:[ ]+(?!is |was |to )[^\W\d_][\w'’@.-]{0,40}){0,5}?)?"
)
# The name, perhaps whose it is, and a verb or a sign.
_SURE = compile_later(
    rf"{_OF}(?:['’]s|[ ]+(?:{SURE_VERBS}){_STILL}[ \t]*[:：]?)[ \t]+|{_OF}[ \t]*(?:[:：=](?![)(-])|[=-]>|→)[*_]{{0,3}}[ \t]*"
    r"|(?:[ ]for)?[ ]'[^'\n]{1,80}':[ \t]*",
    re.IGNORECASE,
)
_PERHAPS = compile_later(
    rf"{_FILLERS}(?:[ ]+(?:{SURE_VERBS}|{VERBS}){_STILL}[ \t]*[:：]?[ \t]+|[ \t]*(?:[:：=](?![)(-])|[=-]>|→)[*_]{{0,3}}[ \t]*)",
    re.IGNORECASE,
)
_FOREIGN_OF = compile_later(
    r"(?i)(?:[ ]+(?:от|для|к|do|de|del|du|da|ke|k|till)(?=[ ])){0,2}[ ]+(?:wi-?fi\w{0,4}|вай-?фая|вайфая|базы|сервера|роутера)[ ]+"
)
_INSERTED = compile_later(r",[ ](?P<a>[^\s,;\"'`]{4,60}),")

_PLACED_BEFORE = compile_later(
    r"(?:#define|\b(?:ENV|ARG|setenv|setx|set -x|set -gx|setq|def|defvar|%let|config set|SET))[ \t]{1,4}$|\((?:def|setq|defvar)[ ]$"
)
_PAIR_BEFORE = compile_later(
    r"(?i)(?:\b(?:user(?:name)?|login|id|un|usr|account|benutzer|utente|usuario|usuário|gebruiker|kullanıcı|логин|user-?id|network|wi-?fi|ssid|wlan|guest network|id)(?:[ \t]{0,4}+[:=][ \t]{0,4}+|[ \t]{1,4}+)(?:is[ ]|ist[ ])?[\"“]?"
    r"[\w.@+-]{2,60}(?:[ ]\d{3}){0,2}[\"”]?[\s,;/]{1,4}(?:and[ ]|und[ ]|with[ ]|the[ ]|and the[ ])?)$"
)
_GETTERS = compile_later(r"(?i)(?:getenv|environ\.get|env|get|fetch|getProperty|setdefault)\($")
_SETTERS = compile_later(
    r"(?i)(?:\b(?:set|put|add|define|values?|setenv|with|option|property|insert|register|store|save)\w*|\bcfg|\bVALUES)[ ]?\([ ]?[\"']?$"
)


def value_beside(name: str, before: str, tail: str) -> ValuePlace | None:
    """The value that belongs to `name`; `before` is its line up to it, `tail` what comes behind it."""
    return (
        _placed(name, before, tail)
        or _assigned(tail)
        or _in_cell(before, tail)
        or _said(name, before, tail)
    )


def _placed(name: str, before: str, tail: str) -> ValuePlace | None:
    first = tail[:1]
    if before.endswith("${") and first == ":":
        return _group(_DEFAULT.match(tail), "place")
    if first in "\"'" and before.endswith(('("', "('", '( "', "( '")):
        is_call = _GETTERS.search(before[:-1]) or _SETTERS.search(before[:-1])
        return _group(_CALL.match(tail), "place") if is_call else None
    if first in "({" and not name.lower().startswith(
        ("get", "has", "hash", "verify", "compare", "encode")
    ):
        return _group(_METHOD.match(tail), "place")
    if name.startswith("-") and name.strip("-") and (space := _FLAG.match(tail)):
        return _value_at(
            tail,
            space.end(),
            "place" if name.startswith("--") or (name[2:] and name.islower()) else "next",
        )
    if (
        _PLACED_BEFORE.search(before)
        and (space := _SPACE.match(tail))
        and tail[space.end() :][:1] != "="
    ):
        return _value_at(tail, space.end(), "place")
    if (
        first in "\"'<> \n\r,"
        and (element := _ELEMENT.match(tail))
        and before.rstrip("\"' ")[-1:] in "<>:=/"
    ):
        return _group(element, "place")
    attribute = _ATTRIBUTE.match(tail)
    return _value_at(tail, attribute.end(), "place") if attribute else None


def _assigned(tail: str) -> ValuePlace | None:
    closed = _CLOSED.match(tail)
    at = closed.end() if closed else 0
    if remark := _REMARK.match(tail, at):
        sign = _SIGN.match(tail, remark.end())
        if not sign:
            inside = remark.start(1)
            return (
                ValuePlace(inside, remark.end(1), "remark", quoted=False)
                if " " not in remark[1]
                else None
            )
        at = remark.end()
    sign = _TYPED.match(tail, at) or _SIGN.match(tail, at)
    if not sign:
        return None
    text = sign[0]
    is_spaced = text[:1] in " \t" and text[-1:] in " \t" and "=" in text
    return _value_at(tail, sign.end(), "spaced" if is_spaced else "assign")


def _in_cell(before: str, tail: str) -> ValuePlace | None:
    if not before.lstrip(" \t>").startswith("|"):
        return None
    cell = _CELL.match(tail)
    if not cell:
        return None
    # The line below a first row is a ruler: then its cells are names.
    below = tail.partition("\n")[2]
    if below.lstrip(" \t>").startswith(("|-", "|:", "| -", "| :", "+-")):
        return None
    return ValuePlace(*cell.span("a"), "cell", quoted=bool(cell["q"]))


def _said(name: str, before: str, tail: str) -> ValuePlace | None:
    if found := _SURE.match(tail):
        return _value_at(tail, found.end(), "verb")
    if found := _PERHAPS.match(tail):
        return _value_at(tail, found.end(), "perhaps")
    if found := _INSERTED.match(tail):
        return ValuePlace(*found.span("a"), "remark", quoted=False)
    if not name.isascii() and (found := _FOREIGN_OF.match(tail)):
        return _value_at(tail, found.end(), "next")
    closed = _CLOSED.match(tail)
    at = closed.end() if closed else 0
    script = _SCRIPT_VERB.match(tail, at)
    if not name.isascii() and script and script.end() > at and script[0].strip(" \t"):
        return _value_at(tail, script.end(), "verb")
    space = _SPACE.match(tail, at)
    end = space.end() if space else at
    is_pair = bool(_PAIR_BEFORE.search(before[-MAX_USER_CHARS:]))
    is_apart = end > at or not name[-1:].isascii() or (at and tail[at - 1] in "\"'`*")
    return _value_at(tail, end, "pair" if is_pair else "next") if is_apart else None


def _value_at(tail: str, at: int, tie: Tie) -> ValuePlace | None:
    if tag := _TAG.match(tail, at):
        at = tag.end()
    if quoted := _QUOTED.match(tail, at):
        return ValuePlace(*quoted.span(quoted.lastgroup or 0), tie, quoted=True)
    if opened := _OPEN_QUOTE.match(tail, at):
        return ValuePlace(*opened.span("a"), tie, quoted=True)
    bare = _SCRIPT_VALUE.match(tail, at) or _BARE.match(tail, at)
    if not bare:
        return None
    value = _trimmed(bare["a"])
    return ValuePlace(bare.start("a"), bare.start("a") + len(value), tie, quoted=False)


def _trimmed(value: str) -> str:
    """Without the punctuation of the sentence around it, and the next parameter of a URL."""
    value = _NEXT_PARAMETER.split(value, maxsplit=1)[0] or value
    return value.rstrip(".:)]}*_\\") or value


def _group(match: re.Match[str] | None, tie: Tie) -> ValuePlace | None:
    return ValuePlace(*match.span("a"), tie, quoted=True) if match else None
