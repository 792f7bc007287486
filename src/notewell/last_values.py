"""The last values that a process made, up to a total weight: for what is made of notes alone, and
which the next question needs again. All memories of a process share one limit."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

_Value = TypeVar("_Value")


class LastValues(Generic[_Value]):
    """Least recently used values go first. Safe to use from several threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._weight = 0
        self._values: OrderedDict[Hashable, tuple[_Value, int]] = OrderedDict()
        self._lock = threading.Lock()

    def peek(self, key: Hashable) -> _Value | None:
        """The value of a key, if it is kept."""
        with self._lock:
            kept = self._values.get(key)
            if kept is None:
                return None
            self._values.move_to_end(key)
            return kept[0]

    def get(self, key: Hashable, weight: int, make: Callable[[], _Value]) -> _Value:
        """The value of a key; made if there is none."""
        with self._lock:
            kept = self._values.get(key)
            if kept is not None:
                self._values.move_to_end(key)
                return kept[0]
        value = make()
        with self._lock:
            if key not in self._values:
                self._values[key] = (value, weight)
                self._weight += weight
            while self._weight > self._most:
                _, (_, gone) = self._values.popitem(last=False)
                self._weight -= gone
        return value
