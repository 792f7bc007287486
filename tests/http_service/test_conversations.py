"""Which conversation sees what: a walk over every route, every MCP method and every tool.

A route, a method or a tool that is added without a verdict here fails the walk.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from fastapi.routing import iter_route_contexts
from mcp import Client
from mcp.shared.exceptions import MCPError
from tests.http_service.served import Served, serving
from tests.http_service.test_access import ROUTES
from tests.http_service.test_mcp import connected, run

from notewell import ExtraPath, NotesSettings, SessionSettings
from notewell.config import Settings
from notewell.core import ConversationScope
from notewell.entries import EntryStore
from notewell.errors import ConversationDenied
from notewell.http_service.auth import SCOPE_KEY
from notewell.http_service.tokens import TokenRequest
from notewell.mcp_server import create_server
from notewell.memory import Memory
from notewell.tools import ENTRY_TOOLS, TOOLS, CallContext, Failure, bootstrap, call, recalled_for

GROUP = "agent:main:telegram:group:-100"
DENIED = Settings(scope=ConversationScope())
DETAIL = (
    "this conversation may not see the memory: the conversation has channel 'telegram' and kind "
    "'group'; no rule of memory.scope allows it, and the default is deny"
)
OPEN_ROUTES = {("GET", "/v1/page/me"): {"agent", "agents", "scopes", "version", "readOnly"}}
"""Routes that answer a denied conversation, with all that they say: nothing of the memory."""
ARGUMENTS: dict[str, dict[str, object]] = {
    "memory_search": {"query": "quetzal"},
    "memory_get": {"path": "memory/2026-11-15-quetzal.md"},
    "memory_append": {"text": "A quetzal is green."},
    "memory_status": {},
    "memory_recall": {"query": "quetzal"},
    "memory_store": {"text": "A quetzal is green."},
    "memory_forget": {"query": "quetzal"},
}


def token_of(served: Served, key: str, *scopes: Any) -> str:
    """The name of a new token that belongs to a conversation."""
    name = f"{key} {scopes}"
    request = TokenRequest("talk", ("main",), scopes or ("admin",), session_key=key)
    served.tokens[name] = served.book.create(request)[1]
    return name


def write_notes(served: Served) -> None:
    folder = served.workspaces["main"]
    (folder / "MEMORY.md").write_text("# Birds\n\nOur quetzal is Ada.\n", encoding="utf-8")
    note = folder / "memory" / "2026-11-15-quetzal.md"
    note.write_text("# Quetzals\n\nThe quetzal ate at noon.\n", encoding="utf-8")
    assert served.search("quetzal", "admin")["results"]


def app_routes(served: Served) -> list[tuple[str, str]]:
    return [
        (method, str(route.path))
        for route in iter_route_contexts(served.app._app._app.routes)
        if route.path not in ("/mcp", "/openapi.json")
        and route.openapi_extra[SCOPE_KEY] != "nothing"
        for method in route.methods or ()
    ]


# -- a conversation that may not search ----------------------------------------------------------


def test_a_denied_conversation_gets_nothing_from_any_route(tmp_path: Path) -> None:
    with serving(tmp_path, settings=DENIED) as served:
        write_notes(served)
        before = files(tmp_path / "main")
        token = token_of(served, GROUP)
        for key in app_routes(served):
            request = ROUTES[key]  # A route without an entry there fails this walk too.
            body = {} if request.body is None else {"json": request.body}
            answer = served.ask(key[0], request.path, token, **body)
            if key in OPEN_ROUTES:
                assert set(answer.json()) == OPEN_ROUTES[key]
                continue
            problem = answer.json()
            # The whole answer is known, so nothing of the memory can be in it.
            assert problem.pop("instance") == request.path.partition("?")[0]
            assert problem == {
                "type": "urn:notewell:problem:not-for-this-talk",
                "title": "Not available in this conversation",
                "status": 403,
                "detail": DETAIL,
                "action": "go on without it; the user can ask in private",
            }, key
        assert files(tmp_path / "main") == before


def files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


async def call_every_tool(client: Client) -> list[Any]:
    results = [await client.call_tool(spec.name, ARGUMENTS[spec.name]) for spec in TOOLS]
    assert all(result.is_error for result in results)
    return results


MCP_WALK: dict[str, Callable[[Client], Awaitable[Any]]] = {
    "tools/list": lambda client: client.list_tools(),
    "tools/call": call_every_tool,
    "resources/list": lambda client: client.list_resources(),
    "resources/templates/list": lambda client: client.list_resource_templates(),
    "resources/read": lambda client: client.read_resource("memory://MEMORY.md"),
    "prompts/list": lambda client: client.list_prompts(),
    "prompts/get": lambda client: client.get_prompt("recall", {"question": "quetzal"}),
}
ANSWERED = {"ping", "server/discover", "resources/templates/list"}
"""Methods that say the same to every conversation."""


async def walk_mcp(client: Client) -> None:
    assert "This server offers no tools" in (client.instructions or "")
    for method, ask in MCP_WALK.items():
        if method in ("resources/read", "prompts/get"):
            with pytest.raises(MCPError, match="may not see the memory") as refused:
                await ask(client)
            text = str(refused.value).replace(DETAIL, "")
        else:
            text = str(await ask(client))
        if method in ANSWERED:
            assert "memory://{+path}" in text
        elif method == "tools/call":
            assert text.count("may not see the memory") >= len(TOOLS)
        else:
            # An empty list: of tools, of resources, of prompts.
            assert "name=" not in text, method
        for word in ("quetzal", "Quetzal", "Ada", "2026-11-15", "MEMORY.md"):
            assert word not in text, (method, word)


def test_a_denied_conversation_gets_nothing_over_mcp(tmp_path: Path) -> None:
    with serving(tmp_path, settings=DENIED) as served:
        write_notes(served)
        memory = served.agents.memory("main")
        context = CallContext(session_key=GROUP, origin="mcp")
        server = create_server(memory, context, background_sync=False)
        methods = set(server._request_handlers)
        assert methods == {*MCP_WALK, *ANSWERED}, "a new method needs a verdict"

        async def in_process() -> None:
            with anyio.fail_after(60):
                async with Client(server) as client:
                    await walk_mcp(client)

        anyio.run(in_process)
        for scope in ("read", "append"):
            token = token_of(served, GROUP, scope)

            async def over_http(token: str = token) -> None:
                async with connected(served, token) as client:
                    await walk_mcp(client)

            run(served, over_http)
        assert len(list((tmp_path / "main" / "memory").iterdir())) == 1


def test_a_denied_conversation_gets_nothing_from_any_tool(tmp_path: Path) -> None:
    with serving(tmp_path, settings=DENIED) as served:
        write_notes(served)
        memory = served.agents.memory("main")
        context = CallContext(session_key=GROUP)
        untouched = cast("EntryStore", object())  # Every use of it raises AttributeError.
        for spec in (*TOOLS, *ENTRY_TOOLS):
            output = call(memory, spec.name, ARGUMENTS[spec.name], context, entries=untouched)
            assert isinstance(output, Failure), spec.name
            assert output.error == DETAIL
        assert "quetzal ate" not in recalled_for(memory, "quetzal", context)
        assert bootstrap(memory, memory.now().date(), context) == ""


def test_the_owner_and_a_direct_conversation_are_answered(tmp_path: Path) -> None:
    with serving(tmp_path, settings=DENIED) as served:
        write_notes(served)
        token = token_of(served, "agent:main:telegram:dm:alice")
        for key in app_routes(served):
            if key == ("GET", "/v1/page/events"):
                continue  # A stream that does not end.
            request = ROUTES[key]
            body = {} if request.body is None else {"json": request.body}
            answer = served.ask(key[0], request.path, token, **body)
            assert answer.status_code in {request.status, 200, 201}, (key, answer.text)


def test_a_metrics_page_is_for_private_conversations(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        write_notes(served)
        direct = token_of(served, "agent:main:telegram:dm:alice")
        shown = served.ask("GET", "/metrics", direct).text
        assert 'notewell_notes{agent="main"}' in shown
        refused = served.ask("GET", "/metrics", token_of(served, GROUP))
        assert refused.status_code == 403
        assert "metrics are for private conversations" in refused.text


# -- a group that may search ---------------------------------------------------------------------


def test_a_group_does_not_see_memory_md_by_any_way(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        write_notes(served)
        token = token_of(served, GROUP)
        found = served.search("quetzal Ada", token)["results"]
        assert [hit["path"] for hit in found] == ["memory/2026-11-15-quetzal.md"]
        listed = served.ask("GET", "/v1/notes", token).json()["notes"]
        assert [note["path"] for note in listed] == ["memory/2026-11-15-quetzal.md"]
        for path in ("MEMORY.md", "memory.md", "./MEMORY.md", "Memory.md"):
            refused = served.ask("GET", f"/v1/notes/{path}", token)
            assert refused.status_code in (403, 404), path
            assert "Ada" not in refused.text
        section = {"text": "Ada is a cat.", "section": "Birds"}
        assert served.ask("POST", "/v1/append", token, json=section).status_code == 403
        day = {"text": "The quetzal slept."}
        assert served.ask("POST", "/v1/append", token, json=day).status_code == 201
        for key in app_routes(served):
            if key[1].startswith("/v1/page/") and key not in OPEN_ROUTES:
                body = {} if ROUTES[key].body is None else {"json": ROUTES[key].body}
                answer = served.ask(key[0], ROUTES[key].path, token, **body)
                assert answer.status_code == 403, key

        async def over_mcp() -> None:
            async with connected(served, token) as client:
                names = [one.name for one in (await client.list_resources()).resources]
                assert "memory/2026-11-15-quetzal.md" in names
                assert "MEMORY.md" not in names
                with pytest.raises(MCPError, match="private conversations"):
                    await client.read_resource("memory://MEMORY.md")
                prompt = await client.get_prompt("recall", {"question": "quetzal Ada"})
                assert "is Ada" not in str(prompt)
                got = await client.call_tool("memory_get", {"path": "MEMORY.md#L1-L3"})
                assert got.is_error

        run(served, over_mcp)


TRANSCRIPT = "sessions/private.jsonl"
SESSIONS = SessionSettings(enabled=True)


def write_transcript(served: Served) -> None:
    """What a person said in private, as the host of the agent recorded it."""
    folder = served.state / "agents" / "main" / "sessions"
    folder.mkdir(parents=True, exist_ok=True)
    message = {"role": "user", "content": "My quetzal is called Ruby."}
    line = json.dumps({"type": "message", "message": message})
    (folder / "private.jsonl").write_text(f"{line}\n", encoding="utf-8")
    served.ask("POST", "/v1/sync", "admin")


@pytest.mark.parametrize(
    "key", [GROUP, "agent:main:slack:channel:eng", "agent:main:subagent:7", "agent:main:x:group:1"]
)
def test_a_group_does_not_see_transcripts_by_any_way(tmp_path: Path, key: str) -> None:
    with serving(tmp_path, settings=Settings(sessions=SESSIONS)) as served:
        write_notes(served)
        write_transcript(served)
        assert served.search("Ruby quetzal", "admin")["results"][0]["path"] == TRANSCRIPT
        token = token_of(served, key)
        found = served.search("Ruby quetzal", token)["results"]
        assert [hit["path"] for hit in found] == ["memory/2026-11-15-quetzal.md"]
        listed = served.ask("GET", "/v1/notes", token).json()["notes"]
        assert [note["path"] for note in listed] == ["memory/2026-11-15-quetzal.md"]
        for path in (TRANSCRIPT, f"./{TRANSCRIPT}", TRANSCRIPT.upper()):
            refused = served.ask("GET", f"/v1/notes/{path}", token)
            assert refused.status_code in (403, 404), path
            assert "Ruby" not in refused.text

        async def over_mcp() -> None:
            async with connected(served, token) as client:
                names = [one.name for one in (await client.list_resources()).resources]
                assert names == ["memory/2026-11-15-quetzal.md"]
                with pytest.raises(MCPError, match="transcripts are for private conversations"):
                    await client.read_resource(f"memory://{TRANSCRIPT}")
                prompt = await client.get_prompt("recall", {"question": "quetzal Ruby"})
                assert "called Ruby" not in str(prompt)
                got = await client.call_tool("memory_get", {"path": f"{TRANSCRIPT}#L1-L3"})
                assert got.is_error
                hits = await client.call_tool("memory_search", {"query": "quetzal Ruby"})
                assert "called Ruby" not in str(hits)

        run(served, over_mcp)


def test_a_group_does_not_see_the_names_of_transcripts_that_are_left_out(tmp_path: Path) -> None:
    with serving(tmp_path, settings=Settings(sessions=SESSIONS)) as served:
        write_notes(served)
        write_transcript(served)
        link = served.state / "agents" / "main" / "sessions" / "with-the-doctor.jsonl"
        link.symlink_to(link.with_name("private.jsonl"))
        group, private = token_of(served, GROUP), token_of(served, "agent:main:telegram:dm:alice")

        def everywhere(token: str) -> list[str]:
            async def over_mcp() -> None:
                async with connected(served, token) as client:
                    texts.append(str(await client.call_tool("memory_status", {})))

            texts = [
                served.ask("GET", "/v1/status", token).text,
                served.ask("POST", "/v1/sync", token).text,
            ]
            run(served, over_mcp)
            return texts

        assert all("with-the-doctor" in text for text in everywhere(private))
        assert not any("with-the-doctor" in text for text in everywhere(group))


COUNTED = ("eligible", "files", "chunks", "dirty", "indexBytes", "indexAge")


def test_a_group_is_told_no_numbers_of_what_it_does_not_see(tmp_path: Path) -> None:
    with serving(tmp_path, settings=Settings(sessions=SESSIONS)) as served:
        write_notes(served)
        write_transcript(served)
        group, private = token_of(served, GROUP), token_of(served, "agent:main:telegram:dm:alice")
        hidden = served.ask("GET", "/v1/status", group).json()
        shown = served.ask("GET", "/v1/status", private).json()
        assert {hidden[name] for name in COUNTED} == {None}
        assert (hidden["sources"], hidden["sourceCounts"]) == (["memory"], [])
        assert (hidden["vector"]["embedded"], hidden["cache"]["entries"]) == (None, None)
        assert (shown["files"], shown["sources"]) == (3, ["memory", "sessions"])
        assert served.ask("POST", "/v1/sync", group).json()["notes"] is None
        assert served.ask("POST", "/v1/sync", private).json()["notes"] == 3

        async def over_mcp() -> None:
            async with connected(served, group) as client:
                told = str(await client.call_tool("memory_status", {}))
                assert "Numbers of notes and chunks are for private conversations" in told
                assert "3 notes" not in told
            async with connected(served, private) as client:
                assert "3 notes" in str(await client.call_tool("memory_status", {}))

        run(served, over_mcp)
        context = CallContext(session_key=GROUP)
        status = call(served.agents.memory("main"), "memory_status", {}, context).to_json()
        assert status["state"] == "ready"
        assert not {"notes", "chunks", "pending", "waiting", *COUNTED} & status.keys()
        assert "embedded" not in status["vector"]


def test_a_private_conversation_sees_transcripts(tmp_path: Path) -> None:
    with serving(tmp_path, settings=Settings(sessions=SESSIONS)) as served:
        write_transcript(served)
        token = token_of(served, "agent:main:telegram:dm:alice")
        assert served.search("Ruby", token)["results"][0]["path"] == TRANSCRIPT
        assert "Ruby" in served.ask("GET", f"/v1/notes/{TRANSCRIPT}", token).text


def test_a_memory_of_transcripts_alone_says_why_a_group_finds_nothing(tmp_path: Path) -> None:
    settings = Settings(sessions=SESSIONS, notes=NotesSettings(enabled=False))
    with serving(tmp_path, settings=settings) as served:
        write_transcript(served)
        answer = served.search("Ruby", token_of(served, GROUP))
        assert answer["results"] == []
        assert "private conversations" in answer["reason"]


def test_a_group_does_not_see_memory_md_of_another_workspace(tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "memory").mkdir(parents=True)
    (other / "MEMORY.md").write_text("Our axolotl is Bo.\n", encoding="utf-8")
    (other / "memory" / "day.md").write_text("The axolotl swims.\n", encoding="utf-8")
    settings = Settings(notes=NotesSettings(extra_paths=(ExtraPath(str(other)),)))
    with serving(tmp_path, settings=settings) as served:
        private = (other / "MEMORY.md").as_posix()
        assert private in {hit["path"] for hit in served.search("axolotl", "admin")["results"]}
        token = token_of(served, GROUP)
        found = {hit["path"] for hit in served.search("axolotl Bo", token)["results"]}
        assert found == {(other / "memory" / "day.md").as_posix()}
        memory = served.agents.memory("main")
        with pytest.raises(ConversationDenied, match=r"MEMORY\.md"):
            memory.get(private, session_key=GROUP)
        listed = served.ask("GET", "/v1/notes", token).json()["notes"]
        assert private not in {note["path"] for note in listed}


def test_memory_md_can_be_shared(tmp_path: Path) -> None:
    settings = Settings(curated="shared", sessions=SESSIONS)
    with serving(tmp_path, settings=settings) as served:
        write_notes(served)
        write_transcript(served)
        token = token_of(served, GROUP)
        found = {hit["path"] for hit in served.search("quetzal", token)["results"]}
        assert {"MEMORY.md", TRANSCRIPT} <= found
        assert served.ask("GET", "/v1/notes/MEMORY.md", token).status_code == 200
        assert served.ask("GET", f"/v1/notes/{TRANSCRIPT}", token).status_code == 200
        assert served.ask("GET", "/v1/page/cards", token).status_code == 200


def test_hidden_notes_take_no_place_of_others(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        # Each part fills a chunk, and there are more of them than a search looks at.
        rest = "and a tail that is longer than the rest of the bird " * 12
        lines = "\n\n".join(
            f"## Part {at}\n\nThe quetzal has feather {at} {rest}." for at in range(250)
        )
        (tmp_path / "main" / "MEMORY.md").write_text(lines, encoding="utf-8")
        note = tmp_path / "main" / "memory" / "birds.md"
        note.write_text("A quetzal was seen.\n", encoding="utf-8")
        memory: Memory = served.agents.memory("main")
        memory.sync()
        answer = memory.search("quetzal feather", max_results=2, session_key=GROUP)
        assert [hit.path for hit in answer.hits] == ["memory/birds.md"]
        nothing = memory.search("feather 79", min_score=0.9, session_key=GROUP)
        assert "feather 79" not in str(nothing)
        with pytest.raises(ConversationDenied):
            memory.get("MEMORY.md", session_key=GROUP)
