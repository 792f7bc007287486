"""What every PostgreSQL store is built on. Imported only if a PostgreSQL store is configured.

    database     connections, and transactions that belong to one tenant and agent. START HERE
    address      a connection string, and the part of it that may be shown
    failures     turns the errors of psycopg into ours, without a password in any of them
    sync_queue   the agents whose index may be behind their notes
    hints        LISTEN and NOTIFY, which may be lost
    seats        how many leases a process holds at the same time
    leases       locks that the server frees when the connection of their holder ends
    tables       how a table of agents is made: partitions, row-level security, grants
    migrations   the numbered changes of the schema, and which of them a database has
    prerequisites  what must be there before the tables, and who has to create it
    inspection   what a server must be and have: versions, extension, roles, settings

Nothing here depends on a session of the server: every transaction sets what it needs for itself.
So a pooler such as PgBouncer may give each of them another connection.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.postgres.address import Address, configured_address
    from notewell.postgres.database import Database, Scope, Transaction, shared_database
    from notewell.postgres.hints import Hints
    from notewell.postgres.inspection import ServerFinding, inspect_server
    from notewell.postgres.leases import AdvisoryLease, LeaseTimeout, hold_lease, lease_holder
    from notewell.postgres.migrations import SchemaState, migrate, schema_state, unknown_parts
    from notewell.postgres.sync_queue import ClaimedSync, SyncQueue
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "address": "Address configured_address",
            "database": "Database Scope Transaction shared_database",
            "hints": "Hints",
            "inspection": "ServerFinding inspect_server",
            "leases": "AdvisoryLease LeaseTimeout hold_lease lease_holder",
            "migrations": "SchemaState migrate schema_state unknown_parts",
            "sync_queue": "ClaimedSync SyncQueue",
        },
    )
