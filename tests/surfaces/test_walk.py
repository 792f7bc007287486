"""The story of docs/architecture.md, told by the real parts, the embedded model included."""

from __future__ import annotations

from pathlib import Path

from notewell import open_memory


def test_a_note_becomes_a_search_hit(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    (workspace / "memory").mkdir(parents=True)
    (workspace / "MEMORY.md").write_text(
        "# Memory\n\n- Answers should be short.\n", encoding="utf-8"
    )
    day = workspace / "memory" / "2026-11-15.md"
    day.write_text("# 2026-11-15\n\n- bread and rain\n", encoding="utf-8")

    with open_memory(workspace, state_dir=tmp_path / "state") as memory:
        report = memory.sync()
        assert (report.written, report.vectors_waiting) == (2, 0)

        with day.open("a", encoding="utf-8") as file:
            file.write("\n## Router\n\nWe shipped the new router on Friday.\n")
        assert memory.status().dirty == 1
        assert memory.sync().written == 1

        answer = memory.search("when did we ship the router?")
        best = answer.hits[0]
        assert answer.mode == "hybrid"
        assert answer.provider == "embedded"
        assert best.path == "memory/2026-11-15.md"
        assert "shipped the new router" in best.snippet

        lines = memory.get(best.path, from_line=best.span.start_line, lines=7)
        assert lines.text.split("\n")[-1] == "We shipped the new router on Friday."

        # The meaning alone finds it too: no word of this question is in the note.
        asked = memory.search("network hardware deployment", min_score=0.0)
        assert asked.hits[0].path == "memory/2026-11-15.md"
