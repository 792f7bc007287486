"""Which store keeps an index: SQLite in a folder of this machine, or PostgreSQL."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from notewell.core import short_sha256
from notewell.errors import BadSetting
from notewell.index import StoreSettings
from notewell.index.sqlite import SqliteStore, usable_driver
from notewell.records import NamedTuple, replace

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from notewell.index import IndexStore

DIGEST_CHARS = 12
"""Of the workspace, in the name of an index folder."""


def index_dir(state: Path, agent: str, workspace: str | Path, indexes: Path | None = None) -> Path:
    """One index per agent and workspace: two folders never share one, nor do two agents, even if
    their settings name the same folder for `indexes`."""
    digest = short_sha256(str(workspace))[:DIGEST_CHARS]
    return (indexes or state / "memory") / f"{agent}-{digest}"


def index_stores(state: Path, agent: str, indexes: Path | None = None) -> list[Path]:
    """The folders of the indexes of all workspaces of an agent; see `index_dir`."""
    parents = dict.fromkeys([state / "memory", *([indexes] if indexes else [])])
    return [
        folder
        for parent in parents
        for folder in sorted(parent.glob(f"{agent}-*"))
        # Another agent's id may begin with this one's.
        if folder.is_dir() and _is_digest(folder.name.removeprefix(f"{agent}-"))
    ]


def _is_digest(text: str) -> bool:
    return len(text) == DIGEST_CHARS and set(text) <= set("0123456789abcdef")


def store_at(folder: Path, settings: StoreSettings | None = None) -> IndexStore:
    """The store of the index in a folder; nothing is read or written yet. An index in PostgreSQL
    is named as its folder would be."""
    return choose_store(folder, settings or StoreSettings(), os.environ).store


class StoreChoice(NamedTuple):
    """A store, and how it keeps vectors."""

    store: IndexStore
    driver: str
    requested: str
    """The vector driver that the settings name."""
    problem: str | None = None
    """Why it is not the one in use."""


def choose_store(
    folder: Path, settings: StoreSettings, environment: Mapping[str, str]
) -> StoreChoice:
    if settings.driver == "postgres":
        return _postgres_store(folder.name, settings, environment)
    if settings.driver != "sqlite":
        known = "'sqlite' or 'postgres'"
        raise BadSetting("store.driver", f"{settings.driver!r} is unknown; choose {known}")
    choice = usable_driver(settings)
    store = SqliteStore(folder, choice.driver, settings.cache_entries, choice.problem)
    return StoreChoice(store, choice.driver.name, choice.requested, choice.problem)


def _postgres_store(
    name: str, settings: StoreSettings, environment: Mapping[str, str]
) -> StoreChoice:
    """`name` is that of `index_dir`: the agent, and a digest of its workspace."""
    from notewell.postgres import configured_address

    # First: it says which package is missing.
    address = configured_address(settings.url, environment)
    from notewell.index.postgres import DRIVER, PostgresStore
    from notewell.postgres import Scope, shared_database

    agent, _, workspace = name.rpartition("-")
    database, scope = shared_database(address), Scope(settings.tenant, agent)
    store = PostgresStore(database, scope, workspace, settings.cache_entries)
    return StoreChoice(store, DRIVER, DRIVER)


def other_stores(
    state: Path, agent: str, settings: StoreSettings, own: IndexStore
) -> list[IndexStore]:
    """The indexes of the agent's other workspaces."""
    here = {folder.resolve() for folder in own.local_paths()}
    folders = index_stores(state, agent, settings.path)
    # Files stay when the settings change to PostgreSQL.
    local = replace(settings, driver="sqlite")
    stores = [store_at(folder, local) for folder in folders if folder.resolve() not in here]
    if settings.driver == "postgres":
        from notewell.index.postgres import other_workspaces

        stores += other_workspaces(own)
    return stores
