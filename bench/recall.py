"""Which prompts get a passage: those about the notes should, all others should not.

    python bench/recall.py DATA [--notes FOLDER]...

DATA is a folder with the public sets (`ws_locomo`, and questions of others as `*/queries.jsonl`).
The notes of LoCoMo get its own questions, and 200 prompts that have nothing to do with them: those
of `recall_prompts.txt` and questions of other sets. `--notes` adds a folder of notes on a subject
of its own, which gets questions of LoCoMo and of XQuAD.

Bars: at most one unrelated prompt in ten gets a passage, in each folder of notes.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from notewell import Memory, open_memory
from notewell.cli.hook_turns import recalled_notes
from notewell.testing import HashEmbedder
from notewell.tools import nearness_of

BAR = 0.1
UNRELATED = 200
LIMITS = (0.0, 0.1, 0.15, 0.2, 0.25, 0.3)
OTHER_SETS = ("cosqa_dev", "anthropic_docs", "ocdocs_en_en", "xquad_en_en")
PROMPTS = Path(__file__).with_name("recall_prompts.txt")


class Asked(NamedTuple):
    nearness: float
    """Of the best hit."""
    recalled: bool
    sees_evidence: bool


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--notes", type=Path, action="append", default=[])
    arguments = parser.parse_args()
    chance = random.Random(7)
    path = arguments.data / "ws_locomo" / "evidence.json"
    questions = json.loads(path.read_text(encoding="utf-8"))["queries"]
    others = _others(arguments.data, chance)
    unrelated, related = [], []
    for name in sorted({question["workspace"] for question in questions}):
        with _indexed(arguments.data / "ws_locomo" / name) as memory:
            unrelated.append((name, [_ask(memory, prompt) for prompt in others]))
            own = [question for question in questions if question["workspace"] == name]
            related += [_ask(memory, one["text"], _evidence(memory, one)) for one in own]
    foreign = [question["text"] for question in chance.sample(questions, 120)]
    foreign += chance.sample(_questions(arguments.data / "xquad_en_en"), UNRELATED - 120)
    for folder in arguments.notes:
        with _indexed(folder) as memory:
            unrelated.append((folder.name, [_ask(memory, prompt) for prompt in foreign]))
    return _report(unrelated, related)


def _report(unrelated: list[tuple[str, list[Asked]]], related: list[Asked]) -> int:
    print("nearness".ljust(24), *(f"{limit:>6}" for limit in LIMITS), "   recalled")
    for name, asked in unrelated:
        shares = [_share(one.nearness >= max(limit, 1e-9) for one in asked) for limit in LIMITS]
        recalled = _share(one.recalled for one in asked)
        print(f"unrelated, {name}".ljust(24), *(f"{share:6.3f}" for share in shares), end="")
        print(f"   {recalled:.3f}")
    seen = _share(one.recalled and one.sees_evidence for one in related)
    recalled = _share(one.recalled for one in related)
    print(f"LoCoMo, {len(related)} questions: {recalled:.3f} recalled, {seen:.3f} with evidence")
    return int(any(_share(one.recalled for one in asked) > BAR for _, asked in unrelated))


def _ask(memory: Memory, prompt: str, evidence: tuple[str, ...] = ()) -> Asked:
    hits = memory.search(prompt, mode="keyword", max_results=1).hits
    text = " ".join(recalled_notes(memory, prompt, within_s=60).text.split())
    return Asked(
        nearness_of(prompt, hits[0]) if hits else 0.0,
        bool(text),
        any(line in text for line in evidence),
    )


def _evidence(memory: Memory, question: dict[str, Any]) -> tuple[str, ...]:
    """The beginnings of the lines that answer; a passage may be cut within one."""
    lines = []
    for place in question["evidence"]:
        text = (memory.workspace / place["path"]).read_text(encoding="utf-8").splitlines()
        lines += [" ".join(line.split())[:70] for line in text[place["start"] - 1 : place["end"]]]
    return tuple(filter(None, lines))


def _others(data: Path, chance: random.Random) -> list[str]:
    prompts = PROMPTS.read_text(encoding="utf-8").splitlines()
    for name in OTHER_SETS:
        prompts += chance.sample(_questions(data / name), 50)
    return prompts[:UNRELATED]


def _questions(folder: Path) -> list[str]:
    lines = (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["text"] for line in lines]


def _indexed(folder: Path) -> Memory:
    state = tempfile.mkdtemp(prefix="recall-")
    memory = open_memory(folder, state_dir=state, embedder=HashEmbedder())
    memory.sync(vectors=False)
    return memory


def _share(flags: Any) -> float:
    values = [bool(flag) for flag in flags]
    return sum(values) / len(values) if values else 0.0


if __name__ == "__main__":
    raise SystemExit(main())
