"""What a client gets as the answer of a tool: one text, and nothing beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from mcp_types import CallToolResult


def text_of(result: CallToolResult) -> str:
    """The only content of a result."""
    assert result.structured_content is None
    (content,) = result.content
    return str(content.model_dump()["text"])


def text_in(answer: Mapping[str, Any]) -> str:
    """The same of a raw JSON-RPC answer."""
    result = answer["result"]
    assert "structuredContent" not in result
    (content,) = result["content"]
    return str(content["text"])


def cited(text: str) -> list[str]:
    """The `path#L1-L2` of each passage, in order."""
    return re.findall(r'^<recalled path="([^"]+)"', text, re.MULTILINE)
