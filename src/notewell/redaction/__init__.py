"""Removes secrets from a text before it reaches index, cache, log or provider.

redactor.py       START HERE: a text in, the same lines without secrets out
deferred.py       the same, loaded at the first text
rulebook.py       all rules, and the pass that says which of them can match
rules.py          what a rule is
vendor_rules.py   token formats of services, in modules `vendors_*.py`; prefixed.py: of any other
standard_rules.py key material and standard formats; seed_phrases.py, recovery.py, private_keys.py
places.py         URLs, headers, queries, files; commands.py: command lines
typed.py          prompts, protocols, pipes, arguments of a call
wires.py          places of secrets in programs, protocols and their files, one fact a line
names.py          a name of a key or a token before a value, as settings and code write it;
                  name_words.py (languages, spellings), chosen.py (values that a person chose)
labelled.py       a password beside its name; labels.py (names), beside.py (places),
                  label_proof.py (what a place proves), dialogs.py (value first, question, pair)
codes.py          PINs, one-time codes, payment cards, answers to security questions
phrases.py        a value in a sentence, behind a telling word (telling_words.py)
sentences.py      a topic of a message and the values behind it, before it; around.py (anywhere
                  in its line), neighbours.py, asked.py (in other
                  lines), answers.py (alone in a message, corrected, before its words)
tables.py         a column of secrets
learned.py        values that no rule names, by a linear model; context.py (what it looks at)
plausible.py      values that only look like a secret: placeholders, variables, plain words
weak_values.py    values that may be a weak password where nothing else can be; plain_words.py
mask.py           `[redacted:github-token:3f2a]`, and the key of its digits

The source of a text is never changed, and the text keeps its lines: as many as before, with the
same numbers.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.redaction.deferred import DeferredRedactor, RememberingRedactor
    from notewell.redaction.mask import KEY_BYTES, KEY_FILE, MASK, load_mask_key
    from notewell.redaction.redactor import (
        LocatedSecret,
        Redacted,
        Redactor,
        find_secrets,
        locate_secrets,
    )
    from notewell.redaction.rules import RULES_VERSION
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "deferred": "DeferredRedactor RememberingRedactor",
            "mask": "KEY_BYTES KEY_FILE MASK load_mask_key",
            "redactor": "LocatedSecret Redacted Redactor find_secrets locate_secrets",
            "rules": "RULES_VERSION",
        },
    )
