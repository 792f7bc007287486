"""Assembles a memory. This is the only module that chooses parts.

    settings ─▶ store, embedder, notes, transcripts, redactor ─▶ Indexer ─▶ engine ─▶ Memory

Every package below gets its own settings and the parts that it uses; none sees all settings, and
none knows which storage engine, embedder or search engine it works with.
"""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from notewell.capture import user_zone
from notewell.config import default_state_dir, load_settings
from notewell.databases import (
    MAIN,
    checked_id,
    journal_logs,
    own_settings,
    postgres_notes,
    stored_conversations,
)
from notewell.embedders import EmbedderSelection, profile_files
from notewell.engines import BuiltinEngine
from notewell.errors import BadSetting, MemoryOff
from notewell.index import StorePlace
from notewell.memory import Memory
from notewell.notes import IN_DATABASE, open_notes
from notewell.notes.workspace import Workspace
from notewell.records import NamedTuple, replace
from notewell.sessions import kept_dir
from notewell.stores import choose_store, index_dir
from notewell.sync import Indexer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import tzinfo

    from notewell.capture import CaptureSettings, Journal
    from notewell.config import Settings
    from notewell.core import Binding
    from notewell.embedders import SharedModels
    from notewell.engines import Engine, SearchElsewhere, StoreSearcher
    from notewell.entries import EntriesSettings, EntryStore
    from notewell.notes import NoteStore
    from notewell.ports import Embedder, Reranker
    from notewell.sessions import DeltaLimits, SessionSettings, TranscriptSource
    from notewell.stores import StoreChoice
    from notewell.sync import SyncRecord

LEASE_WAIT_S = 10.0
"""Writing text takes seconds. A caller that waits longer wants to know why."""


def open_memory(
    workspace: str | Path | None = None,
    *,
    agent: str | None = None,
    channel: str | None = None,
    account: str | None = None,
    peer: tuple[str, str] | None = None,
    guild: str | None = None,
    team: str | None = None,
    state_dir: str | Path | None = None,
    settings: Settings | None = None,
    embedder: Embedder | None = None,
    shared_models: SharedModels | None = None,
    reranker: Reranker | None = None,
    searcher: StoreSearcher | None = None,
    environment: Mapping[str, str] = os.environ,
    now_ns: Callable[[], int] = time.time_ns,
    lease_wait_s: float = LEASE_WAIT_S,
    started_by_user: bool = False,
) -> Memory:
    """Open the memory of one agent over one workspace. Nothing is written before its first use.

    The workspace `postgres:` stands for the notes in the database of the user's settings.
    Without a `workspace` the settings must give the agent one. The agent is `main`, or the one
    that is named, or the one to which the bindings of the settings route a message: it has a
    `channel`, and may have an `account`, a `peer` (`("group", "-100")`), a `guild` and a `team`.

    `settings` default to the user's and the workspace's settings file, `state_dir` to
    NOTEWELL_STATE_DIR or the platform's folder for state, `embedder` to the one in the settings.
    Memories of one process that get the same `shared_models` load a model of this machine once.
    A `reranker` reorders the best chunks of each search, if it is fast enough. A `searcher` reads
    the index in place of the calling thread, unless there is a reranker.
    `started_by_user` is for programs that a person runs: `provider: auto` may then use an API key
    of the environment, if the settings have `useEnvironmentKeys`. Otherwise it never does.
    """
    message = (channel, account, peer, guild, team)
    agent, folder = _agent_and_folder(workspace, agent, message, environment)
    if state_dir is not None and not str(state_dir):
        raise BadSetting("state dir", "it is empty; name a folder or leave it out")
    notes, settings = _notes_and_settings(folder, agent, settings, environment)
    state = Path(state_dir).expanduser() if state_dir else default_state_dir(environment)
    selection = EmbedderSelection(
        settings.embedder,
        state / "models",
        environment,
        embedder,
        auth_profiles=profile_files(state, agent),
        started_by_user=started_by_user,
        shared=shared_models,
    )
    home = index_dir(state, agent, _index_key(notes, settings), settings.store.path)
    store = choose_store(home, settings.store, environment)
    indexer = _indexer(
        notes, agent, state, settings, store, selection.embedder, now_ns, lease_wait_s
    )
    elsewhere = None
    # A server does most of the work of a search in PostgreSQL, and no process gets a password.
    if searcher is not None and settings.store.driver == "sqlite":
        elsewhere = partial(searcher.search, StorePlace(home, settings.store))
    builtin = _builtin(indexer, selection, settings, agent, reranker, state, elsewhere)
    return Memory(
        _engine(builtin, settings, agent, state, environment),
        builtin,
        settings=settings,
        agent=agent,
        state_dir=state,
        now_ns=now_ns,
        zone=user_zone(settings.capture),
        open_journal=partial(_journal, state, agent, settings.capture),
        open_entries=partial(_entries, state, agent, settings.entries),
    )


