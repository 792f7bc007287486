"""Removes secrets from a text before it reaches index, cache, log or provider.

redactor.py       START HERE: a text in, the same lines without secrets out
deferred.py       the same, loaded at the first text
rules.py          what a rule is; standard formats, passwords, headers, names, private keys
vendor_rules.py   token formats of clouds, code hosts, model providers and other services
plausible.py      values that only look like a secret: placeholders, variables, plain words
mask.py           `[redacted:github-token:3f2a]`, and the key of its digits

The source of a text is never changed, and the text keeps its lines: as many as before, with the
same numbers.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.redaction.deferred import DeferredRedactor, RememberingRedactor
    from notewell.redaction.mask import KEY_BYTES, KEY_FILE, MASK, load_mask_key
    from notewell.redaction.redactor import RULES_VERSION, Redacted, Redactor, find_secrets
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "deferred": "DeferredRedactor RememberingRedactor",
            "mask": "KEY_BYTES KEY_FILE MASK load_mask_key",
            "redactor": "RULES_VERSION Redacted Redactor find_secrets",
        },
    )
