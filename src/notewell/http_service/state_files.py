"""What a service of one machine keeps: files of its state folder.

Not in `app`: `notewell token` opens them without the packages of a server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.http_service.idempotency import FOLDER, IdempotencyStore
from notewell.http_service.ports import ServiceState
from notewell.http_service.tokens import LINKS_FILE, LoginLinks

if TYPE_CHECKING:
    from pathlib import Path

    from notewell.http_service.ports import Tokens


def local_state(folder: Path, tokens: Tokens) -> ServiceState:
    return ServiceState(tokens, LoginLinks(folder / LINKS_FILE), IdempotencyStore(folder / FOLDER))
