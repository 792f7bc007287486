from __future__ import annotations

import threading

import pytest

from notewell.postgres.seats import Seats

WAIT_S = 60.0


def test_a_thread_that_asks_again_at_once_comes_after_those_that_wait() -> None:
    seats, order = Seats(1), list[str]()
    is_waiting = threading.Event()

    def wait() -> None:
        is_waiting.set()
        with seats.seat(WAIT_S) as has_seat:
            assert has_seat
            order.append("waited")

    waiting = threading.Thread(target=wait)
    with seats.seat(0):
        waiting.start()
        assert is_waiting.wait(WAIT_S)
        while not seats._waiting:  # It is between its signal and its place in the queue.
            threading.Event().wait(0.001)
    with seats.seat(WAIT_S) as has_seat:
        assert has_seat
        order.append("asked again")
    waiting.join(WAIT_S)
    assert order == ["waited", "asked again"]


def test_who_waits_in_vain_leaves_no_place_in_the_queue() -> None:
    seats = Seats(1)
    with seats.seat(0), seats.seat(0.001) as has_seat:
        assert not has_seat
    with seats.seat(0) as has_seat:
        assert has_seat


def test_an_error_in_a_seat_gives_it_back() -> None:
    seats = Seats(1)
    with pytest.raises(RuntimeError), seats.seat(0):
        raise RuntimeError
    with seats.seat(0) as has_seat:
        assert has_seat
