"""The PostgreSQL database that the user's own settings name, and what in it is an agent's."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from notewell.errors import BadSetting
from notewell.records import NamedTuple, replace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from notewell.capture import Logs
    from notewell.config import Settings
    from notewell.notes import NoteStore
    from notewell.notes.postgres import PostgresNotes
    from notewell.postgres import Database
    from notewell.sessions import StoredConversations

MAIN = "main"
"""The agent without a name of its own."""


def checked_id(agent: str) -> str:
    """The id in lower case: an agent that is written in two ways has one index.

    It becomes part of a folder name: no separator and no dot, so it cannot leave the state folder.
    """
    # Most memories are of `main`: then the module that knows ids is not loaded.
    if agent == MAIN:
        return agent
    from notewell.core import agent_id

    id_ = agent_id(agent)
    if id_ is None:
        raise BadSetting(
            "agent", f"{agent!r} is not an id: letters, digits, `-` and `_`, up to 64"
        )
    return id_


def database_notes(agent: str, environment: Mapping[str, str] = os.environ) -> PostgresNotes:
    """The notes of an agent in the database that the user's own settings name."""
    settings = own_settings(agent, environment)
    return postgres_notes(agent, settings, environment)


class TenantDatabase(NamedTuple):
    """What all services of a tenant share."""

    database: Database
    tenant: str


def tenant_database(environment: Mapping[str, str] = os.environ) -> TenantDatabase:
    """The database and the tenant that the user's own settings name."""
    from notewell.postgres import configured_address, shared_database

    store = own_settings(MAIN, environment).store
    database = shared_database(configured_address(store.url, environment))
    return TenantDatabase(database, store.tenant)


def database_agents(environment: Mapping[str, str] = os.environ) -> list[str]:
    """The agents of the tenant that have notes in the database."""
    from notewell.notes.postgres import agents_with_notes
    from notewell.postgres import Scope

    database, tenant = tenant_database(environment)
    return agents_with_notes(database, Scope(tenant, MAIN))


def journal_logs(notes: NoteStore) -> Logs | None:
    """The journal of notes in a database, which is beside them; None: it is in a folder."""
    if notes.folder is not None:
        return None
    from notewell.notes.postgres import PostgresNotes

    if not isinstance(notes, PostgresNotes):
        return None
    from notewell.capture.postgres import PostgresLogs

    return PostgresLogs(notes.database, notes.scope)


def stored_conversations(
    notes: NoteStore, state: Path, folders: Sequence[str] = ()
) -> StoredConversations | None:
    """The conversations beside notes in a database; None: they are files of this machine.
    `folders` of transcripts are named as what is not searched."""
    if notes.folder is not None:
        return None
    from notewell.notes.postgres import PostgresNotes

    if not isinstance(notes, PostgresNotes):
        return None
    from notewell.redaction import DeferredRedactor
    from notewell.sessions import StoredConversations

    return StoredConversations(notes.database, notes.scope, DeferredRedactor(state), folders)


def own_settings(agent: str, environment: Mapping[str, str]) -> Settings:
    """Without a workspace: no file of one may choose a database. The index is where the notes are,
    unless the settings name another store."""
    from notewell.config import load_configuration, settings_of
    from notewell.config.agents import DEFAULT

    configuration = load_configuration(agent=agent, environment=environment)
    own = configuration.agents[agent]
    settings = settings_of(own, configuration.providers)
    if own.origins["memorySearch.store.driver"] != DEFAULT:
        return settings
    return replace(settings, store=replace(settings.store, driver="postgres"))


def postgres_notes(
    agent: str, settings: Settings, environment: Mapping[str, str]
) -> PostgresNotes:
    from notewell.postgres import Scope, configured_address, shared_database

    address = configured_address(settings.store.url, environment)
    from notewell.notes.postgres import PostgresNotes

    database, scope = shared_database(address), Scope(settings.store.tenant, checked_id(agent))
    return PostgresNotes(database, scope, settings.notes.extra_paths)
