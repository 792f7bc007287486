"""A process that searches: `workers.py` starts it. It reads indexes and never writes.

    in    (StorePlace, SearchContext)
    out   the version, then for each question a ViewAnswer; None: the parent must search itself

Each message is its length in eight bytes and a pickle. Both ends are this program, and nobody else
has the pipe. The process has no settings, no model and no key. It ends when its input ends, so it
outlives the parent by one search at most, however the parent ended.
"""

from __future__ import annotations

import logging
import os
import pickle
import signal
import struct
import sys
from typing import IO, TYPE_CHECKING, Any

from notewell import __version__
from notewell.errors import NotewellError

if TYPE_CHECKING:
    from notewell.engines import ViewAnswer
    from notewell.index import IndexStore, StorePlace

_LENGTH = struct.Struct(">Q")
_PROTOCOL = 5

_log = logging.getLogger(__name__)


# -- messages ------------------------------------------------------------------------------------


def packed(value: object) -> bytes:
    data = pickle.dumps(value, _PROTOCOL)
    return _LENGTH.pack(len(data)) + data


def receive(pipe: IO[bytes]) -> bytes:
    """A message. Raises `EOFError` if the other end is closed, in the middle of one too."""
    return _exactly(pipe, _LENGTH.unpack(_exactly(pipe, _LENGTH.size))[0])


def unpacked(message: bytes) -> Any:
    return pickle.loads(message)  # noqa: S301 - only our own process writes to the other end


def _exactly(pipe: IO[bytes], size: int) -> bytes:
    data = pipe.read(size)
    if len(data) < size:
        raise EOFError
    return data


# -- the process ---------------------------------------------------------------------------------


def main() -> None:
    questions, answers = sys.stdin.buffer, _private_output()
    # Ctrl-C and systemd signal all processes of a service. The parent still answers requests then,
    # and closes the pipe after the last one.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    from notewell.http_service.observability import configure_logging

    configure_logging()
    searches = Searches()
    try:
        _send(answers, __version__)
        while True:
            _send(answers, searches.answer(receive(questions)))
    except (EOFError, OSError):
        return  # The parent has closed the pipe, or has ended.


def _private_output() -> IO[bytes]:
    """A copy of standard output. What a library prints goes to standard error, because it would
    break a message."""
    private = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(private, "wb")


def _send(pipe: IO[bytes], value: object) -> None:
    pipe.write(packed(value))
    pipe.flush()


class Searches:
    """Keeps the stores that were searched open, so that their caches serve the next search."""

    def __init__(self) -> None:
        # Before the first question, which must not wait for the imports.
        from notewell.engines import search_store
        from notewell.stores import store_at

        self._open, self._search = store_at, search_store
        self._stores: dict[StorePlace, IndexStore] = {}

    def answer(self, message: bytes) -> ViewAnswer | None:
        try:
            place, context = unpacked(message)
            store = self._stores.get(place)
            if store is None:
                store = self._stores[place] = self._open(place.folder, place.settings)
            return self._search(store, context)
        except NotewellError:
            return None  # The parent meets the same error, and can say it to whoever asks.
        except Exception:  # noqa: BLE001 - the root of the process
            _log.exception("a search failed in a process of its own")
            return None


if __name__ == "__main__":
    main()
