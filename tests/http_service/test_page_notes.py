"""The notes as the page shows them, and taking a write back from there."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from urllib.parse import quote

import pytest
from tests.http_service.served import Served

from notewell.capture import Recorded
from notewell.capture.history import Write
from notewell.http_service.ui.note_view import (
    DaySummary,
    LineOrigin,
    marked_origins,
    summarize_days,
)
from notewell.index import ListedNote
from notewell.types import Span


def write(served: Served, name: str, text: str) -> None:
    file = served.workspaces["main"] / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def get(served: Served, path: str, token: str = "read") -> Any:
    answer = served.ask("GET", f"/v1/page/{path}", token)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_list_has_titles_texts_and_days_with_the_curated_note_first(served: Served) -> None:
    write(served, "memory/2026-03-01.md", "# One\n\nSome *text*.\n\n# Two\n\nmore\n")
    served.agents.memory("main").sync()
    first, dated = get(served, "cards")["cards"]
    assert (first["path"], first["pinned"], "day" in first) == ("MEMORY.md", True, False)
    assert (dated["title"], dated["text"], dated["day"]) == (
        "One",
        "Some text. more",
        "2026-03-01",
    )
    assert datetime.fromisoformat(dated["modified"]).tzinfo


def test_a_filter_a_folder_and_a_day_narrow_the_list(served: Served) -> None:
    write(served, "memory/2026-03-01.md", "# One\n")
    write(served, "memory/trips/alps.md", "---\ntags: [hiking]\n---\n# The Alps\n")
    served.agents.memory("main").sync()

    def paths(query: str) -> list[str]:
        return [one["path"] for one in get(served, f"cards?{query}")["cards"]]

    assert paths("filter=HIKING+alps") == ["memory/trips/alps.md"]
    assert paths("folder=memory/trips/") == ["memory/trips/alps.md"]
    assert paths("day=2026-03-01") == ["memory/2026-03-01.md"]
    assert paths("filter=nowhere") == []
    assert get(served, "folders")["folders"] == [
        {"folder": "", "notes": 3},
        {"folder": "memory/", "notes": 2},
        {"folder": "memory/trips/", "notes": 1},
    ]


def test_a_changed_note_has_a_new_card(served: Served) -> None:
    write(served, "memory/a.md", "# Old\n")
    served.agents.memory("main").sync()
    assert get(served, "cards?filter=old")["total"] == 1
    write(served, "memory/a.md", "# Newer\n")
    served.agents.memory("main").sync()
    assert get(served, "cards?filter=newer")["total"] == 1


def test_before_the_first_sync_there_is_nothing_to_list(served: Served) -> None:
    assert get(served, "cards") == {"cards": [], "total": 0}
    assert get(served, "folders") == {"folders": []}
    assert get(served, "days") == {"days": []}


def test_the_days_count_notes_and_what_was_appended(served: Served) -> None:
    write(served, "memory/2026-03-01.md", "a\n")
    write(served, "memory/2026-03-01-walk.md", "bcd\n")
    memory = served.agents.memory("main")
    memory.append("We ship on Friday.")
    memory.sync()
    found = {one["day"]: one for one in get(served, "days")["days"]}
    assert found["2026-03-01"] == {"day": "2026-03-01", "notes": 2, "entries": 0, "chars": 4}
    today = memory.now().date().isoformat()
    assert (found[today]["notes"], found[today]["entries"]) == (1, 1)


def test_an_entry_is_of_the_day_it_was_written_where_the_user_lives() -> None:
    late = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)
    wrote = Write("memory/x.md", 0, 4, "", "", "", "mcp", "entry")
    east = timezone(timedelta(hours=9))
    assert summarize_days([], {}, [Recorded("1", late, wrote)], east) == [
        DaySummary("2026-03-02", 0, 1, 0)
    ]
    assert summarize_days([], {}, [Recorded("1", late, wrote, undone=True)], east) == []


def test_a_transcript_makes_no_day() -> None:
    talk = ListedNote("sessions/a.jsonl", "sessions", 9, 0, "2026-03-01", 1, 4)
    assert summarize_days([talk], {"sessions/a.jsonl": 9}, [], UTC) == []


def test_a_note_shows_its_chunks_and_who_wrote_which_lines(served: Served) -> None:
    memory = served.agents.memory("main")
    done = memory.append("We ship on Friday.", origin="mcp")
    memory.append("The plan:\n\n1. test\n2. ship", origin="flush")
    memory.sync()
    note = get(served, f"note/{done.path}")
    lines = note["text"].split("\n")
    assert [one["origin"] for one in note["origins"]] == ["mcp", "flush"]
    for one in note["origins"]:
        assert lines[one["startLine"] - 1].startswith("- ")
        assert lines[one["endLine"] - 1].endswith("-->")
        assert one["at"]
        assert one["id"]
    assert {one["id"] for one in note["history"]} == {one["id"] for one in note["origins"]}
    assert all(one["canUndo"] and not one["undone"] for one in note["history"])
    assert note["chunks"][0]["startLine"] == 1
    assert all(one["embedded"] for one in note["chunks"])
    assert note["cut"] is False


def test_lines_above_an_entry_move_what_is_known_of_it(served: Served) -> None:
    memory = served.agents.memory("main")
    done = memory.append("We ship on Friday.")
    file = served.workspaces["main"] / done.path
    file.write_text("# Mine\n\n" + file.read_text(encoding="utf-8"), encoding="utf-8")
    (one,) = get(served, f"note/{done.path}")["origins"]
    lines = file.read_text(encoding="utf-8").split("\n")
    assert "We ship on Friday." in lines[one["startLine"] - 1]


def test_marks_tell_of_entries_that_the_history_does_not_know() -> None:
    text = "# Day\n\n- one <!-- @mcp #7f3a -->\n- two\n\n  more\n  <!-- @flush -->\nplain\n"
    found = marked_origins(text, [])
    assert found == [
        LineOrigin(Span(3, 3), "mcp", None, "7f3a"),
        LineOrigin(Span(4, 7), "flush", None, None),
    ]
    assert marked_origins(text, [LineOrigin(Span(3, 3), "mcp", None, "x")]) == found[1:]


def test_a_write_is_taken_back_by_an_admin_and_nobody_else(served: Served) -> None:
    memory = served.agents.memory("main")
    done = memory.append("We ship on Friday.")
    memory.append("We ship on Monday.")
    id_ = get(served, f"note/{done.path}")["history"][-1]["id"]
    assert served.ask("POST", f"/v1/page/undo/{id_}", "append").status_code == 403
    answer = served.ask("POST", f"/v1/page/undo/{id_}", "admin")
    assert answer.status_code == 200, answer.text
    assert answer.json()["path"] == done.path
    note = get(served, f"note/{done.path}")
    assert "Friday" not in note["text"]
    assert [(one["undone"], one["canUndo"]) for one in note["history"]] == [
        (False, True),
        (True, False),
    ]
    assert served.audit()[-1]["what"] == "undo"
    again = served.ask("POST", f"/v1/page/undo/{id_}", "admin")
    assert again.status_code == 422


def test_what_the_user_has_changed_is_not_taken_back(served: Served) -> None:
    done = served.agents.memory("main").append("We ship on Friday.")
    file = served.workspaces["main"] / done.path
    changed = file.read_text(encoding="utf-8").replace("Friday", "Sunday")
    file.write_text(changed, encoding="utf-8")
    (one,) = get(served, f"note/{done.path}")["history"]
    assert one["canUndo"] is False
    answer = served.ask("POST", f"/v1/page/undo/{one['id']}", "admin")
    assert answer.status_code == 409
    assert answer.json()["type"].endswith("cannot-undo")
    assert file.read_text(encoding="utf-8") == changed


@pytest.mark.parametrize("id_", ["00000000", "zzzzzzzz", "0", "..%2f..%2fx"])
def test_an_id_that_is_none_takes_nothing_back(served: Served, id_: str) -> None:
    assert served.ask("POST", f"/v1/page/undo/{id_}", "admin").status_code in {404, 422}


@pytest.mark.parametrize(
    "path", ["memory/none.md", "../state/tokens.json", "/etc/passwd", "notewell.json", "%00.md"]
)
def test_what_is_no_note_is_not_shown(served: Served, path: str) -> None:
    answer = served.ask("GET", f"/v1/page/note/{quote(path, safe='')}")
    assert answer.status_code in {404, 422}
    assert "root:" not in answer.text


def test_notes_that_agents_were_shown_are_not_among_the_never_recalled(served: Served) -> None:
    write(served, "memory/2026-03-01.md", "The harbour was frozen.\n")
    write(served, "memory/ferry.md", "# The ferry\n\nIt leaves at noon.\n")
    served.agents.memory("main").sync()
    assert served.search("harbour frozen", maxResults=1)["results"]
    left = {one["path"]: one for one in get(served, "never")["notes"]}
    assert set(left) == {"MEMORY.md", "memory/ferry.md"}
    assert left["memory/ferry.md"]["title"] == "The ferry"
    assert left["memory/ferry.md"]["bytes"] > 0


def test_one_agent_sees_nothing_of_another(served: Served) -> None:
    served.agents.memory("work").sync()
    assert get(served, "cards")["cards"] == []
    assert [one["path"] for one in get(served, "cards", "other")["cards"]] == ["MEMORY.md"]
