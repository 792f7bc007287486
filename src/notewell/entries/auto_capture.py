"""Decides which messages of a conversation become entries, from the text alone.

    by the user ▸ short ▸ plain prose ▸ no secret ▸ no orders to a model ▸ no question ▸ a trigger

Most messages are refused on purpose: what is captured automatically is also recalled
automatically. The filter for orders lowers the risk of prompt injection through stored text. It
does not remove it, so recalled text is also quoted as data.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from notewell.redaction import find_secrets

if TYPE_CHECKING:
    from notewell.entries.entry import Category

MIN_WEIGHT = 10
"""`I like tea` is about the shortest statement."""
DENSE_WEIGHT = 3
"""我喜欢茶 says the same in four characters, so a CJK character counts as three."""
_DENSE_FROM = "\u2e80"
LOOKED_AT_CHARS = 500
"""The beginning shows the category, and it bounds the time of the patterns."""

_MARKUP = re.compile(
    r"```|~~~|^\s{0,3}(?:#{1,6}\s|\||>\s)|</?[a-z!][^>\n]{0,200}>|\*\*[^*\n]+\*\*[^\n]*\n\s*[-*]\s",
    re.IGNORECASE | re.MULTILINE,
)
_MACHINE = re.compile(
    r"^\s*(?:/\w|[\[{(]|(?:system|assistant|tool|user|developer)\s*:|traceback \(|at \S+\(|\$ )"
    r"|^\s*File \"[^\"]+\", line \d",
    re.IGNORECASE | re.MULTILINE,
)
_ORDERS = re.compile(
    r"(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,40}"
    r"\b(?:instructions?|prompts?|rules|guidelines|everything above)"
    r"|\b(?:system|developer)\s+(?:prompt|message|instructions?)"
    r"|\byou\s+are\s+now\b|\bact\s+as\s+(?:an?|the)\b|\bjailbreak|\bDAN\b"
    r"|\bnew\s+instructions?\s*:|\bdo\s+not\s+(?:tell|inform|mention)\b[^.\n]{0,30}\buser"
    r"|\b(?:run|execute|call|invoke|use)\b[^.\n]{0,30}\b(?:tool|command|shell|function|curl|bash)"
    r"|<\s*/?\s*(?:system|assistant|developer|tool|user|function|recalled|relevant-memories)\b"
    r"|(?:忽略|无视|忘记|绕过)[^。\n]{0,12}(?:指令|提示|规则|要求|设定)"
    r"|系统(?:提示|指令|消息)|你现在是|(?:执行|运行|调用)[^。\n]{0,10}(?:命令|工具|函数)",
    re.IGNORECASE,
)
_ASKED_TO = re.compile(
    r"(?:^|[.!,;:]\s*|\bplease\s+|\byou\s+to\s+)(?:please\s+)?"
    r"(?:remember|note|keep in mind|don'?t forget)\b(?!\s+(?:when|what|how|who|if))"
    r"|记住|记下|别忘|不要忘",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"[?？]\s*$|[吗呢]\s*[。.!！]?\s*$")
_PREFERENCE = re.compile(
    r"\bI(?:'d)?\s+(?:\w+\s+)?(?:like|love|prefer|enjoy|hate|dislike|want|rather|avoid)\b"
    r"|\bmy\s+(?:favou?rite|preference)\b|\bI\s+(?:always|never|usually)\b"
    r"|\b(?:prefers?|likes?|hates?)\b|(?:更|最)?(?:喜欢|喜爱|讨厌|偏好|偏爱|习惯)|我(?:总是|从不|不吃|不喝)",
    re.IGNORECASE,
)
_DECISION = re.compile(
    r"\bwe(?:'ll|'ve|\s+have|\s+will)?\s+(?:decided?|chose|choose|agreed?|settled|go(?:ing)?\s+with)"
    r"|\bI(?:'ve|\s+have)?\s+(?:decided|chosen)\b|\b(?:from now on|going forward)\b"
    r"|\blet'?s\s+(?:use|go\s+with|stick\s+with)\b|决定|选定|敲定|从现在起|今后|以后(?:都|请|要|就)",
    re.IGNORECASE,
)
_ENTITY = re.compile(
    r"[\w.+-]{1,64}@[\w-]{1,63}\.[\w.]{2,}|\+?\d[\d ()/-]{7,20}\d"
    r"|\bmy\s+name\s+is\b|\bI'?m\s+called\b"
    r"|\bis\s+called\b|我叫|名字(?:是|叫)|(?:电话|手机|邮箱|地址)(?:号码)?(?:是|：|:)",
    re.IGNORECASE,
)
_FACT = re.compile(
    r"\b(?:my|our)(?:\s[\w'-]{1,30}){1,5}\s(?:is|are|was|has|have)\b"
    r"|\bI\s+(?:am|live|work|use|own|have|was born|moved|study|speak)\b"
    r"|\bI'm\s+(?:an?|from|based)\b"
    r"|\bimportant\b|我(?:是|住|在|有|的.{1,12}是)|重要",
    re.IGNORECASE,
)


def refusal(text: str, *, role: str = "user", max_chars: int = 500) -> str | None:
    """Why a message is not captured; None if it becomes an entry."""
    message = text.strip()
    # A reply of the model may repeat what a stranger's page said.
    if role != "user":
        return "not said by the user"
    return (
        _wrong_size(message, max_chars)
        or _not_prose(message)
        or _not_safe(message)
        or _nothing_to_keep(message)
    )


def reads_like_orders(text: str) -> bool:
    """Whether a text gives orders to a model instead of making a statement."""
    return bool(_ORDERS.search(text))


def category_of(text: str) -> Category:
    """The most specific category that matches."""
    text = text[:LOOKED_AT_CHARS]
    # The order is the priority: a decision often contains a preference as well.
    if _DECISION.search(text):
        return "decision"
    if _PREFERENCE.search(text):
        return "preference"
    if _ENTITY.search(text):
        return "entity"
    return "fact" if _FACT.search(text) else "other"


def _wrong_size(text: str, max_chars: int) -> str | None:
    # No word is counted: Chinese and Japanese do not separate words.
    dense = sum(character >= _DENSE_FROM for character in text)
    if len(text) + (DENSE_WEIGHT - 1) * dense < MIN_WEIGHT:
        return "too short to state anything"
    return "too long for a statement" if len(text) > max_chars else None


def _not_prose(text: str) -> str | None:
    if _MARKUP.search(text):
        return "markup, not prose"
    return "a command or a machine's output" if _MACHINE.search(text) else None


def _not_safe(text: str) -> str | None:
    if find_secrets(text.encode("utf-8", "replace")):
        return "it holds a secret"
    return "it reads like orders to a model" if reads_like_orders(text) else None


def _nothing_to_keep(text: str) -> str | None:
    # "Remember: is the key under the mat?" is a request, although it ends like a question.
    if _QUESTION.search(text):
        return None if _ASKED_TO.match(text) else "a question"
    if _ASKED_TO.search(text):
        return None
    return "nothing in it asks to be remembered" if category_of(text) == "other" else None
