"""`python -m model COMMAND`: the steps that make the model, one command each; see README.md."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class FileMissing(Exception):
    """A command was given a path without a file."""


def main(arguments: Sequence[str]) -> int:
    from model.sources import SourceUnusable

    options = _parser().parse_args(arguments)
    try:
        options.run(options)
    except (FileMissing, SourceUnusable) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m model")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    texts = commands.add_parser("texts", help="write the training texts")
    texts.add_argument("sources", type=Path, metavar="SOURCES")
    texts.add_argument("vocabulary", type=Path, metavar="VOCABULARY")
    texts.add_argument("out", type=Path, metavar="OUT")
    texts.set_defaults(run=_texts)

    tokens = commands.add_parser("tokens", help="write the texts as token ids, into one file")
    tokens.add_argument("texts", type=Path, metavar="TEXTS")
    tokens.add_argument("out", type=Path, metavar="OUT")
    tokens.set_defaults(run=_tokens)

    train = commands.add_parser("train", help="train a teacher and a student")
    train.add_argument("base", type=Path, metavar="BASE_ONNX")
    train.add_argument("tokens", type=Path, metavar="TOKENS")
    train.add_argument("out", type=Path, metavar="OUT")
    train.add_argument("--seconds", type=float, help="how long the second stage takes")
    train.set_defaults(run=_train)

    export = commands.add_parser("export", help="write the files of the product")
    export.add_argument("student", type=Path, metavar="STUDENT")
    export.add_argument("vocabulary", type=Path, metavar="VOCABULARY_FOLDER")
    export.add_argument("folder", type=Path, metavar="FOLDER")
    export.set_defaults(run=_export)
    return parser


def _texts(options: argparse.Namespace) -> None:
    from model.texts import write_texts

    _require([options.vocabulary])
    write_texts(options.sources, options.vocabulary, options.out)


def _tokens(options: argparse.Namespace) -> None:
    from model.tokens import files_needed, write_tokens

    _require(files_needed(options.texts))
    write_tokens(options.texts, options.out)


def _train(options: argparse.Namespace) -> None:
    _require([options.base, options.tokens])
    from model.distil import Distillation
    from model.fine import FineTuning
    from model.train import train

    plan = Distillation()
    if options.seconds is not None:
        plan = plan._replace(seconds=options.seconds)
    train(options.base, options.tokens, options.out, FineTuning(), plan)


def _export(options: argparse.Namespace) -> None:
    from model.export import VOCABULARY_FILES, export

    _require([options.student, *(options.vocabulary / name for name in VOCABULARY_FILES)])
    export(options.student, options.vocabulary, options.folder)


def _require(paths: Iterable[Path]) -> None:
    """Before any work: some commands take minutes until they need their last file."""
    missing = [str(path) for path in paths if not path.is_file()]
    if missing:
        raise FileMissing(f"no such file: {', '.join(missing)}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
