"""`python -m model.secrets ARCHIVES OUT`: the weights of `notewell.redaction.learned`."""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from model.secrets.documents import documents
from model.secrets.learn import Example, examples_of, learn, scores
from model.secrets.texts import generated
from notewell.redaction.learned import BAR

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from model.secrets.marks import Text

LEARNED_SEED, CHECKED_SEED = 1, 2


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m model.secrets")
    parser.add_argument("archives", type=Path, help="a folder of source archives (.tar.gz, .tgz)")
    parser.add_argument("out", type=Path, help="the file of weights that is written")
    options = parser.parse_args(arguments)
    learned: list[Text] = []
    checked: list[Text] = []
    for text, is_learned in documents(options.archives):
        (learned if is_learned else checked).append(text)
    if not learned or not checked:
        print(f"error: {options.archives} has too few archives", file=sys.stderr)
        return 1
    with ProcessPoolExecutor() as processes:

        def examples(texts: Iterable[Text]) -> list[Example]:
            found = processes.map(_examples, texts, chunksize=64)
            return [one for some in found for one in some]

        weights = learn([*examples(generated(LEARNED_SEED)), *examples(learned)])
        options.out.write_bytes(weights.tobytes())
        made_up, others = examples(generated(CHECKED_SEED)), examples(checked)
    size = sum(len(text.text.encode()) for text in checked) / 1e6
    missed = [one for one in made_up if one.is_secret and one.weight == 1]
    clean = [one for one in made_up if not one.is_secret]
    print(f"{len(missed)} secrets that no rule finds, {len(clean)} other values")
    print(f"{size:.0f} MB of documents")
    print("bar    found  wrong  hits per MB")
    for bar in (BAR - 1, BAR - 0.5, BAR, BAR + 0.5, BAR + 1):
        found, wrong, hits = (
            (scores(weights, some) > bar).sum() for some in (missed, clean, others)
        )
        print(f"{bar:.1f}  {found / len(missed):.3f}  {wrong / len(clean):.3f}  {hits / size:.2f}")
    return 0


def _examples(text: Text) -> list[Example]:
    return list(examples_of(text))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