def _notes_and_settings(
    folder: Path, agent: str, settings: Settings | None, environment: Mapping[str, str]
) -> tuple[NoteStore, Settings]:
    if str(folder) == IN_DATABASE:
        settings = _usable(settings or own_settings(agent, environment), agent)
        return postgres_notes(agent, settings, environment), settings
    # Resolved first: the settings file and the folder of the index depend on the real path.
    root = Workspace.open(folder).root
    settings = _usable(settings or load_settings(root, agent, environment), agent)
    return open_notes(root, settings.notes.extra_paths), settings


def _index_key(notes: NoteStore, settings: Settings) -> str:
    """What tells the indexes of an agent apart. In a database, tenant and agent already do, and
    machines that reach the server under different names share one index."""
    shared = notes.folder is None and settings.store.driver == "postgres"
    return IN_DATABASE if shared else notes.location


def _usable(settings: Settings, agent: str) -> Settings:
    if not settings.notes.enabled and not settings.sessions.enabled:
        raise BadSetting("sources", "neither notes nor transcripts are searched; name one of them")
    # Before any part is made: a memory that is switched off creates no file and loads no model.
    if settings.off_because:
        raise MemoryOff(agent, settings.off_because)
    return settings


_Message: TypeAlias = (
    "tuple[str | None, str | None, tuple[str, str] | None, str | None, str | None]"
)
"""Channel, account, peer, guild and team."""


def _agent_and_folder(
    workspace: str | Path | None,
    agent: str | None,
    message: _Message,
    environment: Mapping[str, str],
) -> tuple[str, Path]:
    """Whose memory is opened, and the folder of its notes."""
    is_routed = any(part is not None for part in message)
    if is_routed and agent is not None:
        raise BadSetting("agent", "name an agent, or a channel that decides it, not both")
    if workspace is not None and not is_routed:
        return checked_id(MAIN if agent is None else agent), Path(workspace)
    from notewell.config import ConfigScope, load_configuration, read_configuration

    configuration = read_configuration(ConfigScope(), environment)
    if is_routed:
        agent = configuration.route(_binding(*message)).agent
    id_ = checked_id(configuration.default_agent if agent is None else agent)
    # Raises for a mistake in the bindings, which could route to the wrong agent, but not for one
    # in the workspace of another agent.
    folder = load_configuration(agent=id_, environment=environment).agents[id_].workspace
    if workspace is None and folder is None:
        raise BadSetting("workspace", f"the settings give agent {id_!r} no folder: name one")
    return id_, Path(workspace or folder or "")


def _binding(
    channel: str | None,
    account: str | None,
    peer: tuple[str, str] | None,
    guild: str | None,
    team: str | None,
) -> Binding:
    """A message in the form of a binding, which is what bindings are compared with."""
    from notewell.core import Binding, Peer, chat_type_of

    if not channel:
        raise BadSetting("channel", "a message has one: name it beside the account and the peer")
    if peer is None:
        return Binding("", channel, account, None, guild, team)
    kind = chat_type_of(peer[0])
    if kind is None:
        raise BadSetting("peer", f"{peer[0]!r} is not a kind: `direct`, `group` or `channel`")
    return Binding("", channel, account, Peer(kind, peer[1]), guild, team)


