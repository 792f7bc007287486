"""A tool call from any framework: JSON in, an output or a failure out, nothing raised.

A tool that raises ends the run of most frameworks, or costs the model one of few retries. Memory
is never worth that: what went wrong is an answer, with the next step in it.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

from notewell.tools import TOOLS, UNEXPECTED, Failure, call

if TYPE_CHECKING:
    from notewell.memory import Memory
    from notewell.tools import CallContext, Output, ToolSpec

_log = logging.getLogger(__name__)


def offered(context: CallContext) -> tuple[ToolSpec, ...]:
    """None where the configuration gives this agent no memory."""
    return TOOLS if context.enabled else ()


def answer(memory: Memory, name: str, arguments: object, context: CallContext) -> Output | Failure:
    """What the model gets, whatever it wrote."""
    if not isinstance(arguments, Mapping):
        return _not_an_object()
    try:
        return call(memory, name, arguments, context)
    except Exception:  # noqa: BLE001 - the edge of the house
        _log.exception("a tool ran into something unforeseen")
        return UNEXPECTED


def answer_json(
    memory: Memory, name: str, arguments: str, context: CallContext
) -> Output | Failure:
    """For frameworks that hand over the JSON as the model wrote it."""
    try:
        told = json.loads(arguments or "{}")  # No arguments at all may come as an empty text.
    except (ValueError, RecursionError):
        return _not_an_object()
    return answer(memory, name, told, context)


def _not_an_object() -> Failure:
    return Failure("the arguments are not a JSON object", "mend the call and make it again")
