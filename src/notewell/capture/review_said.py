"""What the user states for good in a kept conversation, for `notewell review`.

    messages of the user ── sentences ── cue: asked, decided, preferred, corrected ── statements
                                      └─ none: a fact in the first person, counted by days

The cues are few and strict, in English and German: a proposal that is wrong costs the user more
than one that is missing. Questions, requests, conditions, code and what is only true now are left
out. What the assistant says states nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_SENTENCE_CHARS = 300
"""A fact is short; a longer sentence is a story."""
MIN_WORDS = 4
MAX_MESSAGE_CHARS = 4000
"""Of a longer message, the beginning: the rest was pasted."""

_SENTENCE = re.compile(r"(?<=[.!?])\s|\n|\s[–—]\s")
_WORD = re.compile(r"\w+")
_CODE = re.compile(r"`|[{}<>$|\\]|\w\(|=|https?:|^\s*[#>@/~-]|\.(?:py|js|ts|go|rs|md|json)\b")
_QUESTION = re.compile(
    r"\?|^(?:who|what|when|where|why|which|how|is|are|do|does|did|can|could|would|will|should|have"
    r"|has|wer|was|wann|wo|warum|wieso|welche[rs]?|wie|ist|sind|kannst|könntest|würdest|soll|hast"
    r"|habt|haben)\b",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\b(?:if|unless|whether|maybe|perhaps|might|not sure|(?:have|has|did)(?:n't| not)|not yet"
    r"|undecided|almost|nearly|wenn|falls|vielleicht|eventuell|noch nicht|ob|fast|beinahe)\b",
    re.IGNORECASE,
)
"""Nothing is settled."""

_POLITE = r"(?:(?:please|pls|also|and|so|okay|ok|bitte|und)[\s,]{1,3}){0,4}"
_ASKED = re.compile(
    rf"^{_POLITE}(?:remember\s*(?:that\b|this\b|:)|(?:don'?t|do not|never) forget(?:\s+that\b|:)"
    r"|keep in mind\b|for future reference\b|from now on\b|note to self\b|make a note\b"
    r"|merke? dir\b|denke? (?:daran|dran)\b|vergiss nicht\b|behalte? im (?:kopf|hinterkopf)\b"
    r"|ab (?:jetzt|sofort)\b|von (?:jetzt|nun) an\b|für die zukunft\b"
    r"|记住|记下|请记|別忘|别忘|以后都)",
    re.IGNORECASE,
)
_LEAD = re.compile(
    rf"^{_POLITE}(?:remember\s*(?:that\b|this\b)?|(?:don'?t|do not|never) forget(?:\s+that\b)?"
    r"|keep in mind(?:\s+that\b)?|for future reference|note to self|merke? dir"
    r"|denke? (?:daran|dran)|vergiss nicht|behalte? im (?:kopf|hinterkopf)|für die zukunft"
    r"|记住|记下)"
    r"[\s:,]*(?:bitte[\s,:]*)?(?:dass\b\s*)?",
    re.IGNORECASE,
)
_DECIDED = re.compile(
    r"\b(?:we|i)(?:'ve| have)?(?: now| finally| just)? (?:decided|agreed|settled|opted)"
    r" (?:to|on|that|for|against|not to)\b"
    r"|\b(?:we|i)(?:'ll| will|'re going to| are going to) (?:go|stick|stay) with\b"
    r"|^let'?s (?:go with|stick with|settle on|stay with)\b"
    r"|^(?:the |our )?(?:final )?decision(?: is|:)"
    r"|\b(?:wir haben|ich habe)\b.{0,80}\b(?:entschieden|beschlossen|geeinigt|festgelegt)\b"
    r"|^(?:die |unsere )?entscheidung(?: ist|:)|\bwir (?:bleiben bei|setzen auf|nehmen jetzt)\b",
    re.IGNORECASE,
)
_HABIT = r"use|write|work|drink|eat|take|run|fly|book|sit|wear|pay|order|commit|test|deploy"
_RULE = (
    r"use|write|run|commit|ask|add|answer|reply|put|call|send|make|keep|format|include|start|push"
    r"|deploy|test|check|mention|delete|name|sign|show|explain|install|book|order"
)
"""What an agent is told to do always, or never."""
_PREFERRED = re.compile(
    r"\bi(?:'d| would)?(?: really| much| strongly| always| generally)? prefer\b"
    rf"|\bi (?:always|never) (?:{_HABIT})\b|\bmy (?:favou?rite|preferred)\b.{{0,60}}\b(?:is|are)\b"
    rf"|^{_POLITE}(?:always|never)\s+(?:{_RULE})\b|\bbitte (?:immer|nie|niemals)\b"
    r"|\bich bevorzuge\b"
    r"|\bmir (?:ist|sind|wäre)\b.{0,60}\blieber\b|\bam liebsten\b"
    r"|\bich (?:nehme|nutze|benutze|verwende|schreibe|arbeite|trinke|esse|fliege|zahle|will)"
    r" (?:immer|nie|lieber)\b|\bmeine? lieblings\w+ (?:ist|sind)\b",
    re.IGNORECASE,
)
_WRONG = (
    r"(?:no|nope|wrong|not quite|correction|that'?s (?:not right|wrong|not correct|incorrect)"
    r"|that is (?:wrong|not right|not correct)|nein|falsch|korrektur|stimmt nicht"
    r"|das (?:ist falsch|stimmt nicht|ist nicht richtig))"
)
_ONLY_WRONG = re.compile(rf"^{_WRONG}[\s,.!:]*$", re.IGNORECASE)
_CORRECTING = re.compile(rf"^{_WRONG}\s*[,.!:;–-]+\s*(?:actually,?\s+|sondern\s+)?", re.IGNORECASE)
_SUBJECT = (
    r"(?:the|my|our|we|i|his|her|their|der|die|das|mein\w{0,2}|unser\w{0,2}|wir|ich|[A-ZÄÖÜ]\w+)"
)
_VERB = (
    r"(?:is|are|was|were|has|have|uses?|runs?|lives?|works?|starts?|ends?|needs?|belongs?|means?"
    r"|stays?|am|ist|sind|war|hat|haben|heißt|läuft|wohnt|arbeitet|nutzen|braucht|gehört|wohne"
    r"|arbeite|habe|bin|brauche|nutze)"
)
_FACT = re.compile(rf"^{_SUBJECT}\b(?:\s+[^\s,;:]+){{0,6}}?\s+{_VERB}\s+\S+", re.IGNORECASE)
_PERSONAL = re.compile(r"\b(?:my|our|i|we|mein\w{0,2}|unser\w{0,2}|ich|wir)\b", re.IGNORECASE)
_PASSING = re.compile(
    r"\b(?:now|today|tonight|yesterday|tomorrow|currently|still|again|just|this (?:week|morning)"
    r"|error|errors|bug|thanks?|sorry|glad|happy|excited|hope|think|guess|sure|great|nice|jetzt"
    r"|heute|gestern|morgen|gerade|noch|wieder|fehler|danke|froh|hoffe|glaube|denke|sicher)\b",
    re.IGNORECASE,
)
"""True at the moment, or said out of politeness."""


class SaidSentence(NamedTuple):
    """A sentence of the user that may be for good."""

    text: str
    cue: str
    """`asked`, `decided`, `preferred`, `corrected`; empty for a plain fact, which counts only if
    it is said on several days."""


def said_sentences(message: str) -> Iterator[SaidSentence]:
    """The sentences of a message that state something for good, or may do so."""
    is_corrected = False
    for part in _SENTENCE.split(message[:MAX_MESSAGE_CHARS]):
        text = " ".join(part.split())
        if _ONLY_WRONG.match(text):
            is_corrected = True  # "That's wrong. The port is 8080."
            continue
        sentence = _sentence(text, is_corrected=is_corrected)
        is_corrected = False
        if sentence is not None:
            yield sentence


def _sentence(text: str, *, is_corrected: bool) -> SaidSentence | None:
    if not _is_plain(text):
        return None
    if _ASKED.match(text) and "?" not in text:
        return _long_enough(SaidSentence(_LEAD.sub("", text, count=1), "asked"))
    if _QUESTION.search(text) or _OPEN.search(text):
        return None
    if _DECIDED.search(text):
        return _long_enough(SaidSentence(text, "decided"))
    if _PREFERRED.search(text):
        return _long_enough(SaidSentence(text, "preferred"))
    rest = _CORRECTING.sub("", text, count=1)
    if (is_corrected or rest != text) and _is_fact(rest):
        return _long_enough(SaidSentence(rest, "corrected"))
    if _is_fact(text) and _PERSONAL.search(text):
        return _long_enough(SaidSentence(text, ""))
    return None


def _is_plain(text: str) -> bool:
    return len(text) <= MAX_SENTENCE_CHARS and not _CODE.search(text)


def _is_fact(text: str) -> bool:
    return bool(_FACT.match(text)) and not _PASSING.search(text)


def _long_enough(sentence: SaidSentence) -> SaidSentence | None:
    # A script without spaces has one long word.
    words = _WORD.findall(sentence.text)
    is_dense = any(len(word) >= MIN_WORDS and word[0] >= "\u3000" for word in words)
    return sentence if is_dense or len(words) >= MIN_WORDS else None
