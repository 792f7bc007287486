"""What a workspace's file may say, and what is said about a bad one."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect import Settings
from recollect.config import default_state_dir, load_settings, write_workspace_file
from recollect.config.settings import MAX_FILE_BYTES, parse_settings
from recollect.core.errors import BadSetting
from recollect.notes import ExtraPath


def parsed(**memory_search: object) -> Settings:
    return parse_settings(
        json.dumps({"agents": {"defaults": {"memorySearch": memory_search}}}).encode()
    )


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    assert load_settings(tmp_path) == Settings()


def test_every_key_reaches_its_setting() -> None:
    settings = parsed(
        extraPaths=["docs", {"path": "~/wiki", "pattern": "**/*.md"}],
        chunking={"tokens": 200, "overlap": 10},
        query={"maxResults": 3, "minScore": 0.5, "hybrid": {"candidateMultiplier": 8}},
        store={"vector": {"driver": "sqlite-vec"}},
    )
    assert settings == Settings(
        extra_paths=(ExtraPath("docs"), ExtraPath("~/wiki", "**/*.md")),
        chunk_tokens=200,
        chunk_overlap=10,
        max_results=3,
        min_score=0.5,
        candidate_multiplier=8,
        vector_driver="sqlite-vec",
    )


@pytest.mark.parametrize(
    ("weights", "share"),
    [
        ({"vectorWeight": 0.7, "textWeight": 0.3}, 0.7),
        ({"vectorWeight": 1, "textWeight": 1}, 0.5),
        ({"textWeight": 0.25}, 0.75),
        ({"vectorWeight": 0.25}, 0.25),
        ({"vectorWeight": 0}, 0),
        ({}, None),
    ],
)
def test_the_two_weights_are_shares_of_one(weights: dict[str, float], share: float | None) -> None:
    assert parsed(query={"hybrid": weights}).vector_weight == share


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"extraPath": ["x"]}, "did you mean 'agents.defaults.memorySearch.extraPaths'?"),
        ({"extraPaths": "x"}, "expected a list of paths, not 'x'"),
        ({"extraPaths": [""]}, "expected a path or"),
        ({"extraPaths": [{"path": 3}]}, "expected a path or"),
        ({"chunking": {"tokens": "many"}}, "expected a whole number from 16 to 8000, not 'many'"),
        ({"chunking": {"tokens": True}}, "expected a whole number"),
        ({"query": {"minScore": 2}}, "expected a number from 0 to 1, not 2"),
        ({"query": {"hybrid": {"vectorWeight": "0.7"}}}, "expected a number from 0 to 1"),
        ({"query": {"hybrid": {"vectorWeight": 0, "textWeight": 0}}}, "cannot both be 0"),
        ({"store": {"vector": {"driver": 3}}}, "expected a text, not 3"),
        ({"query": 3}, "no such setting"),
    ],
)
def test_a_bad_value_is_named_with_what_was_expected(
    told: dict[str, object], message: str
) -> None:
    with pytest.raises(BadSetting) as refused:
        parsed(**told)
    assert message in str(refused.value)


@pytest.mark.parametrize("data", [b"{", b"[1]", b"3", b'{"agents": 3}', b"\xff", b"[" * 100_000])
def test_a_file_that_is_not_ours_to_understand_is_refused(data: bytes) -> None:
    with pytest.raises(BadSetting):
        parse_settings(data)


@given(st.binary(max_size=200))
def test_any_bytes_are_settings_or_refused(data: bytes) -> None:
    with suppress(BadSetting):
        parse_settings(data)


def test_a_key_without_what_stands_above_it_is_shown_where_it_belongs() -> None:
    with pytest.raises(BadSetting, match=r"did you mean 'agents\.defaults\.memorySearch\.extra"):
        parse_settings(b'{"memorySearch": {"extraPaths": ["docs"]}}')


def test_a_pipe_in_place_of_the_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "recollect.json")
    with pytest.raises(BadSetting, match="not a regular file"):
        load_settings(tmp_path)


def test_a_file_that_is_too_large_or_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "recollect.json").write_bytes(b" " * (MAX_FILE_BYTES + 1))
    with pytest.raises(BadSetting, match="larger than"):
        load_settings(tmp_path)
    (tmp_path / "recollect.json").unlink()
    (tmp_path / "recollect.json").mkdir()
    with pytest.raises(BadSetting):
        load_settings(tmp_path)


def test_what_is_written_is_what_is_read_and_never_overwrites(tmp_path: Path) -> None:
    write_workspace_file(tmp_path, [".", "~/docs"])
    assert load_settings(tmp_path).extra_paths == (ExtraPath("."), ExtraPath("~/docs"))
    with pytest.raises(FileExistsError):
        write_workspace_file(tmp_path, ["other"])


def test_the_state_has_a_place_of_its_own() -> None:
    assert default_state_dir({"RECOLLECT_STATE_DIR": "/x"}) == Path("/x")
    assert default_state_dir({"XDG_STATE_HOME": "/s"}) == Path("/s/recollect")
    assert default_state_dir({}) == Path.home() / ".local" / "state" / "recollect"
