"""The MCP prompts: for the host or its user, not for the model.

recall      a question together with what the memory has on it
bootstrap   what a session begins with: MEMORY.md and the notes of today and yesterday
flush       "should I flush?", and if so the turn to run before a compaction
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import mcp_types as types

from notewell.errors import BadRequest, ConversationDenied
from notewell.limits import MAX_QUERY_CHARS
from notewell.mcp_server.catalogue import BOOTSTRAP, FLUSH, RECALL, Json
from notewell.tools import FlushInput, bootstrap, flush_decision, recalled_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    from notewell.memory import Memory
    from notewell.tools import CallContext

FLUSH_META = "notewell/flush"
"""The key of `_meta` under which a host finds the decision as JSON."""
NOTHING_YET = "The memory has no notes to begin a session with."


def get_prompt(
    memory: Memory, name: str, arguments: Mapping[str, str], context: CallContext
) -> types.GetPromptResult:
    """Raises `BadRequest` for a prompt that does not exist and for wrong arguments."""
    match name:
        case "recall":
            question = arguments.get("question", "")
            if not 0 < len(question) <= MAX_QUERY_CHARS:
                raise BadRequest(f"'question' must have 1 to {MAX_QUERY_CHARS} characters")
            return _result(RECALL, recalled_for(memory, question, context))
        case "bootstrap":
            if not context.is_private:
                raise ConversationDenied("the start of a session is for private conversations")
            return _result(BOOTSTRAP, bootstrap(memory, context=context) or NOTHING_YET)
        case "flush":
            return _flush(memory, arguments, context)
    # Truncated: the name comes from the client and goes into its error message.
    raise BadRequest(f"there is no prompt {name[:40]!r}")


def _flush(
    memory: Memory, arguments: Mapping[str, str], context: CallContext
) -> types.GetPromptResult:
    output = flush_decision(memory, FlushInput.parse(_typed(arguments)), context)
    result = _result(FLUSH, output.to_text())
    result.meta = {FLUSH_META: output.to_json()}
    return result


def _typed(arguments: Mapping[str, str]) -> dict[str, object]:
    """Arguments of prompts are texts; `FlushInput` expects JSON values."""
    if not arguments:
        # A user who picks the prompt wants the flush now.
        return {"compacting": True}
    return {name: _value(name, text) for name, text in arguments.items()}


def _value(name: str, text: str) -> object:
    if name == "session":  # A name, also if it is `true` or `12`.
        return text
    if text in ("true", "false"):
        return text == "true"
    # At most nine digits: Python refuses to parse numbers of thousands of digits.
    is_number = text.isascii() and text.isdigit() and len(text) < 10
    return int(text) if is_number else text


def _result(prompt: Json, text: str) -> types.GetPromptResult:
    message = types.PromptMessage(role="user", content=types.TextContent(text=text))
    return types.GetPromptResult(description=prompt["description"], messages=[message])
