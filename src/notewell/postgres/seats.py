"""A limited number of seats, given in the order in which threads ask.

A semaphore of the standard library gives a seat to whoever comes first after it is free: a thread
that returns one and asks again at once gets it, and those that wait get none for minutes.
"""

from __future__ import annotations

import threading
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Seats:
    def __init__(self, number: int) -> None:
        self._free = number
        self._waiting: deque[threading.Event] = deque()
        """One for each thread that waits, set when it has a seat."""
        self._lock = threading.Lock()

    @contextmanager
    def seat(self, wait_s: float) -> Iterator[bool]:
        """Whether one was free within this time."""
        turn = self._turn()
        try:
            turn.wait(max(0.0, wait_s))
            has_seat = self._has_seat(turn)
        except BaseException:  # An interrupt: what it was given meanwhile is for others.
            if self._has_seat(turn):
                self._leave()
            raise
        try:
            yield has_seat
        finally:
            if has_seat:
                self._leave()

    def _turn(self) -> threading.Event:
        turn = threading.Event()
        with self._lock:
            if self._free:
                self._free -= 1
                turn.set()
            else:
                self._waiting.append(turn)
        return turn

    def _has_seat(self, turn: threading.Event) -> bool:
        """Who has none by now does not wait any longer."""
        with self._lock:
            if turn in self._waiting:
                self._waiting.remove(turn)
            return turn.is_set()

    def _leave(self) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._free += 1
