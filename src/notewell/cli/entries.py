"""`notewell entries`: the single statements that agents have stored, for their user."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from notewell.cli.output import print_json, say, tell
from notewell.cli.place import add_place, meant
from notewell.errors import BadRequest, MemoryOff

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from notewell.config import Settings
    from notewell.entries import EntryStore, LanceSettings, MemoryEntry, Recalled

NOTHING_FOUND = 3
DEGRADED = 5


def add_options(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    added = {name: _action(actions, name, summary) for name, summary in _ACTIONS.items()}
    added["recall"].add_argument("query", nargs="+", help="what to look for")
    added["recall"].add_argument(
        "-n", "--limit", type=int, metavar="N", help="at most this many (default: 5)"
    )
    added["store"].add_argument("text", nargs="+", help="one statement")
    added["store"].add_argument(
        "--importance", type=float, metavar="X", help="0 to 1 (default: 0.7)"
    )
    added["store"].add_argument(
        "--category", metavar="C", help="preference, fact, decision, entity or other"
    )
    added["forget"].add_argument("id", nargs="?", help="as recall and list show it")
    added["forget"].add_argument(
        "--query", metavar="TEXT", help="the one that is clearly meant by this"
    )
    added["export"].add_argument(
        "file", nargs="?", help="a Markdown file that is not there yet (default: standard output)"
    )
    added["import"].add_argument("file", help="such a file; `-` reads standard input")


def _action(actions: Any, name: str, summary: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = actions.add_parser(name, help=summary, description=summary)
    parser.set_defaults(action=name)
    add_place(parser)
    return parser


def run(arguments: argparse.Namespace) -> int:
    from notewell.config import load_settings
    from notewell.entries import LanceSettings

    agent, workspace, settings = meant(arguments)
    if settings is None:
        settings = load_settings(Path(workspace), agent)
    if settings.off_because:
        raise MemoryOff(agent, settings.off_because)
    with _opened(arguments, settings, settings.entries or LanceSettings()) as entries:
        code: int = _DONE_BY[arguments.action](entries, arguments)
    return code


@contextmanager
def entries_of(arguments: argparse.Namespace, settings: Settings) -> Iterator[EntryStore | None]:
    """The entries of the agent that is meant; None unless the settings ask for them."""
    if settings.entries is None:
        yield None
        return
    with _opened(arguments, settings, settings.entries) as entries:
        yield entries


@contextmanager
def _opened(
    arguments: argparse.Namespace, settings: Settings, told: LanceSettings
) -> Iterator[EntryStore]:
    """With the embedder of the settings, which is loaded by the first text."""
    import os

    from notewell.config import default_state_dir
    from notewell.embedders import EmbedderSelection
    from notewell.entries import EntryStore
    from notewell.redaction import Redactor, load_mask_key

    named = arguments.state_dir
    state = Path(named).expanduser() if named else default_state_dir(os.environ)
    selection = EmbedderSelection(settings.embedder, state / "models", os.environ)
    try:
        yield EntryStore(
            told.folder(state),
            meant(arguments).agent,
            selection.embedder,
            redact=Redactor(load_mask_key(state)),
        )
    finally:
        selection.close()


# -- the actions ---------------------------------------------------------------------------------


def _recall(entries: EntryStore, arguments: argparse.Namespace) -> int:
    from notewell.entries import LIMIT

    limit = LIMIT if arguments.limit is None else arguments.limit
    answer = entries.recall(" ".join(arguments.query), limit=limit)
    if arguments.json:
        told: dict[str, Any] = {"results": [_scored(one) for one in answer.found]}
        told |= {"waiting": answer.waiting}
        print_json(told | ({"notice": answer.notice} if answer.notice else {}))
    else:
        _show(answer.found)
    if answer.waiting:
        tell(f"searched by words alone, as yet without vectors of this model: {answer.waiting}")
    if answer.notice:
        tell(answer.notice)
        return DEGRADED
    if not answer.found:
        tell("nothing found: nothing stored is about this")
        return NOTHING_FOUND
    return 0


def _store(entries: EntryStore, arguments: argparse.Namespace) -> int:
    from notewell.entries import IMPORTANCE, category_of

    text = " ".join(arguments.text)
    done = entries.store(
        text,
        importance=IMPORTANCE if arguments.importance is None else arguments.importance,
        category=arguments.category or category_of(text),
    )
    if arguments.json:
        print_json({"added": done.added, "entry": _as_json(done.entry)})
    else:
        say(f"{'stored' if done.added else 'it is there already'}: {done.entry.id}")
    return 0


def _forget(entries: EntryStore, arguments: argparse.Namespace) -> int:
    if (arguments.id is None) == (arguments.query is None):
        raise BadRequest("say which one: an id, or --query with what it says")
    by_id = arguments.id is not None
    done = entries.forget(arguments.id) if by_id else entries.forget_by(arguments.query)
    if arguments.json:
        gone = _as_json(done.entry) if done.entry else None
        print_json({"deleted": gone, "candidates": [_scored(one) for one in done.candidates]})
    elif done.entry:
        say(f"deleted: {done.entry.id}\n    {_indented(done.entry.text)}")
    else:
        _show(done.candidates)
    if done.entry:
        return 0
    tell(
        "nothing was deleted: it is not clear which is meant; name one by its id"
        if done.candidates
        else "nothing was deleted: there is no such entry"
    )
    return NOTHING_FOUND


def _list(entries: EntryStore, arguments: argparse.Namespace) -> int:
    found = entries.entries()
    if arguments.json:
        print_json({"agent": entries.owner, "entries": [_as_json(entry) for entry in found]})
        return 0
    for entry in found:
        say(f"{entry.id}  {entry.category}\n    {_indented(entry.text)}")
    tell(f"{len(found)} stored by {entries.owner}")
    return 0


def _export(entries: EntryStore, arguments: argparse.Namespace) -> int:
    from notewell.entries import to_markdown

    found = entries.entries()
    text = to_markdown(found, entries.owner)
    if arguments.file in (None, "-"):
        say(text.rstrip("\n"))
        return 0
    try:
        with Path(arguments.file).open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        why = (error.strerror or "unknown error").lower()
        raise BadRequest(f"cannot write {arguments.file!r}: {why}; choose another name") from None
    if arguments.json:
        print_json({"file": arguments.file, "exported": len(found)})
    else:
        say(f"wrote {len(found)} to {arguments.file}")
    return 0


def _import(entries: EntryStore, arguments: argparse.Namespace) -> int:
    from notewell.entries import from_markdown

    done = entries.take_in(from_markdown(_read(arguments.file)))
    if arguments.json:
        told = {"added": done.added, "there": done.there, "differing": done.differing}
        print_json(told)
    else:
        say(f"stored {done.added}; {done.there} were there already")
    if done.differing:
        tell(f"{done.differing} of them say something else in the file: they stay as they were")
    return 0


def _read(file: str) -> str:
    from notewell.entries import MAX_FILE_BYTES

    try:
        if file == "-":
            data = sys.stdin.buffer.read(MAX_FILE_BYTES + 1)
        else:
            with Path(file).open("rb") as opened:
                data = opened.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise BadRequest(f"cannot read {file!r}: {error.strerror or error}") from None
    if len(data) > MAX_FILE_BYTES:
        raise BadRequest(f"{file!r} is larger than {MAX_FILE_BYTES} bytes")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise BadRequest(f"{file!r} is not UTF-8 (byte {error.start + 1})") from None


# -- how they are shown --------------------------------------------------------------------------


def _show(found: tuple[Recalled, ...]) -> None:
    for one in found:
        say(f"{one.entry.id}  {one.score:.2f}  {one.entry.category}")
        say(f"    {_indented(one.entry.text)}\n")


def _indented(text: str) -> str:
    return text.replace("\n", "\n    ")


def _scored(one: Recalled) -> dict[str, Any]:
    return {**_as_json(one.entry), "score": round(one.score, 4)}


def _as_json(entry: MemoryEntry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "text": entry.text,
        "importance": entry.importance,
        "category": entry.category,
        "createdAt": entry.created_at_ms,
        "agent": entry.owner,
        "model": entry.model,
    }


_ACTIONS = {
    "recall": "find entries",
    "store": "store one more",
    "forget": "delete one",
    "list": "show them all",
    "export": "write them as Markdown",
    "import": "take in such a file; entries that are there stay as they are",
}
_DONE_BY = {
    "recall": _recall,
    "store": _store,
    "forget": _forget,
    "list": _list,
    "export": _export,
    "import": _import,
}
