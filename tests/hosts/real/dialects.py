"""The four APIs in which hosts talk to a model, as far as a scripted model needs them.

    Anthropic Messages    POST …/messages             Claude Code
    OpenAI Responses      POST …/responses            Codex
    OpenAI Chat           POST …/chat/completions     OpenCode, Qwen Code, Copilot CLI, Cline, …
    Gemini                POST …GenerateContent       Gemini CLI

A dialect turns a request into a `Conversation` and a `Move` of the model into an answer. A host
that streams gets the whole answer in few events: no host cares how finely it is cut.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Protocol

Json = dict[str, Any]


class Tool(NamedTuple):
    name: str
    namespace: str | None
    """Codex has the tools of a server in a namespace; a call must name it."""
    spec: Json


class Exchange(NamedTuple):
    """A call of the model, and what the host returned for it."""

    name: str
    arguments: str
    result: str


class Conversation(NamedTuple):
    tools: list[Tool]
    prompts: list[str]
    exchanges: list[Exchange]


class Move(NamedTuple):
    """What the model does next: it calls a tool, or it says something and ends its turn."""

    text: str = ""
    tool: Tool | None = None
    arguments: Json = {}  # noqa: RUF012 - a default of a named tuple, never changed


class Dialect(Protocol):
    def read(self, body: Json) -> Conversation: ...

    def events(self, body: Json, move: Move) -> Iterator[tuple[str | None, Json | str]]:
        """The answer as server-sent events: a name, or none, and the data."""

    def document(self, body: Json, move: Move) -> Json:
        """The answer in one piece."""


def dialect_of(path: str) -> Dialect | None:
    path = path.partition("?")[0]
    if path.endswith("/messages"):
        return Anthropic()
    if path.endswith("/responses"):
        return Responses()
    if path.endswith("/chat/completions"):
        return Chat()
    return Gemini() if "enerateContent" in path else None


def text_of(content: Any) -> str:
    """Text, or blocks of text joined; anything else as compact JSON, as a model would read it."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = [block["text"] for block in blocks if isinstance(block, dict) and "text" in block]
    if len(texts) < len(blocks) or not isinstance(content, list):
        return json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return "\n".join(texts)


def _paired(calls: Iterable[tuple[str, str, str]], results: Json) -> list[Exchange]:
    """Calls are (id, name, arguments as JSON); results are texts by the id of the call."""
    return [Exchange(name, text, results[key]) for key, name, text in calls if key in results]


def _number(conversation: Conversation) -> int:
    return len(conversation.exchanges) + 1


class Anthropic:
    def read(self, body: Json) -> Conversation:
        prompts, calls, results = [], [], {}
        for message in body.get("messages", []):
            content = message.get("content")
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            for block in blocks or []:
                match block:
                    case {"type": "text", "text": text} if message["role"] == "user":
                        prompts.append(text)
                    case {"type": "tool_use", "id": key, "name": name, "input": arguments}:
                        calls.append((key, name, json.dumps(arguments)))
                    case {"type": "tool_result", "tool_use_id": key}:
                        results[key] = text_of(block.get("content") or "")
        tools = [Tool(spec["name"], None, spec) for spec in body.get("tools", [])]
        return Conversation(tools, prompts, _paired(calls, results))

    def document(self, body: Json, move: Move) -> Json:
        number = _number(self.read(body))
        block = {"type": "text", "text": move.text}
        if move.tool:
            block = {"type": "tool_use", "id": f"toolu_{number}", "name": move.tool.name}
            block["input"] = move.arguments  # type: ignore[assignment]
        return {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": body.get("model"),
            "content": [block],
            "stop_reason": "tool_use" if move.tool else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 10, "output_tokens": 10},
        }

    def events(self, body: Json, move: Move) -> Iterator[tuple[str | None, Json | str]]:
        message = self.document(body, move)
        block = message["content"][0]
        if move.tool:
            start = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(move.arguments)}
        else:
            start = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": move.text}
        end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
        events: list[Json] = [
            {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": start},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": end, "usage": message["usage"]},
            {"type": "message_stop"},
        ]
        yield from ((event["type"], event) for event in events)