def _indexer(
    notes: NoteStore,
    agent: str,
    state: Path,
    settings: Settings,
    choice: StoreChoice,
    embedder: Embedder,
    now_ns: Callable[[], int],
    lease_wait_s: float,
) -> Indexer:
    local = next(iter(choice.store.local_paths()), None)
    sessions = _sessions(settings, agent, state, notes)
    has_kept_files = settings.sessions.search_kept and notes.folder is not None
    return Indexer(
        notes=notes,
        indexes_notes=settings.notes.enabled,
        open_transcripts=sessions.open_transcripts,
        delta_limits=sessions.delta_limits,
        redact_notes=sessions.redact_notes,
        redaction=sessions.redaction,
        configured_sources=_configured_sources(settings),
        store=choice.store,
        embedder=embedder,
        chunk_tokens=settings.sync.chunk_tokens,
        chunk_overlap=settings.sync.chunk_overlap,
        vector_driver=choice.driver,
        driver_problem=choice.problem,
        keyword_only=settings.search.keyword_only,
        now_ns=now_ns,
        monotonic_s=time.monotonic,
        lease_wait_s=lease_wait_s,
        requested_driver=choice.requested,
        look_file=local / "LOOKED" if local else None,
        kept=kept_dir(state, agent, notes.location) if has_kept_files else None,
    )


class _Sessions(NamedTuple):
    open_transcripts: Callable[[], TranscriptSource | None]
    delta_limits: DeltaLimits | None = None
    redact_notes: Callable[[str], str] | None = None
    redaction: str = ""
    """Identifies rules and key: text that was redacted differently must be indexed again."""


def _configured_sources(settings: Settings) -> tuple[str, ...]:
    named = {"memory": settings.notes.enabled, "sessions": settings.sessions.enabled}
    return tuple(name for name, is_named in named.items() if is_named)


def _sessions(settings: Settings, agent: str, state: Path, notes: NoteStore) -> _Sessions:
    """The transcripts and the redactor. Neither module is loaded unless it is needed."""
    sessions, redact_notes = settings.sessions, settings.notes.redact
    if notes.folder is None:
        open_transcripts = partial(_stored_transcripts, sessions, state, notes)
    else:
        kept = kept_dir(state, agent, notes.location)
        open_transcripts = partial(_transcripts, sessions, agent, state, kept)
    if not sessions.enabled and not redact_notes:
        # What is kept was redacted when it was written, so the index does not depend on the key.
        return _Sessions(open_transcripts)
    import hashlib

    from notewell.redaction import RULES_VERSION, Redactor, load_mask_key

    key = load_mask_key(state)
    # A digest of the key, never the key: the value is stored in the index.
    redaction = f"{RULES_VERSION}-{hashlib.sha256(key).hexdigest()[:8]}"
    return _Sessions(
        open_transcripts,
        _delta_limits(sessions),
        Redactor(key) if redact_notes else None,
        f"{redaction}-notes" if redact_notes else redaction,
    )


def _delta_limits(sessions: SessionSettings) -> DeltaLimits | None:
    """Kept conversations grow by whole turns: they do not wait."""
    if not sessions.enabled:
        return None
    from notewell.sessions import DeltaLimits

    return DeltaLimits(sessions.delta_bytes, sessions.delta_messages)


def _stored_transcripts(
    sessions: SessionSettings, state: Path, notes: NoteStore
) -> TranscriptSource | None:
    """What is searched beside notes in a database. All machines share that index, and files of one
    machine would come and go in it with each sync of another one: so only conversations in the
    database are searched."""
    folders = [f"sessions/{name}" for _, name in sessions.folders] if sessions.enabled else []
    is_searched = sessions.search_kept or sessions.enabled
    return stored_conversations(notes, state, folders) if is_searched else None


