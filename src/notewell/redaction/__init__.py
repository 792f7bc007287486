"""Secrets out of a text before it reaches index, cache, log or provider.

rule.py              what a rule is: a shape, the letters it cannot do without, a second look
rules_hosting.py     tokens of clouds, code hosts, registries and build services
rules_services.py    tokens of models, messengers, payments and the rest
rules_shapes.py      what has a shape but no vendor: JWT, connection strings, headers, commands
private_keys.py      armoured key blocks, over many lines or folded into one
names.py             `password = …`: the name tells, the value is looked at twice
plausible.py         what only looks like a secret: placeholders, variables, plain words
rulebook.py          all of them, and which of them a text can meet
find.py              every secret in a text, each once
mask.py              `[redacted:github-token:3f2a]`
key.py               the key of the masks, one a state folder
redactor.py          START HERE: a text in, the same lines without secrets out

The text that is handed in is never changed where it came from, and it keeps its lines: as many
as before, with the same numbers.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.redaction.find import find_secrets
    from notewell.redaction.key import KEY_BYTES, NAME, load_mask_key
    from notewell.redaction.mask import MASK
    from notewell.redaction.redactor import RULES_VERSION, Redacted, Redactor
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "find": "find_secrets",
            "key": "KEY_BYTES NAME load_mask_key",
            "mask": "MASK",
            "redactor": "RULES_VERSION Redacted Redactor",
        },
    )
