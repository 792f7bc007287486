"""What is decided without touching the world: cadence, names, settings."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.errors import BadSetting
from notewell.qmd import (
    Collection,
    CollectionFile,
    ExtraFolder,
    QmdFailed,
    QmdSettings,
    collections_of,
    locate,
    shown_path,
)
from notewell.qmd.background import JobHistory, JobRuns, NextJob, boot_pause, next_job
from notewell.qmd.failures import FailureKind, backoff_s
from notewell.qmd.home import models_for

WORKSPACE = Path("/srv/workspace")

# -- cadence -------------------------------------------------------------------------------------

BEGAN = 1000.0
SETTINGS = QmdSettings()


def test_the_first_update_is_at_the_start_unless_it_is_switched_off() -> None:
    kept = JobHistory(BEGAN)
    assert next_job(kept, SETTINGS) == NextJob("update", BEGAN)
    late = replace(SETTINGS, update_on_boot=False)
    assert next_job(kept, late) == NextJob("update", BEGAN + 300)
    assert next_job(replace(kept, is_dirty=True), late) == NextJob("update", BEGAN + 15)


def test_then_every_interval_and_sooner_after_a_change() -> None:
    kept = JobHistory(BEGAN, update=JobRuns().ended(BEGAN + 5, well=True))
    assert next_job(kept, SETTINGS) == NextJob("update", BEGAN + 305)
    assert next_job(replace(kept, is_dirty=True), SETTINGS) == NextJob("update", BEGAN + 20)


def test_an_interval_of_nothing_leaves_only_changes() -> None:
    still = replace(SETTINGS, interval_s=0.0)
    kept = JobHistory(BEGAN, update=JobRuns(BEGAN))
    assert next_job(kept, still) is None
    assert next_job(replace(kept, is_dirty=True), still) == NextJob("update", BEGAN + 15)
    assert next_job(JobHistory(BEGAN), replace(still, update_on_boot=False)) is None


def test_the_debounce_is_the_least_time_between_two_updates() -> None:
    hasty = replace(SETTINGS, interval_s=1.0)
    assert next_job(JobHistory(BEGAN, update=JobRuns(BEGAN)), hasty) == NextJob(
        "update", BEGAN + 15
    )


def test_vectors_are_computed_only_where_meaning_is_asked_for() -> None:
    kept = JobHistory(BEGAN, update=JobRuns(BEGAN))
    assert next_job(kept, SETTINGS) == NextJob("update", BEGAN + 300)
    vectors = replace(SETTINGS, search_mode="vsearch")
    assert next_job(kept, vectors) == NextJob("embed", BEGAN)
    done = replace(kept, embed=JobRuns(BEGAN + 9))
    assert next_job(done, replace(vectors, interval_s=0.0)) == NextJob("embed", BEGAN + 9 + 3600)
    assert next_job(JobHistory(BEGAN), vectors) == NextJob("update", BEGAN)


def test_after_failures_it_is_left_alone_ever_longer_up_to_an_hour() -> None:
    assert [backoff_s(count) for count in range(8)] == [0, 60, 120, 240, 480, 960, 1920, 3600]
    assert backoff_s(10_000) == 3600
    runs = JobRuns().ended(BEGAN, well=False).ended(BEGAN, well=False)
    assert next_job(JobHistory(BEGAN, update=runs, is_dirty=True), SETTINGS) == NextJob(
        "update", BEGAN + 120
    )
    assert runs.ended(BEGAN, well=True) == JobRuns(BEGAN, 0)
    vectors = replace(SETTINGS, search_mode="query", interval_s=0.0)
    kept = JobHistory(BEGAN, update=JobRuns(BEGAN), embed=JobRuns(BEGAN, 1))
    assert next_job(kept, vectors) == NextJob("embed", BEGAN + 60)


@pytest.mark.parametrize(
    ("kind", "pauses"),
    [("busy", [0.5, 1.0, None]), ("timeout", [0.5, 1.0, None]), ("exit", [None, None, None])],
)
def test_the_update_at_the_start_is_tried_three_times(
    kind: FailureKind, pauses: list[float | None]
) -> None:
    assert [boot_pause(QmdFailed(kind, "x"), tries) for tries in (1, 2, 3)] == pauses


moments = st.none() | st.floats(0, 1e6)
runs = st.builds(JobRuns, last=moments, failures=st.integers(0, 50))


@given(
    st.builds(
        JobHistory, began=st.floats(0, 1e6), update=runs, embed=runs, is_dirty=st.booleans()
    ),
    st.sampled_from(["search", "vsearch", "query"]),
)
def test_nothing_is_ever_due_before_it_can_be(kept: JobHistory, mode: str) -> None:
    settings = QmdSettings(search_mode="vsearch" if mode == "vsearch" else "search")
    due = next_job(kept, settings)
    assert due is not None
    runs_of = kept.update if due.job == "update" else kept.embed
    if due.job == "update" and runs_of.last is not None:
        assert due.at >= runs_of.last + settings.debounce_s


# -- collections ---------------------------------------------------------------------------------


def test_the_workspaces_own_collections_have_the_names_that_are_known() -> None:
    settings = QmdSettings(export_sessions=True)
    assert collections_of(WORKSPACE, "main", settings, Path("/state/sessions")) == (
        Collection("memory-root-main", WORKSPACE, "MEMORY.md", "memory"),
        Collection("memory-alt-main", WORKSPACE, "memory.md", "memory"),
        Collection("memory-user-main", WORKSPACE, "USER.md", "memory"),
        Collection("memory-dir-main", WORKSPACE / "memory", "**/*.md", "memory"),
        Collection("sessions-main", Path("/state/sessions"), "**/*.md", "sessions"),
    )


def test_extra_folders_get_safe_names_and_none_twice() -> None:
    extra = (
        ExtraFolder("docs", None, "../My Docs"),
        ExtraFolder("/other/docs", "*.md", "my-docs"),
        ExtraFolder("/third"),
    )
    settings = QmdSettings(include_default_memory=False, paths=extra)
    found = collections_of(WORKSPACE, "a", settings, Path("/x"))
    assert found == (
        Collection("my-docs-a", WORKSPACE / "docs", "**/*.md", "extra"),
        Collection("my-docs-a-2", Path("/other/docs"), "*.md", "extra"),
        Collection("custom-3-a", Path("/third"), "**/*.md", "extra"),
    )


def test_a_folder_that_cannot_be_written_down_is_refused() -> None:
    settings = QmdSettings(paths=(ExtraFolder("/x/\udce9"),))
    with pytest.raises(BadSetting, match="UTF-8"):
        collections_of(WORKSPACE, "a", settings, Path("/x"))


EXTRA = Collection("docs-main", Path("/docs"), "**/*.md", "extra")
INSIDE = Collection("in-main", WORKSPACE / "docs", "**/*.md", "extra")
SESSIONS = Collection("sessions-main", WORKSPACE / "state", "**/*.md", "sessions")
ROOT, *_, MEMORY = collections_of(WORKSPACE, "main", QmdSettings(), Path("/x"))
ALL = (ROOT, MEMORY, EXTRA, INSIDE, SESSIONS)


@pytest.mark.parametrize(
    ("collection", "parts", "shown"),
    [
        (ROOT, ("MEMORY.md",), "MEMORY.md"),
        (MEMORY, ("a", "b.md"), "memory/a/b.md"),
        (EXTRA, ("a", "b.md"), "qmd/docs-main/a/b.md"),
        (INSIDE, ("b.md",), "docs/b.md"),
        (SESSIONS, ("s.md",), "qmd/sessions-main/s.md"),
    ],
)
def test_what_a_hit_is_called_leads_back_to_its_file(
    collection: Collection, parts: tuple[str, ...], shown: str
) -> None:
    assert shown_path(WORKSPACE, collection, parts) == shown
    assert locate(WORKSPACE, ALL, shown) == CollectionFile(collection.root, parts)


@pytest.mark.parametrize(
    "path",
    [
        "secret.md",
        "memory/a.txt",
        "memory/../secret.md",
        "../outside.md",
        "/etc/passwd.md",
        "qmd/docs-main/../x.md",
        "qmd/docs-main",
        "qmd/docs-main/",
        "qmd/docs-main/.env",
        "qmd/nobody/x.md",
        "qmd/memory-root-main/other.md",
        "state/s.md",
        "",
        "memory//a.md",
        "memory/a\0.md",
    ],
)
def test_what_is_in_no_collection_is_nowhere(path: str) -> None:
    assert locate(WORKSPACE, ALL, path) is None


@given(st.lists(st.sampled_from(["..", ".", "", "memory", "a.md", "qmd", "docs-main", "/"])))
def test_no_path_leads_out_of_a_collection(parts: list[str]) -> None:
    place = locate(WORKSPACE, ALL, "/".join(parts))
    if place is not None:
        assert ".." not in place.parts
        assert place.root in {one.root for one in ALL}
        assert place.parts[-1].endswith(".md")


def test_its_settings_are_cheap_to_load() -> None:
    code = "import sys, notewell.qmd.settings as s; print({'subprocess', 'apsw'} & {*sys.modules})"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert told.stdout.strip() == b"set()"


# -- settings ------------------------------------------------------------------------------------


def test_a_search_needs_only_the_models_it_uses() -> None:
    models = QmdSettings().models
    embed, rerank, generate = models
    assert models_for("search", models, None, by_server=True) == []
    assert models_for("vsearch", models, None, by_server=False) == [embed]
    assert models_for("query", models, None, by_server=True) == [embed, rerank]
    assert models_for("query", models, rerank=False, by_server=True) == [embed]
    assert models_for("query", models, None, by_server=False) == [embed, generate, rerank]
