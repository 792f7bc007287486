"""`notewell entries`: the statements that agents have stored, for their user."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from notewell.cli.output import print_json, say, tell
from notewell.cli.place import add_place, location_of
from notewell.errors import BadRequest, MemoryOff

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from notewell.config import Settings
    from notewell.entries import EntriesSettings, EntryStore, MemoryEntry, Recalled

NOTHING_FOUND = 3
DEGRADED = 5


def add_options(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(
        title="actions", description="", metavar="ACTION", required=True
    )
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
    added["forget"].add_argument("id", nargs="?", help="the id, as recall and list show it")
    added["forget"].add_argument(
        "--query", metavar="TEXT", help="the entry that this text clearly means"
    )
    added["export"].add_argument(
        "file", nargs="?", help="a new Markdown file (default: standard output)"
    )
    added["import"].add_argument("file", help="an exported file; `-` reads standard input")


def _action(actions: Any, name: str, summary: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = actions.add_parser(name, help=summary, description=summary)
    parser.set_defaults(action=name)
    add_place(parser)
    return parser


def run(arguments: argparse.Namespace) -> int:
    from notewell.config import load_settings
    from notewell.entries import EntriesSettings

    agent, workspace, settings = location_of(arguments)
    # The settings of an OpenClaw are already translated; only our own still have to be read.
    if settings is None:
        settings = load_settings(Path(workspace), agent)
    if settings.off_because:
        raise MemoryOff(agent, settings.off_because)
    # Also without a setting: a user can list and export entries after switching them off for
    # agents.
    wanted = settings.entries or EntriesSettings()
    with _opened(arguments, settings, wanted) as entries:
        code: int = _DONE_BY[arguments.action](entries, arguments)
    return code


@contextmanager
def _opened(
    arguments: argparse.Namespace,
    settings: Settings,
    entries_settings: EntriesSettings,
) -> Iterator[EntryStore]:
    """With the embedder of the settings, which is loaded when the first text is embedded."""
    import os

    from notewell.config import default_state_dir
    from notewell.embedders import EmbedderSelection, profile_files
    from notewell.entries import EntryStore
    from notewell.redaction import Redactor, load_mask_key

    named = arguments.state_dir
    state = Path(named).expanduser() if named else default_state_dir(os.environ)
    agent = location_of(arguments).agent
    selection = EmbedderSelection(
        settings.embedder,
        state / "models",
        os.environ,
        auth_profiles=profile_files(state, agent),
        started_by_user=True,
    )
    try:
        yield EntryStore(
            entries_settings.folder(state),
            agent,
            selection.embedder,
            redact=Redactor(load_mask_key(state)),
        )
    finally:
        selection.close()


# -- the actions ---------------------------------------------------------------------------------


def _recall(entries: EntryStore, arguments: argparse.Namespace) -> int:
    from notewell.entries import LIMIT

    # `is None` and not `or`: 0 must reach the check that refuses it.
    limit = LIMIT if arguments.limit is None else arguments.limit
    answer = entries.recall(" ".join(arguments.query), limit=limit)
    if arguments.json:
        payload: dict[str, Any] = {"results": [_scored(result) for result in answer.results]}
        payload |= {"waiting": answer.waiting}
        print_json(payload | ({"notice": answer.notice} if answer.notice else {}))
    else:
        _show(answer.results)
    if answer.waiting:
        tell(f"searched by words alone (not yet embedded by this model): {answer.waiting}")
    if answer.notice:
        tell(answer.notice)
    # Either says that the answer may lack something, so the exit code says it as well.
    if answer.waiting or answer.notice:
        return DEGRADED
    if not answer.results:
        tell("nothing found: nothing stored is about this")
        return NOTHING_FOUND
    return 0


def _store(entries: EntryStore, arguments: argparse.Namespace) -> int:
    from notewell.entries import IMPORTANCE, category_of

    text = " ".join(arguments.text)
    stored = entries.store(
        text,
        importance=IMPORTANCE if arguments.importance is None else arguments.importance,
        category=arguments.category or category_of(text),
    )
    if arguments.json:
        print_json({"added": stored.added, "entry": _as_json(stored.entry)})
    else:
        say(f"{'stored' if stored.added else 'it exists already'}: {stored.entry.id}")
    return 0


def _forget(entries: EntryStore, arguments: argparse.Namespace) -> int:
    # Exactly one of the two: with both it would be unclear which entry is deleted.
    if (arguments.id is None) == (arguments.query is None):
        raise BadRequest("say which entry: an id, or --query with its text")
    by_id = arguments.id is not None
    # By text only a single clear match is deleted; otherwise the candidates are shown.
    forgotten = entries.forget(arguments.id) if by_id else entries.forget_by(arguments.query)
    entry, candidates = forgotten.entry, forgotten.candidates
    if arguments.json:
        deleted = _as_json(entry) if entry else None
        print_json({"deleted": deleted, "candidates": [_scored(each) for each in candidates]})
    elif entry:
        say(f"deleted: {entry.id}\n    {_indented(entry.text)}")
    else:
        _show(candidates)
    if entry:
        return 0
    tell(
        "nothing was deleted: it is not clear which entry is meant; give its id"
        if candidates
        else "nothing was deleted: there is no such entry"
    )
    return NOTHING_FOUND


def _list(entries: EntryStore, arguments: argparse.Namespace) -> int:
    stored = entries.entries()
    if arguments.json:
        print_json({"agent": entries.owner, "entries": [_as_json(entry) for entry in stored]})
        return _code(entries)
    for entry in stored:
        say(f"{entry.id}  {entry.category}\n    {_indented(entry.text)}")
    tell(f"{len(stored)} stored by {entries.owner}")
    return _code(entries)


def _code(entries: EntryStore) -> int:
    """Says what was left out, if anything was."""
    if entries.damage is None:
        return 0
    tell(entries.damage)
    return DEGRADED


def _export(entries: EntryStore, arguments: argparse.Namespace) -> int:
    from notewell.entries import to_markdown
    from notewell.files import create_file

    stored = entries.entries()
    text = to_markdown(stored, entries.owner)
    if arguments.file in (None, "-"):
        say(text.rstrip("\n"))
        return _code(entries)
    try:
        # Whole or not at all, and never over another file: it may be all that is left one day.
        made = create_file(Path(arguments.file), text.encode(), durable=True)
    except OSError as error:
        why = (error.strerror or "unknown error").lower()
        raise BadRequest(f"cannot write {arguments.file!r}: {why}; choose another name") from None
    if not made:
        raise BadRequest(f"cannot write {arguments.file!r}: file exists; choose another name")
    if arguments.json:
        print_json({"file": arguments.file, "exported": len(stored)})
    else:
        say(f"wrote {len(stored)} to {arguments.file}")
    return _code(entries)


def _import(entries: EntryStore, arguments: argparse.Namespace) -> int:
    from notewell.entries import from_markdown

    counts = entries.import_entries(from_markdown(_read(arguments.file)))
    if arguments.json:
        print_json({"added": counts.added, "there": counts.there, "differing": counts.differing})
    else:
        say(f"stored {counts.added}; {counts.there} existed already")
    # An import only adds: the stored entry wins over the one in the file.
    if counts.differing:
        tell(f"{counts.differing} of them are different in the file: they were not changed")
    return 0


def _read(file: str) -> str:
    from notewell.entries import MAX_FILE_BYTES

    try:
        if file == "-":
            # One byte more than allowed is enough to see that the input is too large.
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


# -- output --------------------------------------------------------------------------------------


def _show(results: tuple[Recalled, ...]) -> None:
    for result in results:
        say(f"{result.entry.id}  {result.score:.2f}  {result.entry.category}")
        say(f"    {_indented(result.entry.text)}\n")


def _indented(text: str) -> str:
    return text.replace("\n", "\n    ")


def _scored(result: Recalled) -> dict[str, Any]:
    return {**_as_json(result.entry), "score": round(result.score, 4)}


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
    "store": "store an entry",
    "forget": "delete an entry",
    "list": "show all entries",
    "export": "write all entries as Markdown",
    "import": "add the entries of such a file; existing entries are not changed",
}
_DONE_BY = {
    "recall": _recall,
    "store": _store,
    "forget": _forget,
    "list": _list,
    "export": _export,
    "import": _import,
}
