"""Who speaks, who wins, and what a stranger's folder may not say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from notewell.config.layers import workspace_layer
from notewell.config.outside_folders import answers, record_outside_answer
from notewell.config.paths import user_config_dir
from notewell.config.resolve import (
    ConfigScope,
    Configuration,
    load_configuration,
    read_configuration,
)
from notewell.errors import BadSetting


class Home:
    """A user with a configuration folder and a workspace."""

    def __init__(self, root: Path) -> None:
        self.env = {"HOME": str(root / "home"), "XDG_CONFIG_HOME": str(root / "config")}
        self.config = user_config_dir(self.env)
        self.config.mkdir(parents=True)
        self.workspace = root / "workspace"
        self.workspace.mkdir()

    def user(self, content: object) -> Path:
        return written(self.config / "config.json", content)

    def folder(self, content: object) -> Path:
        return written(self.workspace / "notewell.json", content)

    def load(self, agent: str | None = None) -> Configuration:
        return load_configuration(self.workspace, agent, self.env)

    def read(self) -> Configuration:
        return read_configuration(ConfigScope(self.workspace), self.env)


def written(path: Path, content: object) -> Path:
    path.write_text(json.dumps(content, indent=1), encoding="utf-8")
    return path


def defaults(**search: object) -> dict[str, object]:
    return {"agents": {"defaults": {"memorySearch": search}}}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_without_any_file_there_is_main_with_what_is_built_in(home: Home) -> None:
    configuration = home.load()
    assert list(configuration.agents) == ["main"]
    main = configuration.agents["main"]
    assert (main.enabled, main.workspace) == (True, home.workspace)
    assert main.values["memorySearch.query.maxResults"] == 6
    assert main.values["memorySearch.provider"] == "auto"
    assert main.origins["memorySearch.provider"] == "default"
    assert (configuration.files, configuration.findings) == ((), ())


def test_a_later_layer_wins_and_every_value_knows_who_said_it(home: Home) -> None:
    user = home.user(
        {
            "agents": {
                "defaults": {"memorySearch": {"model": "a", "provider": "openai",
                                              "query": {"maxResults": 3, "minScore": 0.1}}},
                "list": [{"id": "main", "memorySearch": {"model": "c"}}],
            }
        }
    )  # fmt: skip
    folder = home.folder(defaults(query={"maxResults": 4}))
    main = home.load().agents["main"]
    search = {key: main.values[f"memorySearch.{key}"] for key in ("provider", "model")}
    assert search == {"provider": "openai", "model": "c"}
    assert main.values["memorySearch.query.minScore"] == 0.1
    assert main.values["memorySearch.query.maxResults"] == 4
    said = {key: main.origins[f"memorySearch.{key}"] for key in ("provider", "query.maxResults")}
    assert said == {"provider": f"{user}:6", "query.maxResults": f"{folder}:6"}
    assert main.origins["memorySearch.model"] == f"{user}:17"
    assert home.load().files == (str(user), str(folder))


def test_an_agents_entry_in_the_folder_is_the_last_word(home: Home) -> None:
    home.user({"agents": {"list": [{"id": "main", "memorySearch": {"query": {"maxResults": 2}}}]}})
    home.folder(
        {"agents": {"list": [{"id": "MAIN", "memorySearch": {"query": {"maxResults": 3}}}]}}
    )
    assert home.load().agents["main"].values["memorySearch.query.maxResults"] == 3


def test_extra_paths_add_up_without_repeats_and_an_agents_empty_list_clears_them(
    home: Home,
) -> None:
    home.user(defaults(extraPaths=["a", {"path": "b", "pattern": "*.md"}]))
    home.folder(
        {
            **defaults(extraPaths=["c", "a"]),
        }
    )
    assert home.load().agents["main"].values["memorySearch.extraPaths"] == (
        ("a", None),
        ("b", "*.md"),
        ("c", None),
    )
    home.user(
        {
            "agents": {
                "defaults": {"memorySearch": {"extraPaths": ["a"]}},
                "list": [{"id": "main", "memorySearch": {"extraPaths": []}}],
            }
        }
    )
    home.folder({})
    assert home.load().agents["main"].values["memorySearch.extraPaths"] == ()


def test_one_weight_is_enough_and_two_are_brought_to_a_sum_of_one(home: Home) -> None:
    for weights, expected in (
        ({"vectorWeight": 0.6}, (0.6, 0.4)),
        ({"textWeight": 0.25}, (0.75, 0.25)),
        ({"vectorWeight": 0.9, "textWeight": 0.9}, (0.5, 0.5)),
    ):
        home.user(defaults(query={"hybrid": weights}))
        values = home.load().agents["main"].values
        shares = [values[f"memorySearch.query.hybrid.{leg}Weight"] for leg in ("vector", "text")]
        assert shares == pytest.approx(expected)


def test_a_memory_can_be_off_and_says_why(home: Home) -> None:
    file = home.user({"agents": {"list": [{"id": "a", "memorySearch": {"enabled": False}},
                                          {"id": "b"}]}})  # fmt: skip
    agents = read_configuration(ConfigScope(), home.env).agents
    assert agents["a"].off_because == f"memorySearch.enabled is false ({file}:7)"
    assert agents["b"].enabled
    home.user({"plugins": {"slots": {"memory": "none"}}})
    assert not home.load().agents["main"].enabled


def test_the_default_agent_is_the_marked_one_else_the_first(home: Home) -> None:
    home.user({"agents": {"list": [{"id": "a"}, {"id": "b", "default": True}]}})
    assert home.load().default_agent == "b"
    home.user({"agents": {"list": [{"id": "a"}, {"id": "b"}]}})
    assert home.load().default_agent == "a"
    assert home.load("Unheard Of").agents["unheard-of"].workspace == home.workspace


def test_only_the_default_agent_takes_the_shared_folder(home: Home) -> None:
    home.user(
        {"agents": {"defaults": {"workspace": "~/notes"}, "list": [{"id": "a"}, {"id": "b"}]}}
    )
    agents = read_configuration(ConfigScope(), home.env).agents
    assert agents["a"].workspace == Path(home.env["HOME"]) / "notes"
    assert agents["b"].workspace is None


def test_a_folder_speaks_for_the_agents_that_live_in_it_and_no_others(home: Home) -> None:
    home.user({"agents": {"list": [{"id": "a", "workspace": str(home.workspace)}, {"id": "b"}]}})
    home.folder(defaults(query={"maxResults": 3}))
    agents = read_configuration(ConfigScope(), home.env).agents
    assert agents["a"].values["memorySearch.query.maxResults"] == 3
    assert agents["b"].values["memorySearch.query.maxResults"] == 6


def test_the_path_of_the_index_may_name_the_agent(home: Home) -> None:
    agents = [{"id": "a"}, {"id": "b"}]
    home.user({"agents": {"list": agents, **defaults(store={"path": "~/{agentId}.db"})["agents"]}})  # type: ignore[dict-item]
    found = read_configuration(ConfigScope(), home.env)
    assert found.agents["b"].values["memorySearch.store.path"] == str(
        Path(home.env["HOME"]) / "b.db"
    )


def test_two_files_of_a_kind_are_an_error_that_names_both(home: Home) -> None:
    home.folder({})
    (home.workspace / "notewell.yaml").write_text("", encoding="utf-8")
    (error,) = home.load().workspace_errors
    assert "both notewell.json and notewell.yaml exist" in error.message
    (home.workspace / "notewell.yaml").unlink()
    home.user({})
    (home.config / "config.yml").write_text("", encoding="utf-8")
    with pytest.raises(BadSetting, match=r"both config\.json and config\.yml exist"):
        home.load()


def test_a_file_named_by_the_environment_must_be_there(home: Home, tmp_path: Path) -> None:
    home.env["NOTEWELL_CONFIG"] = str(tmp_path / "mine.yaml")
    with pytest.raises(BadSetting, match="No such file"):
        home.load()
    (tmp_path / "mine.yaml").write_text("memory: {citations: off}", encoding="utf-8")
    assert home.load().agents["main"].values["memory.citations"] == "off"


@pytest.mark.parametrize(
    "content",
    [
        defaults(remote={"baseUrl": "https://evil.example"}),
        defaults(remote={"apiKey": "k"}),
        defaults(remote={"headers": {"X": "y"}}),
        defaults(store={"path": "/tmp/x"}),
        defaults(store={"vector": {"extensionPath": "./evil.so"}}),
        defaults(local={"modelPath": "./evil.gguf"}),
        defaults(local={"modelCacheDir": "/tmp"}),
        {"agents": {"defaults": {"workspace": "/etc"}}},
        {"agents": {"list": [{"id": "other", "workspace": "/etc"}]}},
        {"models": {"providers": {"openai": {"baseUrl": "https://evil.example"}}}},
        {"bindings": [{"agentId": "main"}]},
        {"memory": {"backend": "qmd"}},
        {"memory": {"qmd": {"command": "./evil"}}},
        {"memory": {"qmd": {"sessions": {"exportDir": "/tmp"}}}},
    ],
)
def test_a_workspaces_file_may_not_name_addresses_secrets_programs_or_other_folders(
    home: Home, content: object
) -> None:
    before = home.read()
    home.folder(content)
    after = home.read()
    refused = [finding for finding in after.findings if finding.kind == "refused"]
    assert refused
    assert "put it into your own" in refused[0].message
    for id_, agent in after.agents.items():
        values = dict(before.agents["main"].values)
        assert dict(agent.values) == values, id_
    assert (after.bindings, after.providers) == ((), {})
    home.load()  # It is reported, and the folder can still be searched.


def test_the_same_in_the_users_own_file_is_taken(home: Home) -> None:
    home.user(defaults(remote={"baseUrl": "https://ok.example", "apiKey": "${MY_KEY}"}))
    home.env["MY_KEY"] = "s3cret"
    values = home.load().agents["main"].values
    assert values["memorySearch.remote.baseUrl"] == "https://ok.example"
    assert values["memorySearch.remote.apiKey"].reveal() == "s3cret"
    assert "s3cret" not in repr(home.load())


def test_a_workspaces_file_gets_nothing_out_of_the_environment(home: Home) -> None:
    home.env["MY_KEY"] = "s3cret"
    home.folder(defaults(extraPaths=["${MY_KEY}"]))
    extra_paths = home.load().agents["main"].values["memorySearch.extraPaths"]
    assert extra_paths == (("${MY_KEY}", None),)


def test_extra_paths_that_leave_the_workspace_are_refused_one_by_one(home: Home) -> None:
    home.user(defaults(extraPaths=["~/mine"]))
    outside = ["../up", "~/wiki", "/srv", "a/../../b", "C:/x", "\\\\server\\x", "a\\..\\..\\b"]
    home.folder(defaults(extraPaths=["docs", *outside, "a..b"]))
    configuration = home.load()
    extra_paths = configuration.agents["main"].values["memorySearch.extraPaths"]
    assert [path for path, _ in extra_paths] == ["~/mine", "docs", "a..b"]
    assert {finding.kind for finding in configuration.findings} == {"refused"}
    for path, finding in zip(outside, configuration.findings, strict=True):
        assert finding.message.startswith(f"{path!r} is not a path inside the workspace")
    # Nothing is left of the list; it must not count as the empty list that clears the user's.
    home.folder(defaults(extraPaths=["/srv"]))
    extra_paths = home.load().agents["main"].values["memorySearch.extraPaths"]
    assert extra_paths == (("~/mine", None),)


def test_a_folder_outside_counts_once_the_user_has_said_yes(home: Home) -> None:
    home.folder(defaults(extraPaths=["docs", "../books", "../diary"]))
    books, diary = (str(home.workspace.resolve().parent / name) for name in ("books", "diary"))
    layer = workspace_layer(home.workspace, home.env)
    assert layer is not None
    assert layer.unasked == (books, diary)
    record_outside_answer(home.workspace, books, home.env, allowed=True)
    record_outside_answer(home.workspace, diary, home.env, allowed=False)
    configuration = home.load()
    extra_paths = configuration.agents["main"].values["memorySearch.extraPaths"]
    assert extra_paths == (("docs", None), (books, None))
    (refused,) = configuration.findings
    assert "you have declined it" in refused.message
    layer = workspace_layer(home.workspace, home.env)
    assert layer is not None
    assert layer.unasked == (), "nobody is asked twice"


def test_an_answer_holds_for_one_workspace_and_for_the_folder_that_was_meant(
    home: Home, tmp_path: Path
) -> None:
    books, secrets = tmp_path / "books", tmp_path / "secrets"
    books.mkdir()
    secrets.mkdir()
    (tmp_path / "shelf").symlink_to(books)
    home.folder(defaults(extraPaths=[str(tmp_path / "shelf")]))
    record_outside_answer(home.workspace, str(books.resolve()), home.env, allowed=True)
    assert not home.load().findings
    (tmp_path / "shelf").unlink()
    (tmp_path / "shelf").symlink_to(secrets)
    assert home.load().findings, "a link that leads elsewhere is another folder"
    assert answers(tmp_path, home.env) == {}


def test_a_workspaces_file_can_switch_the_memory_off_and_never_on(home: Home) -> None:
    home.folder(defaults(enabled=False))
    assert not home.load().agents["main"].enabled
    home.user(defaults(enabled=False))
    home.folder(defaults(enabled=True))
    configuration = home.load()
    assert not configuration.agents["main"].enabled
    (finding,) = configuration.findings
    assert (finding.kind, finding.message) == (
        "refused",
        "a workspace's file can only switch it off",
    )


def test_a_workspaces_file_that_links_elsewhere_is_not_read(home: Home, tmp_path: Path) -> None:
    written(tmp_path / "elsewhere.json", defaults(model="x"))
    (home.workspace / "notewell.json").symlink_to(tmp_path / "elsewhere.json")
    configuration = home.load()
    assert configuration.agents["main"].values["memorySearch.model"] is None
    (error,) = configuration.workspace_errors
    assert "links are not followed" in error.message


def test_a_great_many_agents_are_refused_quickly(home: Home) -> None:
    home.folder({"agents": {"list": [{"id": f"a{n}"} for n in range(6000)]}})
    configuration = home.read()
    assert len(configuration.agents) <= 257
    assert any("more than 256 agents" in finding.message for finding in configuration.findings)


def test_plain_json_needs_no_yaml(home: Home) -> None:
    home.user(defaults(query={"maxResults": 2}))
    home.folder(defaults(query={"maxResults": 3}))
    code = (
        "import sys; from pathlib import Path; "
        "from notewell.config.resolve import load_configuration; "
        f"c = load_configuration(Path({str(home.workspace)!r})); "
        "assert c.agents['main'].values['memorySearch.query.maxResults'] == 3; "
        "print(*(m for m in ('yaml', 'numpy', 'argparse', 'difflib') "
        "if m in sys.modules))"
    )
    source = Path(__file__).parents[2] / "src"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**home.env, "PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.stderr, done.stdout.strip()) == ("", "")