class Responses:
    def read(self, body: Json) -> Conversation:
        prompts, calls, results = [], [], {}
        items = body.get("input") or []
        for item in [{"role": "user", "content": items}] if isinstance(items, str) else items:
            match item:
                case {
                    "type": "function_call",
                    "call_id": id,
                    "name": name,
                    "arguments": arguments,
                }:
                    calls.append((id, name, arguments))
                case {"type": "function_call_output", "call_id": id}:
                    results[id] = text_of(item.get("output") or "")
                case {"role": "user", "content": content}:
                    prompts.append(text_of(content))
        tools = [tool for spec in body.get("tools", []) for tool in self._tools(spec)]
        return Conversation(tools, prompts, _paired(calls, results))

    def _tools(self, spec: Json) -> Iterator[Tool]:
        if spec.get("type") == "namespace":
            yield from (Tool(one["name"], spec["name"], one) for one in spec["tools"])
        elif "name" in spec:
            yield Tool(spec["name"], None, spec)

    def document(self, body: Json, move: Move) -> Json:
        number = _number(self.read(body))
        return {
            "id": f"resp_{number}",
            "object": "response",
            "created_at": 0,
            "status": "completed",
            "model": body.get("model"),
            "output": [self._item(number, move)],
            "usage": {"input_tokens": 10, "output_tokens": 10, "total_tokens": 20},
        }

    def _item(self, number: int, move: Move) -> Json:
        if move.tool is None:
            content = [{"type": "output_text", "text": move.text, "annotations": []}]
            message = {"type": "message", "id": f"msg_{number}", "role": "assistant"}
            return {**message, "status": "completed", "content": content}
        call = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}"}
        named = {"name": move.tool.name, "arguments": json.dumps(move.arguments)}
        space = {"namespace": move.tool.namespace} if move.tool.namespace else {}
        return {**call, **named, **space, "status": "completed"}

    def events(self, body: Json, move: Move) -> Iterator[tuple[str | None, Json | str]]:
        response = self.document(body, move)
        item = response["output"][0]
        open_ = {**response, "status": "in_progress", "output": [], "usage": None}
        events: list[Json] = [
            {"type": "response.created", "response": open_},
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": response},
        ]
        for number, event in enumerate(events):
            yield event["type"], {**event, "sequence_number": number}


class Chat:
    def read(self, body: Json) -> Conversation:
        prompts, calls, results = [], [], {}
        for message in body.get("messages", []):
            if message["role"] == "user":
                prompts.append(text_of(message.get("content") or ""))
            elif message["role"] == "tool":
                results[message["tool_call_id"]] = text_of(message.get("content") or "")
            for call in message.get("tool_calls") or []:
                function = call["function"]
                calls.append((call["id"], function["name"], function["arguments"]))
        specs = [spec["function"] for spec in body.get("tools") or [] if "function" in spec]
        tools = [Tool(spec["name"], None, spec) for spec in specs]
        return Conversation(tools, prompts, _paired(calls, results))

    def document(self, body: Json, move: Move) -> Json:
        message, end = self._message(body, move)
        choice = {"index": 0, "message": message, "finish_reason": end}
        return {**self._head(body, "chat.completion"), "choices": [choice], "usage": self._USAGE}

    _USAGE = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}  # noqa: RUF012

    def _head(self, body: Json, kind: str) -> Json:
        return {"id": "chatcmpl-1", "object": kind, "created": 0, "model": body.get("model")}

    def _message(self, body: Json, move: Move) -> tuple[Json, str]:
        if move.tool is None:
            return {"role": "assistant", "content": move.text}, "stop"
        function = {"name": move.tool.name, "arguments": json.dumps(move.arguments)}
        key = f"call_{_number(self.read(body))}"
        call = {"index": 0, "id": key, "type": "function", "function": function}
        return {"role": "assistant", "content": "", "tool_calls": [call]}, "tool_calls"

    def events(self, body: Json, move: Move) -> Iterator[tuple[str | None, Json | str]]:
        message, end = self._message(body, move)
        head = self._head(body, "chat.completion.chunk")
        for delta, reason in ((message, None), ({}, end)):
            yield (
                None,
                {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]},
            )
        yield None, {**head, "choices": [], "usage": self._USAGE}
        yield None, "[DONE]"


class Gemini:
    def read(self, body: Json) -> Conversation:
        prompts: list[str] = []
        calls: list[tuple[str, str, str]] = []
        results: Json = {}
        parts = [
            (content.get("role"), part)
            for content in body.get("contents", [])
            for part in content.get("parts", [])
        ]
        for role, part in parts:
            match part:
                case {"text": text} if role != "model":
                    prompts.append(text)
                # Calls have no ids of ours; they are answered in order.
                case {"functionCall": {"name": name} as call}:
                    calls.append((str(len(calls)), name, json.dumps(call.get("args"))))
                case {"functionResponse": response}:
                    results[str(len(results))] = text_of(response.get("response"))
        specs = [one for group in body.get("tools", []) for one in group["functionDeclarations"]]
        tools = [Tool(spec["name"], None, spec) for spec in specs]
        return Conversation(tools, prompts, _paired(calls, results))

    def document(self, body: Json, move: Move) -> Json:
        part: Json = {"text": move.text}
        if move.tool:
            part = {"functionCall": {"name": move.tool.name, "args": move.arguments}}
        content = {"role": "model", "parts": [part]}
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20}
        candidate = {"content": content, "finishReason": "STOP", "index": 0}
        return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted"}

    def events(self, body: Json, move: Move) -> Iterator[tuple[str | None, Json | str]]:
        yield None, self.document(body, move)
