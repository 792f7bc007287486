"""A tool call from any framework: JSON in, an output or a failure out; nothing is raised.

In most frameworks a tool that raises ends the run, or costs the model one of few retries. Memory
is not worth that: an error is returned as an answer that names the next step.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from notewell.tools import TOOLS, UNEXPECTED, Failure, call

if TYPE_CHECKING:
    from notewell.memory import Memory
    from notewell.tools import CallContext, Output, ToolSpec

_log = logging.getLogger(__name__)


@contextmanager
def require_package(package: str) -> Iterator[None]:
    """Wraps the import of a framework: none is a dependency of ours, so the error says what to
    install."""
    try:
        yield
    except ModuleNotFoundError as error:
        message = f"this adapter needs the package {package!r}: pip install {package}"
        raise ModuleNotFoundError(message, name=error.name, path=error.path) from error


def offered_tools(context: CallContext) -> tuple[ToolSpec, ...]:
    """None if the configuration gives this agent no memory."""
    return TOOLS if context.enabled else ()


def call_tool(
    memory: Memory, name: str, arguments: object, context: CallContext
) -> Output | Failure:
    """What the model gets, whatever it wrote."""
    if not isinstance(arguments, Mapping):
        return _not_an_object()
    try:
        return call(memory, name, arguments, context)
    except Exception:  # noqa: BLE001 - the outermost frame of ours: the host's run must go on
        _log.exception("unexpected error in a tool call")
        return UNEXPECTED


def call_tool_json(
    memory: Memory, name: str, arguments: str, context: CallContext
) -> Output | Failure:
    """For frameworks that pass on the JSON text as the model wrote it."""
    try:
        # A call without arguments may come as an empty text.
        payload = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return _not_an_object()
    return call_tool(memory, name, payload, context)


def _not_an_object() -> Failure:
    return Failure("the arguments are not a JSON object", "mend the call and make it again")
