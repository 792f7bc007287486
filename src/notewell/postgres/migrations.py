"""The numbered changes of the schema. To add one: a function, and a row at the end of MIGRATIONS.

A migration that was released never changes. All that a database lacks run in one transaction,
under a lock that one process has at a time. An older version works on a newer schema unless one of
the migrations that it does not know says that it cannot (`breaks_older`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.errors import DatabaseNotReady
from notewell.postgres.database import APP_ROLE, Scope
from notewell.postgres.prerequisites import create_prerequisites
from notewell.postgres.tables import SERVICE_ROWS, AgentTable, TenantTable, protect
from notewell.records import NamedTuple, dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from notewell.postgres.address import Address
    from notewell.postgres.database import Database, Transaction

_LOCK = (0x4E4F5445, 0x57454C4C)
"""The advisory lock of migrations: "NOTE", "WELL"."""


# -- 1: the index --------------------------------------------------------------------------------

# TOAST would move what is longer than 2 kB out of the row, and each search would fetch it back
# piece by piece. A page has 8 kB.
_IN_ROW = "toast_tuple_target = 8160"

INDEX_TABLES = (
    # One row for each complete or growing index. Numbers come from a sequence and are never used
    # twice.
    AgentTable(
        "generations",
        "generation bigint NOT NULL, workspace text NOT NULL, published boolean NOT NULL, "
        "is_suspect boolean NOT NULL DEFAULT false, commits bigint NOT NULL DEFAULT 0, "
        "written_at timestamptz NOT NULL DEFAULT now(), layout integer NOT NULL, "
        "identity jsonb NOT NULL, cosine_scale jsonb, last_id bigint NOT NULL DEFAULT 0, "
        "chunks integer NOT NULL DEFAULT 0, waiting integer NOT NULL DEFAULT 0, "
        "unread integer NOT NULL DEFAULT 0",
        "generation",
    ),
    AgentTable(
        "files",
        'generation bigint NOT NULL, path text COLLATE "C" NOT NULL, source text NOT NULL, '
        "digest text NOT NULL, size bigint NOT NULL, mtime bigint NOT NULL, "
        "ctime bigint NOT NULL, inode text NOT NULL, day text, folder text, host text",
        "generation, path",
    ),
    AgentTable(
        "chunks",
        'generation bigint NOT NULL, id bigint NOT NULL, path text COLLATE "C" NOT NULL, '
        "source text NOT NULL, start_line integer NOT NULL, end_line integer NOT NULL, "
        "digest text NOT NULL, heading text NOT NULL, text text NOT NULL, piece boolean NOT NULL, "
        "line_offset integer NOT NULL, said_at text NOT NULL, block integer NOT NULL, "
        "state smallint NOT NULL DEFAULT 0",
        "generation, id",
        _IN_ROW,
    ),
    # The keyword index: see `notewell.index.postgres.postings`.
    AgentTable(
        "postings",
        "generation bigint NOT NULL, bucket smallint NOT NULL, block integer NOT NULL, "
        "data bytea NOT NULL",
        "generation, bucket, block",
        _IN_ROW,
    ),
    AgentTable(
        "vectors",
        "generation bigint NOT NULL, id bigint NOT NULL, source text NOT NULL, "
        "vector vector NOT NULL, windows bytea NOT NULL",
        "generation, id",
        _IN_ROW,
    ),
    AgentTable(
        "vector_cache",
        "provider text NOT NULL, model text NOT NULL, endpoint_key text NOT NULL, "
        "digest text NOT NULL, dims integer NOT NULL, vector bytea NOT NULL, "
        "windows bytea NOT NULL, added bigint NOT NULL",
        "provider, model, endpoint_key, digest",
    ),
)


def _create_index_tables(transaction: Transaction) -> None:
    transaction.execute("CREATE EXTENSION IF NOT EXISTS vector")
    for sequence in ("generation_numbers", "cache_numbers"):
        transaction.execute(f"CREATE SEQUENCE notewell.{sequence}")
        transaction.execute(f"GRANT USAGE ON SEQUENCE notewell.{sequence} TO {APP_ROLE}")
    for table in INDEX_TABLES:
        table.create(transaction)
    for statement in (
        # One published index for each workspace of an agent.
        "CREATE UNIQUE INDEX published_generation ON notewell.generations "
        "(tenant, agent, workspace) WHERE published",
        "CREATE INDEX chunks_by_place ON notewell.chunks "
        "(tenant, agent, generation, path, start_line)",
        "CREATE INDEX chunks_waiting ON notewell.chunks "
        "(tenant, agent, generation, id) WHERE state = 0",
        "CREATE INDEX cache_by_age ON notewell.vector_cache (tenant, agent, added)",
    ):
        transaction.execute(statement)


# -- 2: the notes --------------------------------------------------------------------------------

NOTE_TABLES = (
    # The row of a note that was removed stays, without data: its next revision has another number.
    AgentTable(
        "notes",
        'path text COLLATE "C" NOT NULL, revision bigint NOT NULL DEFAULT 0, data bytea, '
        "digest text, changed_at timestamptz NOT NULL DEFAULT clock_timestamp()",
        "path",
    ),
    # What a write has replaced. Data is missing where the next revision begins with it.
    AgentTable(
        "note_revisions",
        'path text COLLATE "C" NOT NULL, revision bigint NOT NULL, size bigint NOT NULL, '
        "digest text NOT NULL, changed_at timestamptz NOT NULL, data bytea",
        "path, revision",
    ),
    # The agents that have notes: the other tables show an agent nothing of the others.
    AgentTable("note_agents", "since timestamptz NOT NULL DEFAULT clock_timestamp()", ""),
)


def _create_note_tables(transaction: Transaction) -> None:
    for table in NOTE_TABLES:
        table.create(transaction)
    # Names alone, and only to read: a backup has to find every agent of its tenant.
    transaction.execute(
        "CREATE POLICY same_tenant ON notewell.note_agents FOR SELECT "
        "USING (tenant = current_setting('app.tenant', true))"
    )


# -- 3: tokens and repeated requests of a service ------------------------------------------------

_TOKENS = TenantTable(
    "tokens",
    "digest text NOT NULL, id text NOT NULL, kind text NOT NULL, record jsonb NOT NULL, "
    "created_at timestamptz NOT NULL DEFAULT clock_timestamp()",
    "digest",
)
_LOGIN_LINKS = TenantTable(
    "login_links", "digest text NOT NULL, expires_s float8 NOT NULL", "digest"
)
_IDEMPOTENCY = AgentTable(
    "idempotency",
    "name text NOT NULL, request text NOT NULL, begun timestamptz NOT NULL, status integer, "
    "body json",
    "name",
)


def _create_service_tables(transaction: Transaction) -> None:
    for table in (_TOKENS, _LOGIN_LINKS, _IDEMPOTENCY):
        table.create(transaction)
    for statement in (
        "CREATE UNIQUE INDEX tokens_by_id ON notewell.tokens (tenant, id)",
        "CREATE INDEX idempotency_by_age ON notewell.idempotency (tenant, agent, begun)",
    ):
        transaction.execute(statement)


# -- 4: the journal -------------------------------------------------------------------------------

_JOURNAL = AgentTable(
    "journal", "log text NOT NULL, number bigint NOT NULL, line text NOT NULL", "log, number"
)


def _create_journal(transaction: Transaction) -> None:
    transaction.execute("CREATE SEQUENCE notewell.journal_numbers")
    transaction.execute(f"GRANT USAGE ON SEQUENCE notewell.journal_numbers TO {APP_ROLE}")
    _JOURNAL.create(transaction)


# -- 5: agents that come and go ------------------------------------------------------------------


def _let_services_change_agents(transaction: Transaction) -> None:
    for statement in (
        "CREATE SEQUENCE notewell.agent_changes",
        f"GRANT USAGE ON SEQUENCE notewell.agent_changes TO {APP_ROLE}",
        # An agent that is no longer served keeps its notes, and its row for a backup.
        "ALTER TABLE notewell.note_agents ADD COLUMN removed_at timestamptz, "
        "ADD COLUMN change bigint NOT NULL DEFAULT nextval('notewell.agent_changes')",
        f"CREATE POLICY service_rows ON notewell.note_agents USING ({SERVICE_ROWS}) "
        f"WITH CHECK ({SERVICE_ROWS})",
    ):
        transaction.execute(statement)


# -- 6: the queue of syncs -----------------------------------------------------------------------

_SYNC_QUEUE = AgentTable(
    "sync_queue",
    "number bigint NOT NULL DEFAULT nextval('notewell.queue_numbers'), "
    "since timestamptz NOT NULL DEFAULT clock_timestamp(), "
    "not_before timestamptz NOT NULL DEFAULT 'epoch', attempts integer NOT NULL DEFAULT 0",
    "number",
)


def _create_queue(transaction: Transaction) -> None:
    transaction.execute("CREATE SEQUENCE notewell.queue_numbers")
    transaction.execute(f"GRANT USAGE ON SEQUENCE notewell.queue_numbers TO {APP_ROLE}")
    _SYNC_QUEUE.create(transaction)
    for statement in (
        f"CREATE POLICY service_rows ON notewell.sync_queue USING ({SERVICE_ROWS}) "
        f"WITH CHECK ({SERVICE_ROWS})",
        "CREATE INDEX queue_in_order ON notewell.sync_queue (tenant, number)",
        # The sum of the revisions tells a search whether a note has changed.
        "CREATE INDEX notes_by_revision ON notewell.notes (tenant, agent, revision)",
    ):
        transaction.execute(statement)


# -- 7: vectors of large indexes in half precision -----------------------------------------------

_HALF_VECTORS = AgentTable(
    "half_vectors",
    "generation bigint NOT NULL, id bigint NOT NULL, source text NOT NULL, "
    "vector halfvec NOT NULL",
    "generation, id",
    _IN_ROW,
)


def _create_half_vectors(transaction: Transaction) -> None:
    _HALF_VECTORS.create(transaction)
    # NULL: no copy. An index gets one when it is written next, if it is large.
    transaction.execute("ALTER TABLE notewell.generations ADD COLUMN half_commits bigint")


# -- 8: conversations ----------------------------------------------------------------------------

CONVERSATION_TABLES = (
    # The row of a conversation that was removed stays, as that of a note does.
    AgentTable(
        "conversations",
        'name text COLLATE "C" NOT NULL, revision bigint NOT NULL DEFAULT 0, '
        "size bigint NOT NULL DEFAULT 0, "
        "changed_at timestamptz NOT NULL DEFAULT clock_timestamp()",
        "name",
    ),
    AgentTable(
        "conversation_records",
        'name text COLLATE "C" NOT NULL, number bigint NOT NULL, id text COLLATE "C", '
        "record text NOT NULL",
        "name, number",
    ),
)


def _create_conversation_tables(transaction: Transaction) -> None:
    for table in CONVERSATION_TABLES:
        table.create(transaction)
    for statement in (
        "CREATE UNIQUE INDEX conversation_messages ON notewell.conversation_records "
        "(tenant, agent, name, id)",
        "CREATE INDEX conversations_by_revision ON notewell.conversations "
        "(tenant, agent, revision)",
    ):
        transaction.execute(statement)


# -- all of them ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Migration:
    number: int
    name: str
    apply: Callable[[Transaction], None]
    breaks_older: bool = False
    """Whether a version that does not know it must not use the database any more."""


MIGRATIONS: Sequence[Migration] = (
    Migration(1, "index", _create_index_tables),
    Migration(2, "notes", _create_note_tables),
    Migration(3, "tokens and idempotency keys", _create_service_tables),
    Migration(4, "journal", _create_journal),
    Migration(5, "agents that come and go", _let_services_change_agents),
    Migration(6, "queue of syncs", _create_queue),
    Migration(7, "half vectors", _create_half_vectors),
    Migration(8, "conversations", _create_conversation_tables),
)


class AppliedMigration(NamedTuple):
    number: int
    name: str
    breaks_older: bool


@dataclass(frozen=True, slots=True)
class SchemaState:
    """Which migrations a database has."""

    applied: tuple[AppliedMigration, ...]

    @property
    def numbers(self) -> frozenset[int]:
        return frozenset(one.number for one in self.applied)

    @property
    def missing(self) -> tuple[Migration, ...]:
        """What this version needs, and the database lacks."""
        return tuple(one for one in MIGRATIONS if one.number not in self.numbers)

    @property
    def newer(self) -> tuple[AppliedMigration, ...]:
        """What a newer version has added."""
        known = {one.number for one in MIGRATIONS}
        return tuple(one for one in self.applied if one.number not in known)

    def problem(self) -> tuple[str, str] | None:
        """Why this version cannot use the database, and what helps; None if it can."""
        if not self.applied:
            return "has no tables of Notewell", "run `notewell db init`"
        if self.missing:
            names = ", ".join(one.name for one in self.missing)
            return f"is older than this version: it lacks {names}", "run `notewell db migrate`"
        if breaking := [one.name for one in self.newer if one.breaks_older]:
            names = ", ".join(breaking)
            return f"is newer than this version, which does not know {names}", "upgrade Notewell"
        return None


def schema_state(transaction: Transaction) -> SchemaState:
    """Reads the table of migrations; none of them are applied if there is no such table."""
    if transaction.rows("SELECT to_regclass('notewell.migrations') IS NULL") == [(True,)]:
        return SchemaState(())
    rows = transaction.rows(
        "SELECT number, name, breaks_older FROM notewell.migrations ORDER BY number"
    )
    return SchemaState(tuple(AppliedMigration(*row) for row in rows))


def unknown_parts(database: Database, tenant: str) -> tuple[str, ...]:
    """What a newer version has added, and this one does not use."""
    with database.reading(Scope.service(tenant)) as transaction:
        return tuple(one.name for one in schema_state(transaction).newer)


def require_schema(transaction: Transaction, address: Address) -> None:
    """Raises `DatabaseNotReady` if this version cannot work with the schema."""
    if problem := schema_state(transaction).problem():
        raise DatabaseNotReady(str(address), *problem)


def migrate(database: Database) -> tuple[Migration, ...]:
    """Apply what is missing: all of it or nothing. Returns what was applied.

    The user of the connection string becomes the owner of the schema, and needs the right to
    create it, the extension and the role, unless they are there already.
    """
    with database.as_owner() as transaction:
        transaction.execute("SELECT pg_advisory_xact_lock(%s, %s)", _LOCK)
        _create_base(transaction, database.address)
        missing = schema_state(transaction).missing
        for migration in missing:
            migration.apply(transaction)
            transaction.execute(
                "INSERT INTO notewell.migrations (number, name, breaks_older) VALUES (%s, %s, %s)",
                (migration.number, migration.name, migration.breaks_older),
            )
    return missing


def _create_base(transaction: Transaction, address: Address) -> None:
    """All that the migrations need, and their own table; what is there stays."""
    create_prerequisites(transaction, address)
    transaction.execute(f"GRANT USAGE ON SCHEMA notewell TO {APP_ROLE}")
    if transaction.rows("SELECT to_regclass('notewell.migrations') IS NULL") == [(True,)]:
        transaction.execute(
            "CREATE TABLE notewell.migrations (number integer PRIMARY KEY, "
            "name text NOT NULL, breaks_older boolean NOT NULL, "
            "applied_at timestamptz NOT NULL DEFAULT now())"
        )
        protect(transaction, "migrations", "true")
        transaction.execute(f"GRANT SELECT ON notewell.migrations TO {APP_ROLE}")
