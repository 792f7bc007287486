"""How long a text is for a model, estimated without a tokenizer.

The unit is a quarter of a token: four characters of most scripts make a token,
while a Chinese, Japanese or Korean character is about a token by itself.
"""

import re

from notewell.limits import CHARS_PER_TOKEN

_WIDE = re.compile(
    "[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f"
    "\uff00-\uffef\U00020000-\U0003ffff]"
)


def weight(text: str) -> int:
    """The length of a text in quarter tokens."""
    if text.isascii():
        return len(text)
    return len(text) + (CHARS_PER_TOKEN - 1) * len(_WIDE.findall(text))


def fitting_chars(text: str, start: int, limit: int) -> int:
    """How many characters from `start` on weigh at most `limit`; at least one."""
    piece = text[start : start + limit]
    if piece.isascii():
        return max(1, len(piece))
    total = 0
    for taken, character in enumerate(piece):
        total += CHARS_PER_TOKEN if _WIDE.match(character) else 1
        if total > limit:
            return max(1, taken)
    return max(1, len(piece))
