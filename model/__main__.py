"""`python -m model texts SOURCES VOCABULARY OUT` writes the training texts; see README.md."""

from __future__ import annotations

import sys
from pathlib import Path


def main(arguments: list[str]) -> int:
    match arguments:
        case ["texts", sources, vocabulary, out]:
            from model.texts import write_texts

            write_texts(Path(sources), Path(vocabulary), Path(out))
            return 0
        case _:
            print("usage: python -m model texts SOURCES VOCABULARY OUT", file=sys.stderr)
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
