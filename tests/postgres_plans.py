"""What the server plans to do for each statement of a search."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from notewell.postgres import Transaction

FEW_PAGES = 20.0
"""A partition that is as small as this is read as a whole by the best plan, too."""


class Step(NamedTuple):
    """One node of a plan that reads a table."""

    node: str
    table: str
    partition: str
    index_name: str | None
    cost: float
    """As the server estimates it: about 1 for a page in order, .01 for a row."""

    @property
    def reads_everything(self) -> bool:
        return "Seq Scan" in self.node and self.cost > FEW_PAGES

    def __str__(self) -> str:
        way = f" by {self.index_name}" if self.index_name else ""
        return f"{self.node} of {self.table}{way}"


Plans = dict[str, tuple[Step, ...]]
"""The steps of each statement."""

_PARTITION = re.compile(r"^(?P<table>\w+)_p(?P<number>\d\d)(?P<rest>\w*)$")


@contextmanager
def captured_plans() -> Iterator[Plans]:
    """Every SELECT of our tables inside it is explained, and then asked."""
    plans: Plans = {}
    ask = Transaction.rows

    def explained(
        self: Transaction, sql: str, values: Sequence[Any] = ()
    ) -> list[tuple[Any, ...]]:
        if sql.lstrip().upper().startswith(("SELECT", "WITH")) and " notewell." in sql:
            ((plan,),) = ask(self, f"EXPLAIN (FORMAT JSON) {sql}", values)
            plans[sql] = tuple(_steps(plan[0]["Plan"]))
        return ask(self, sql, values)

    Transaction.rows = explained  # type: ignore[method-assign]
    try:
        yield plans
    finally:
        Transaction.rows = ask  # type: ignore[method-assign]


def _steps(node: dict[str, Any]) -> Iterator[Step]:
    named = node.get("Relation Name") or node.get("Index Name") or ""
    if found := _PARTITION.match(named):
        index = node.get("Index Name")
        stem = re.sub(r"_p\d\d", "", index) if index else None
        yield Step(node["Node Type"], found["table"], found["number"], stem, node["Total Cost"])
    for inner in node.get("Plans", ()):
        yield from _steps(inner)
