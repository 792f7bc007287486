"""How a table of agents is made: hash partitions by agent, forced row-level security, grants.

Each table has the columns `tenant` and `agent` first, and its primary key begins with them. The
policy compares both with what the transaction has set; without a tenant nothing is equal to the
missing value, so nothing is visible. Only the whole table is granted to the role of the stores:
a partition has a policy of its own for nobody.

What belongs to a service and to no agent, such as its tokens, is in tables with `tenant` alone.
Only a transaction of the service (`Scope.service`) sees them, never one of an agent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.postgres.database import APP_ROLE, SERVICE
from notewell.records import dataclass

if TYPE_CHECKING:
    from notewell.postgres.database import Transaction

PARTITIONS = 16
"""Enough to spread ten million chunks, few enough that a plan and a backup stay small."""

OWN_ROWS = (
    "tenant = current_setting('app.tenant', true) AND agent = current_setting('app.agent', true)"
)
"""`true`: NULL if it is not set, which is equal to nothing."""

SERVICE_ROWS = (
    "tenant = current_setting('app.tenant', true) "
    f"AND current_setting('app.agent', true) = '{SERVICE}'"
)
"""For transactions of a service."""


@dataclass(frozen=True, slots=True)
class AgentTable:
    """A table whose rows belong to agents."""

    name: str
    columns: str
    """Besides `tenant` and `agent`."""
    key: str
    """The primary key, after `tenant` and `agent`; empty if there is one row for each agent."""
    options: str = ""
    """Storage parameters of the partitions."""

    def create(self, transaction: Transaction) -> None:
        key = f"tenant, agent, {self.key}" if self.key else "tenant, agent"
        transaction.execute(
            # "C" compares bytes, whatever language the database was made for.
            f'CREATE TABLE notewell.{self.name} (tenant text COLLATE "C" NOT NULL, '
            f'agent text COLLATE "C" NOT NULL, '
            f"{self.columns}, PRIMARY KEY ({key})) PARTITION BY HASH (agent)"
        )
        protect(transaction, self.name, OWN_ROWS)
        transaction.execute(
            f"GRANT SELECT, INSERT, UPDATE, DELETE ON notewell.{self.name} TO {APP_ROLE}"
        )
        options = f"WITH ({self.options})" if self.options else ""
        for number in range(PARTITIONS):
            partition = f"notewell.{self.name}_p{number:02d}"
            transaction.execute(
                f"CREATE TABLE {partition} PARTITION OF notewell.{self.name} "
                f"FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {number}) {options}"
            )
            _force(transaction, partition)


@dataclass(frozen=True, slots=True)
class TenantTable:
    """A table whose rows belong to the service of a tenant."""

    name: str
    columns: str
    """Besides `tenant`."""
    key: str
    """The primary key, after `tenant`."""

    def create(self, transaction: Transaction) -> None:
        transaction.execute(
            f'CREATE TABLE notewell.{self.name} (tenant text COLLATE "C" NOT NULL, '
            f"{self.columns}, PRIMARY KEY (tenant, {self.key}))"
        )
        protect(transaction, self.name, SERVICE_ROWS)
        transaction.execute(
            f"GRANT SELECT, INSERT, UPDATE, DELETE ON notewell.{self.name} TO {APP_ROLE}"
        )


def protect(transaction: Transaction, table: str, visible: str) -> None:
    """Rows that are not `visible` can be neither read nor written, not even by the owner."""
    _force(transaction, f"notewell.{table}")
    transaction.execute(
        f"CREATE POLICY own_rows ON notewell.{table} USING ({visible}) WITH CHECK ({visible})"
    )


def _force(transaction: Transaction, table: str) -> None:
    transaction.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
