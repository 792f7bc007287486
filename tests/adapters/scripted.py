"""A model for the OpenAI Agents SDK that says what a script says, and notes what it was given."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from agents import Model, ModelResponse, Usage
from agents.items import TResponseInputItem, TResponseStreamEvent
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)


class ScriptedModel(Model):
    """Makes the calls of the script one after another, and then says "done"."""

    def __init__(self, *calls: tuple[str, str], used_tokens: int = 0) -> None:
        self._calls = list(calls)
        self._used_tokens = used_tokens
        self.answers: list[str] = []
        """What the tools said, in order."""
        self.offered: list[str] = []

    async def get_response(
        self,
        system_instructions: str | None,
        input: str | list[TResponseInputItem],  # noqa: A002 - as they call it
        model_settings: Any,
        tools: list[Any],
        *_: Any,
        **__: Any,
    ) -> ModelResponse:
        heard: list[Any] = [] if isinstance(input, str) else list(input)
        said = [item for item in heard if item.get("type") == "function_call_output"]
        self.answers = [str(item["output"]) for item in said]
        self.offered = [tool.name for tool in tools]
        return ModelResponse(
            output=[self._next()],
            usage=Usage(requests=1, total_tokens=self._used_tokens),
            response_id=None,
        )

    def _next(self) -> ResponseFunctionToolCall | ResponseOutputMessage:
        if self._calls:
            name, arguments = self._calls.pop(0)
            return ResponseFunctionToolCall(
                name=name,
                arguments=arguments,
                call_id=f"call-{len(self._calls)}",
                type="function_call",
            )
        done = ResponseOutputText(text="done", type="output_text", annotations=[])
        return ResponseOutputMessage(
            id="m", content=[done], role="assistant", status="completed", type="message"
        )

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[TResponseStreamEvent]:
        raise AssertionError("the scripted model was asked to stream, which no test does")
