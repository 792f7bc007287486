"""Claude's memory tool (`memory_20250818`) for the Anthropic SDK, over a folder of the workspace.

    client.beta.messages.run_tools(model=…, messages=…, tools=[memory_tool(memory)])

What the model writes below /memories are notes of this memory: `notewell search` finds them, and
so do the other tools. `claude_commands` has the commands, `notes.edit` protects the files.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from notewell.adapters.claude_commands import MemoryCommands, Refused
from notewell.adapters.tool_calls import require_package
from notewell.adapters.turns import TurnFacts
from notewell.errors import BadSetting, EditRefused, NotewellError
from notewell.notes import EditableFolder
from notewell.tools import HERE, UNEXPECTED, failure_of, refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool
    from anthropic.types import Message
    from anthropic.types.beta import BetaMessage

    from notewell.adapters.turns import AfterTurn, Turns
    from notewell.memory import Memory
    from notewell.tools import CallContext

FOLDER = "memory/claude"

_log = logging.getLogger(__name__)
_ARGUMENTS = {
    "view": ("path", "view_range"),
    "create": ("path", "file_text"),
    "str_replace": ("path", "old_str", "new_str"),
    "insert": ("path", "insert_line", "insert_text"),
    "delete": ("path",),
    "rename": ("old_path", "new_path"),
}
_OPTIONAL = ("view_range", "new_str")


class _Commands:
    """Runs commands as the model wrote them: the SDK passes them on without checking types."""

    def __init__(self, memory: Memory, context: CallContext, folder: str) -> None:
        self._memory = memory
        self._context = context
        try:
            self._memories = MemoryCommands(EditableFolder(memory.workspace, folder))
        except EditRefused as refused:
            raise BadSetting("folder", f"{folder!r}: {refused.why}; {refused.action}") from None

    def run(self, command: object) -> str:
        """The text for the model; `Refused` has such a text too."""
        return self._answered(partial(self._run, command))

    def clear(self) -> str:
        """For the host only: no command of the model calls this."""
        return self._answered(self._memories.clear)

    def _answered(self, work: Callable[[], str]) -> str:
        refused = refusal(self._memory, self._context)
        if refused is not None:
            raise Refused(refused.to_text())
        try:
            return work()
        except Refused:
            raise
        except NotewellError as error:
            raise Refused(failure_of(error).to_text()) from error
        except Exception as error:
            # The outermost frame of ours: the model goes on without memory, the log has details.
            _log.exception("unexpected error in a memory command")
            raise Refused(UNEXPECTED.to_text()) from error
        finally:
            # Also after a failure: part of a folder may already be in the trash.
            self._memory.mark_changed()

    def _run(self, command: object) -> str:
        payload = _payload(command)
        name = payload.get("command")
        if not isinstance(name, str) or name not in _ARGUMENTS:
            raise Refused(f"Unknown command: {str(name)[:40]}")
        # Only these keys: `command` itself and fields of newer versions of the tool are no
        # arguments.
        given = {key: payload[key] for key in _ARGUMENTS[name] if key in payload}
        for key in _ARGUMENTS[name]:
            if key not in given and key not in _OPTIONAL:
                raise Refused(f"Missing parameter `{key}` of the command {name}.")
        run: Callable[..., str] = getattr(self._memories, name)
        return run(**given)


def _payload(command: object) -> Mapping[str, Any]:
    """The arguments, from the JSON itself or from the SDK's model of it."""
    if isinstance(command, Mapping):
        return command
    dump = getattr(command, "model_dump", None)
    if dump is None:
        raise Refused("The command is not a JSON object.")
    payload: dict[str, Any] = dump(warnings=False)
    return payload


def memory_tool(
    memory: Memory, context: CallContext = HERE, *, folder: str = FOLDER
) -> BetaAbstractMemoryTool:
    """For `run_tools` of a synchronous client, or for a loop of your own: `tool.call(input)`."""
    with require_package("anthropic"):
        from anthropic.lib.tools import BetaAbstractMemoryTool, ToolError

    commands = _Commands(memory, context, folder)

    class NotewellMemoryTool(BetaAbstractMemoryTool):
        def call(self, input: object) -> str:  # noqa: A002 - as they call it
            return self.execute(input)

        def execute(self, command: object) -> str:
            return self._surely(partial(commands.run, command))

        def clear_all_memory(self) -> str:
            return self._surely(commands.clear)

        def _surely(self, work: Callable[[], str]) -> str:
            try:
                return work()
            except Refused as refused:
                raise ToolError(str(refused)) from refused

        # Each command names itself, so all methods of the SDK's class are the same function.
        view = create = str_replace = insert = delete = rename = execute

    return NotewellMemoryTool()


def after_turn(
    turns: Turns, message: BetaMessage | Message, said: str, *, compactions: int | None = None
) -> AfterTurn:
    """After each reply of Claude to what the user `said`: entries, and whether a flush is due."""
    usage = message.usage
    # Cached input is read from the cache, but it takes its place in the window all the same.
    cached = (usage.cache_read_input_tokens or 0) + (usage.cache_creation_input_tokens or 0)
    used = usage.input_tokens + cached + usage.output_tokens
    replied = tuple(block.text for block in message.content if block.type == "text")
    return turns.after(TurnFacts((said,), used, replied), compactions=compactions)


def async_memory_tool(
    memory: Memory, context: CallContext = HERE, *, folder: str = FOLDER
) -> BetaAsyncAbstractMemoryTool:
    """The same for an asynchronous client; each command runs in a worker thread."""
    with require_package("anthropic"):
        from anthropic.lib.tools import BetaAsyncAbstractMemoryTool, ToolError
        from anyio.to_thread import run_sync

    commands = _Commands(memory, context, folder)

    class NotewellAsyncMemoryTool(BetaAsyncAbstractMemoryTool):
        async def call(self, input: object) -> str:  # noqa: A002 - as they call it
            return await self.execute(input)

        async def execute(self, command: object) -> str:
            return await self._surely(partial(commands.run, command))

        async def clear_all_memory(self) -> str:
            return await self._surely(commands.clear)

        async def _surely(self, work: Callable[[], str]) -> str:
            try:
                return await run_sync(work)
            except Refused as refused:
                raise ToolError(str(refused)) from refused

        view = create = str_replace = insert = delete = rename = execute

    return NotewellAsyncMemoryTool()
