"""Which prompts get a passage: those about the notes should, all others should not.

    python bench/recall.py DATA [--notes FOLDER]...

DATA is a folder with the public sets (`ws_locomo`, and questions of others as `*/queries.jsonl`).
The notes of LoCoMo get its own questions, and 200 prompts that have nothing to do with them: those
of `recall_prompts.txt` and questions of other sets. `--notes` adds a folder of notes on a subject
of its own, which gets questions of LoCoMo and of XQuAD. Every one of them gets the short unrelated
prompts in English.

`recall_short/` has notes and short prompts in several languages: unrelated ones ("ok go on"),
names from the notes, and questions about them. Those in `aside` are not looked at while recall is
tuned: only their shares are printed.

Bars: at most one unrelated prompt in ten gets a passage, in each folder of notes and in each
language; at least nine in ten names get theirs.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from notewell import Memory, open_memory
from notewell.cli.hook_turns import recalled_notes
from notewell.testing import HashEmbedder
from notewell.tools import nearness_of

BAR = 0.1
NAMES_BAR = 0.9
UNRELATED = 200
LIMITS = (0.0, 0.1, 0.15, 0.2, 0.21, 0.25, 0.3)
OTHER_SETS = ("cosqa_dev", "anthropic_docs", "ocdocs_en_en", "xquad_en_en")
PROMPTS = Path(__file__).with_name("recall_prompts.txt")
SHORT = Path(__file__).with_name("recall_short")


class Asked(NamedTuple):
    prompt: str
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
    english = _short_prompts("en")
    short = [prompt for part in ("look", "aside") for prompt in english[part]["unrelated"]]
    unrelated, related = [], []
    for name in sorted({question["workspace"] for question in questions}):
        with _indexed(arguments.data / "ws_locomo" / name) as memory:
            unrelated.append((name, [_ask(memory, prompt) for prompt in others]))
            unrelated.append((f"{name}, short", [_ask(memory, prompt) for prompt in short]))
            own = [question for question in questions if question["workspace"] == name]
            related += [_ask(memory, one["text"], _evidence(memory, one)) for one in own]
    foreign = [question["text"] for question in chance.sample(questions, 120)]
    foreign += chance.sample(_questions(arguments.data / "xquad_en_en"), UNRELATED - 120)
    for folder in arguments.notes:
        with _indexed(folder) as memory:
            unrelated.append((folder.name, [_ask(memory, prompt) for prompt in foreign]))
            unrelated.append((f"{folder.name}, short", [_ask(memory, one) for one in short]))
    return max(_report(unrelated, related), _report_short())


def _report(unrelated: list[tuple[str, list[Asked]]], related: list[Asked]) -> int:
    print("nearness".ljust(40), *(f"{limit:>6}" for limit in LIMITS), "   recalled")
    for name, asked in unrelated:
        shares = [_share(one.nearness >= max(limit, 1e-9) for one in asked) for limit in LIMITS]
        recalled = _share(one.recalled for one in asked)
        print(f"unrelated, {name}".ljust(40), *(f"{share:6.3f}" for share in shares), end="")
        print(f"   {recalled:.3f}")
    seen = _share(one.recalled and one.sees_evidence for one in related)
    recalled = _share(one.recalled for one in related)
    print(f"LoCoMo, {len(related)} questions: {recalled:.3f} recalled, {seen:.3f} with evidence")
    return int(any(_share(one.recalled for one in asked) > BAR for _, asked in unrelated))


def _report_short() -> int:
    """A line for each language and part; those that went wrong are named where one may look."""
    missed = 0
    print("short prompts".ljust(14), "unrelated  names  questions")
    for path in sorted(SHORT.glob("*.toml")):
        language = _short_prompts(path.stem)
        with tempfile.TemporaryDirectory() as folder, _written(language, folder) as memory:
            for part in filter(language.__contains__, ("look", "aside")):
                missed |= _report_part(memory, f"{path.stem}, {part}", language[part])
    return missed


def _report_part(memory: Memory, title: str, prompts: dict[str, Any]) -> int:
    noise = [_ask(memory, prompt) for prompt in prompts["unrelated"]]
    names, questions = (
        [_ask(memory, prompt, (passage,)) for prompt, passage in prompts[kind].items()]
        for kind in ("names", "questions")
    )
    shares = (
        _share(one.recalled for one in noise),
        _share(one.sees_evidence for one in names),
        _share(one.sees_evidence for one in questions),
    )
    print(title.ljust(14), "{:9.3f}  {:5.3f}  {:9.3f}".format(*shares))
    if title.endswith("look"):
        wrong = [one.prompt for one in noise if one.recalled]
        wrong += [one.prompt for one in (*names, *questions) if not one.sees_evidence]
        print("".ljust(14), *wrong, sep="  ")
    return int(shares[0] > BAR or shares[1] < NAMES_BAR)


def _ask(memory: Memory, prompt: str, evidence: tuple[str, ...] = ()) -> Asked:
    hits = memory.search(prompt, mode="keyword", max_results=1).hits
    text = " ".join(recalled_notes(memory, prompt, within_s=60).text.split())
    return Asked(
        prompt,
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


def _short_prompts(language: str) -> dict[str, Any]:
    return tomllib.loads((SHORT / f"{language}.toml").read_text(encoding="utf-8"))


def _written(language: dict[str, Any], folder: str) -> Memory:
    for name, text in language["notes"].items():
        path = Path(folder, name)
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return _indexed(Path(folder))


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
