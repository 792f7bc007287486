"""`docs/reference/tools.md`, written from the tools themselves.

python -m scripts.docs.tools_page > docs/reference/tools.md
"""
# ruff: noqa: E501 - a page has one sentence a line, however long it is

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from notewell.capture import CaptureSettings
from notewell.limits import ANSWER_CHARS, GET_CHARS, GET_LINES, MAX_RESULTS
from notewell.tools.fence import CITE, DO_NOT_CITE, REMINDER, fenced
from notewell.tools.inputs import HERE
from notewell.tools.recall import recall_section
from notewell.tools.specs import ENTRY_TOOLS, TOOLS

if TYPE_CHECKING:
    from notewell.tools.specs import ToolSpec

_HEAD = """# Tools

This page is written from the code: `python -m scripts.docs.tools_page`.

What an agent can do with its memory, over MCP (see [how to connect one](../how-to/mcp.md)) or from Python:

```python
from notewell import open_memory
from notewell.tools import SearchInput, CallContext, memory_search

with open_memory("examples/workspace") as memory:
    found = memory_search(memory, SearchInput("Which database did we choose?"), CallContext())
    print(found.to_text())  # or .to_json()
```

Over MCP, an answer is one text, the one that `to_text()` gives, and nothing else: hosts differ in which part of a result they give to their model, so there is only one part.
A program that wants JSON uses `to_json()`, whose fields are below, or the [HTTP service](http.md).

`notewell.tools.call(memory, name, arguments, context)` takes a tool's name and the JSON a model wrote, for hosts that bring their own loop.
None of these functions raises one of our errors; what fails comes back as a failure, below.
Which agent and which workspace a tool works on is fixed by whoever opens the memory: there is no argument for it, and an unknown argument is refused.
"""

_ENTRIES = """
# Tools over entries

Offered only where `plugins.entries.memory-lancedb.enabled` is set; see [entries in LanceDB](../how-to/lancedb.md).
"""

_TAIL = f"""
## When a tool fails

```json
{{"results": [], "disabled": false, "unavailable": true, "error": "what happened", "action": "the next step"}}
```

| | means |
|---|---|
| `disabled` | the configuration gives this agent no memory: do not ask again |
| `unavailable` | the memory cannot answer just now: go on without it, or try later |
| neither | the call was wrong: change it |

As text, it is the error and, on the next line, `Next step:` and the action; over MCP such an answer has `isError` set.
Errors name no folders of the machine the memory is on.

## The conversation

`CallContext(session_key, citations, origin, inject_chars, enabled)` says where a tool is called from.

- `session_key`: the conversation. [`memory.scope`](../how-to/conversations.md) may exclude it, and a group does not see MEMORY.md.
- `citations`: `on`, `off`, or `auto`, which shows sources in private conversations only. A session key like `agent:main:telegram:group:-100` is a group's; one that cannot be read counts as one; none at all is a program that talks to its own user.
- `inject_chars`: the snippets of one search have at most {ANSWER_CHARS} characters together, or `memory.qmd.limits.maxInjectedChars` where QMD is the engine. The best lines of all hits fill them; a line that is cut is counted (`shortened`), and so are hits of which nothing is shown (`leftOut`).
- `origin`: what an entry is marked with in the note, `<!-- @mcp -->`.

## What notes say is data

Recalled text is quoted between marks that it cannot write itself:

```text
{REMINDER} {CITE}
{fenced("… a </recalled> in a note is shown like this one", path="memory/2026-11-15.md#L3-L9", score="0.61")}
```

The first line is there once, before all quotations; where sources are not shown, it ends in “{DO_NOT_CITE}”
`path` can be cited, and `memory_get` takes it as it is.
A quotation has the best lines of the hit. Where lines are left out, a line such as `… L7` gives the number of the line that follows. `heading` is the heading above them, if it is not among them.
That lowers the risk that a model obeys a note; it does not remove it.

## The system prompt

`recall_section(tools, context, prompt_mode="full")` gives a host this section, and nothing where `memory_search` is not offered or the prompt is a short one:

```text
{recall_section(tuple(spec.name for spec in TOOLS), HERE)}
```

`bootstrap(memory, context=context)` gives what a session begins with: `MEMORY.md` and the notes of today and yesterday, each cut at `bootstrapMaxChars` ({CaptureSettings().bootstrap_chars}); in groups and channels, nothing.
"""


def tools_page() -> str:
    notes, entries = ("".join(map(_section, specs)) for specs in (TOOLS, ENTRY_TOOLS))
    return _HEAD + notes + _ENTRIES + entries + _TAIL


def _section(spec: ToolSpec) -> str:
    kind = "reads" if spec.read_only else "deletes" if spec.destructive else "only ever adds"
    given = _rows(spec.input_schema, is_input=True) or "| (none) | | |"
    return (
        f"\n## {spec.name}\n\n{spec.description}\n\nIt {kind}.\n\n"
        f"| argument | takes | meaning |\n|---|---|---|\n{given}\n\n"
        f"| `to_json()` | is | meaning |\n|---|---|---|\n{_rows(spec.output_schema)}\n"
    )


_MEANINGS = {
    "maxResults": f"At most this many hits, up to {MAX_RESULTS}; `query.maxResults` (6) if not given.",
    "minScore": "0 to 1; leaves out hits below this score. 0 shows the nearest if nothing is near; else seldom useful.",
    "folder": "Of the conversations, only those in this folder, or below it: a path, a name, or `.` "
    "for that of the server. Notes are always searched.",
    "lines": f"How many lines; at most {GET_LINES} or {GET_CHARS} characters if not given.",
    "text": "The entry, in Markdown. The same entry is not written twice.",
}
"""Of arguments that have no description in the schema: a model needs none, and would pay for it."""
_OF_FAILURES = ("disabled", "unavailable", "error", "action")


def _rows(schema: dict[str, Any], above: str = "", *, is_input: bool = False) -> str:
    rows = []
    for name, value in schema["properties"].items():
        failing = name in _OF_FAILURES or value.get("description") == "Empty: it failed."
        if failing and not above:
            continue
        star = " (required)" if is_input and name in schema.get("required", ()) else ""
        meaning = value.get("description") or (_MEANINGS[name] if is_input else "")
        rows.append(f"| `{above}{name}`{star} | {value['type']} | {meaning} |")
        if "properties" in value.get("items", {}):
            rows.append(_rows(value["items"], f"{name}[]."))
    return "\n".join(rows)


if __name__ == "__main__":
    sys.stdout.write(tools_page())
