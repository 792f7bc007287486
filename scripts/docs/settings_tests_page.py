"""`docs/reference/settings-tests.md`: each setting with the test that shows its effect.

python -m scripts.docs.settings_tests_page > docs/reference/settings-tests.md
"""
# ruff: noqa: E501 - a page has one sentence a line, however long it is

from __future__ import annotations

import sys

from tests.config.proofs import proofs

_HEAD = """# Tests of the settings

This page is generated; `tests/config/test_every_key_has_a_reader.py` checks that every [setting](settings.md) is here and that every test exists.
The same file proves, without running the code, that each key decides a field of `Settings` and that a module reads this field.
The test named here shows the effect.
Keys of OpenClaw that Notewell accepts and does not use are not in the table; `notewell config check` reports them.

| key | test |
|---|---|
"""


def settings_tests_page() -> str:
    rows = (f"| `{key}` | `{test}` |\n" for key, test in proofs().items())
    return _HEAD + "".join(rows)


if __name__ == "__main__":
    sys.stdout.write(settings_tests_page())
