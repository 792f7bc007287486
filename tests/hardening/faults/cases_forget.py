"""What was said is forgotten: everywhere, or the next call completes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.hardening.faults.cases_notes import SAID, KeepCase, place_of
from tests.hardening.faults.scene import Scene, Seen, told

from notewell.capture import forgettings
from notewell.redaction import Redactor
from notewell.sessions import (
    KEPT,
    TranscriptFolder,
    Transcripts,
    forgotten_file,
    kept_dir,
    read_forgotten,
)
from notewell.tools import (
    ask_memory,
    find_forgettable,
    finish_forgetting,
    forget_found,
    request_of,
)


@dataclass(frozen=True, slots=True)
class ForgetCase:
    """A phrase is forgotten: in the conversation, the index, the cache and the log."""

    name: str = "forget a phrase"
    phrase: str = "at the router"
    writes_to: tuple[str, ...] = ()

    def prepare(self, scene: Scene) -> None:
        KeepCase("keep a conversation").prepare(scene)
        KeepCase("keep a conversation").act(scene, lambda: None)
        with scene.memory() as memory:
            memory.sync()
            ask_memory(memory, f"who is {self.phrase}?", journal_as="memory_search")

    def act(self, scene: Scene, arm: Callable[[], None]) -> None:
        with scene.memory() as memory:
            request = request_of(memory, phrase=self.phrase)
            arm()
            finish_forgetting(memory)
            findings = find_forgettable(memory, request)
            if not findings.is_empty:
                forget_found(memory, findings)

    def look(self, scene: Scene) -> Seen:
        folder = kept_dir(scene.state, "main", scene.workspace)
        transcripts = Transcripts([TranscriptFolder(folder, KEPT)], Redactor())
        texts = [transcripts.read(path).text for path in transcripts.scan().notes]
        said = [line for text in texts for line in text.splitlines()]
        kept_again = keep_again(scene)
        with scene.memory() as memory:
            hits = told(lambda: [hit.snippet for hit in memory.search("router Friday").hits])
            answered = not isinstance(hits, dict)
        left = [
            path.name
            for path in sorted(scene.state.rglob("*"))
            if path.is_file() and self.phrase.encode() in path.read_bytes()
        ]
        done = [one.counts for one in forgettings(place_of(scene).folder)]
        return {
            "whole": {"left": left, "said": said, "forgotten": done, "again": kept_again},
            "parts": {"answers": answered, "said": said},
            "reported": {"left": left},
        }


def keep_again(scene: Scene) -> int:
    """How many messages a hook would keep that has lost what it kept: a forgotten one is none."""
    forgotten = read_forgotten(forgotten_file(kept_dir(scene.state, "main", scene.workspace)))
    return sum(not forgotten.has("talk", said.partition(": ")[2], None) for said in SAID)


FORGET_CASES = (ForgetCase(),)