def _transcripts(
    sessions: SessionSettings, agent: str, state: Path, kept: Path
) -> TranscriptSource | None:
    """What is searched. What hooks have kept in the folder `kept` is searched whatever `sources`
    says; None until there is something kept, so that a search, which asks each time, does not load
    what it does not need."""
    # Not `Path.is_dir`, which raises if the state folder is closed: `doctor` must go on.
    is_kept = sessions.search_kept and os.path.isdir(kept)  # noqa: PTH112
    if not sessions.enabled and not is_kept:
        return None
    from notewell.redaction import DeferredRedactor
    from notewell.sessions import KEPT, TranscriptFolder, Transcripts, forgotten_file

    places = [TranscriptFolder(kept, KEPT, appears_later=True)] if sessions.search_kept else []
    if sessions.enabled:
        places.append(TranscriptFolder(state / "agents" / agent / "sessions"))
        places += [TranscriptFolder(*folder) for folder in sessions.folders]
    return Transcripts(places, DeferredRedactor(state), forgotten=forgotten_file(kept))


def _builtin(
    indexer: Indexer,
    selection: EmbedderSelection,
    settings: Settings,
    agent: str,
    reranker: Reranker | None,
    state: Path,
    search_elsewhere: SearchElsewhere | None,
) -> BuiltinEngine:
    zone = user_zone(settings.capture)
    return BuiltinEngine(
        indexer,
        selection,
        settings.search,
        agent,
        reranker,
        sync_on_search=settings.sync.on_search,
        extra_paths=settings.notes.extra_paths,
        zone=zone,
        open_record=partial(_record, state, agent, indexer.notes.location, indexer.now_ns, zone),
        search_elsewhere=search_elsewhere,
    )


def _engine(
    builtin: BuiltinEngine,
    settings: Settings,
    agent: str,
    state: Path,
    environment: Mapping[str, str],
) -> Engine:
    """The engine that the settings name. QMD needs the built-in engine only as its fallback."""
    if settings.qmd is None:
        return builtin
    from notewell.engines import FallbackEngine, open_qmd
    from notewell.qmd import ExtraFolder

    # QMD knows nothing of our extra paths, so each becomes one of its collections. Otherwise the
    # two engines would search different notes.
    extra_paths = settings.notes.extra_paths
    folders = tuple(ExtraFolder(extra.path, extra.pattern) for extra in extra_paths)
    qmd_settings = replace(settings.qmd, paths=(*settings.qmd.paths, *folders))
    qmd = open_qmd(qmd_settings, builtin.indexer, extra_paths, agent, state, environment)
    return FallbackEngine(qmd, builtin if settings.fallback_engine == "builtin" else None)


def _entries(
    state: Path, agent: str, settings: EntriesSettings | None, embedder: Embedder
) -> EntryStore | None:
    if settings is None:
        return None
    from notewell.entries import EntryStore
    from notewell.redaction import Redactor, load_mask_key

    return EntryStore(
        settings.folder(state), agent, embedder, redact=Redactor(load_mask_key(state))
    )


def _record(
    state: Path, agent: str, location: str, now_ns: Callable[[], int], zone: tzinfo | None
) -> SyncRecord:
    from notewell.capture import capture_dir
    from notewell.sync import SyncRecord

    def now() -> datetime:
        return datetime.fromtimestamp(now_ns() / 1e9, UTC).astimezone(zone)

    return SyncRecord(capture_dir(state, agent, location) / "sync.json", now)


def _journal(state: Path, agent: str, settings: CaptureSettings, memory: Memory) -> Journal:
    from notewell.capture import Journal, capture_dir

    # Loaded at the first use: loading creates the key file, if there is none.
    def load_redactor() -> Callable[[str], str]:
        from notewell.redaction import Redactor, load_mask_key

        return Redactor(load_mask_key(state))

    return Journal(
        capture_dir(state, agent, memory.notes.location),
        memory.notes,
        logs=journal_logs(memory.notes),
        load_redactor=load_redactor,
        now=memory.now,
        settings=settings,
    )
