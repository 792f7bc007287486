"""Telling a client about a memory: the right file, the right shape, nothing of the user's lost."""

from __future__ import annotations

import argparse
import errno
import json
import os
import stat
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.cli import clients, mcp
from notewell.clients import CannotMerge, FileNotWritten, entry_text, install_entry, merged
from notewell.errors import BadRequest, BadSetting, WorkspaceMissing
from notewell.hosts import MCP_FILES, Machine
from notewell.mcp_server import http_app, is_loopback, listen

ENTRY: dict[str, Any] = {"type": "stdio", "command": "/bin/notewell", "args": ["mcp", "serve"]}
CODEX_ENTRY: dict[str, Any] = {"command": "/bin/notewell", "args": ["mcp", "-w", 'C:\\"ü"\x7f']}
CLAUDE, CODEX, CURSOR, VSCODE = (
    MCP_FILES[name] for name in ("claude", "codex", "cursor", "vscode")
)


# -- which file ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("client", "platform", "environ", "file"),
    [
        ("claude", "linux", {}, "/home/a/.claude.json"),
        ("claude", "linux", {"CLAUDE_CONFIG_DIR": "/c"}, "/c/.claude.json"),
        ("codex", "linux", {}, "/home/a/.codex/config.toml"),
        ("codex", "darwin", {"CODEX_HOME": "/c"}, "/c/config.toml"),
        ("cursor", "win32", {}, "/home/a/.cursor/mcp.json"),
        ("vscode", "linux", {}, "/home/a/.config/Code/User/mcp.json"),
        ("vscode", "linux", {"XDG_CONFIG_HOME": "/x"}, "/x/Code/User/mcp.json"),
        ("vscode", "darwin", {}, "/home/a/Library/Application Support/Code/User/mcp.json"),
        ("vscode", "win32", {"APPDATA": "/r"}, "/r/Code/User/mcp.json"),
        ("gemini", "linux", {}, "/home/a/.gemini/settings.json"),
        ("qwen", "linux", {}, "/home/a/.qwen/settings.json"),
        ("copilot", "linux", {}, "/home/a/.copilot/mcp-config.json"),
        ("opencode", "linux", {}, "/home/a/.config/opencode/opencode.json"),
        ("opencode", "linux", {"XDG_CONFIG_HOME": "/x"}, "/x/opencode/opencode.json"),
        ("cline", "linux", {}, "/home/a/.cline/data/settings/cline_mcp_settings.json"),
        ("cline", "linux", {"CLINE_DATA_DIR": "/d"}, "/d/settings/cline_mcp_settings.json"),
        ("cline", "linux", {"CLINE_MCP_SETTINGS_PATH": "/m.json"}, "/m.json"),
        ("continue", "linux", {}, "/home/a/.continue/config.yaml"),
    ],
)
def test_every_client_has_its_file(
    client: str, platform: str, environ: dict[str, str], file: str
) -> None:
    machine = Machine(Path("/home/a"), environ, platform)
    assert MCP_FILES[client].file(machine, None).as_posix() == file


def test_a_project_has_its_own_file() -> None:
    machine = Machine(Path("/home/a"), {}, "linux")
    files = {
        name: client.file(machine, Path("/p")).as_posix()
        for name, client in MCP_FILES.items()
        if client.project_file
    }
    assert files == {
        "claude": "/p/.mcp.json",
        "codex": "/p/.codex/config.toml",
        "cursor": "/p/.cursor/mcp.json",
        "vscode": "/p/.vscode/mcp.json",
        "gemini": "/p/.gemini/settings.json",
        "qwen": "/p/.qwen/settings.json",
        "opencode": "/p/opencode.json",
    }
    with pytest.raises(BadRequest, match="no file for a project"):
        MCP_FILES["copilot"].file(machine, Path("/p"))


# -- merging -------------------------------------------------------------------------------------

JSON_FILES = [
    "",
    " \n",
    "{}",
    "{ }\n",
    '{"mcpServers": {}}',
    '{\n  "mcpServers": {}\n}\n',
    '{"mcpServers": {"other": {"command": "x"}}, "after": 1}',
    '{\n\t"theme": "dark",\n\t"mcpServers": {\n\t\t"other": {\n\t\t\t"a": 1\n\t\t}\n\t}\n}\n',
    '{\r\n    "a": 1.10,\r\n    "mcpServers": {\r\n        "b": {}\r\n    }\r\n}\r\n',
    '{"numUses": 12345678901234567890, "x": 1e400, "text": "}{][,:\\" mcpServers"}',
    '{"mcpServers": {"a": {"mcpServers": {}}}}',
    '{"projects": {"/p": {"mcpServers": {"a": {}}}}, "z": [{"mcpServers": {}}]}',
    '// mine\n{ /* keep */ "mcpServers": { // all\n  "a": {}, // last\n } /* end */ }\n// bye',
    '{\n  "a": "http://not-a-comment", // yes\n}\n',
    "// only a comment",
]


def without_comments(text: str) -> Any:
    """As an editor reads it, by another way than the code's own."""
    kept, quoted, at = "", False, 0
    while at < len(text):
        two, one = text[at : at + 2], text[at]
        if quoted and one == "\\":
            kept, at = kept + two, at + 2
        elif not quoted and two in ("//", "/*"):
            end = text.find("\n" if two == "//" else "*/", at)
            at = len(text) if end < 0 else end + (two == "/*") * 2
        else:
            quoted ^= one == '"'
            if not quoted and one in "}]":
                kept = kept.rstrip().removesuffix(",")
            kept, at = kept + one, at + 1
    return json.loads(kept) if kept.strip() else {}


@pytest.mark.parametrize("text", JSON_FILES)
@pytest.mark.parametrize("client", [CLAUDE, VSCODE])
def test_an_entry_is_added_and_nothing_else_changes(text: str, client: Any) -> None:
    text = text.replace("mcpServers", client.key)
    after = merged(text, client, "notewell", ENTRY)
    assert after is not None
    before = without_comments(text)
    before.setdefault(client.key, {})["notewell"] = ENTRY
    assert without_comments(after) == before
    rest = iter(after)
    assert all(character in rest for character in text.rstrip())  # in order, none missing
    assert ("\r\n" in after) is ("\r\n" in text)
    assert merged(after, client, "notewell", ENTRY) is None


def test_the_file_keeps_its_indentation() -> None:
    text = '{\n\t"mcpServers": {\n\t\t"a": {}\n\t}\n}\n'
    entry = {"command": "x", "args": ["y"]}
    assert merged(text, CURSOR, "b", entry) == (
        '{\n\t"mcpServers": {\n\t\t"a": {},\n\t\t"b": {\n\t\t\t"command": "x",\n'
        '\t\t\t"args": [\n\t\t\t\t"y"\n\t\t\t]\n\t\t}\n\t}\n}\n'
    )


@given(
    st.dictionaries(
        st.text(max_size=8) | st.sampled_from(["mcpServers", "a"]),
        st.recursive(
            st.none() | st.integers() | st.text(max_size=12),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.text(max_size=5), inner, max_size=3)
            ),
        ),
        max_size=5,
    ),
    st.sampled_from([None, 1, 4, "\t"]),
)
def test_any_json_file_is_kept_or_refused(told: dict[str, Any], indent: int | str | None) -> None:
    text = json.dumps(told, indent=indent)
    try:
        after = merged(text, CURSOR, "notewell", ENTRY)
    except CannotMerge:
        assert not isinstance(told.get("mcpServers", {}), dict)
        return
    assert after is not None
    servers = {**told.get("mcpServers", {}), "notewell": ENTRY}
    assert json.loads(after) == {**told, "mcpServers": servers}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "not valid JSON"),
        ("{'a': 1}", "not valid JSON"),
        ("[]", "does not contain an object"),
        ("null", "does not contain an object"),
        ('{"mcpServers": []}', "is not an object"),
        ('{"mcpServers": {"notewell": {"command": "other"}}}', "another server named"),
        ('{"mcpServers": {}, "mcpServers": 5}', "is not an object"),
        ('{"mcpServers": {"a": {}}, "mcpServers": {}} }', "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
    ],
)
def test_what_cannot_be_merged_is_refused(text: str, says: str) -> None:
    with pytest.raises(CannotMerge, match=says) as refused:
        merged(text, CLAUDE, "notewell", ENTRY)
    assert "--print" in str(refused.value)


TOML_FILES = [
    "",
    "\n",
    'model = "x"',
    'model = "x"  # mine\n\n[mcp_servers.other]\ncommand = "y"\n',
    '[mcp_servers]\n[mcp_servers.other]\ncommand = "y"\n[profiles.a]\nb = 1\n',
    'mcp_servers.other.command = "y"\n',
    'a = """\n[mcp_servers.notewell]\n"""\r\n[b]\r\nc = 1\r\n',
]


@pytest.mark.parametrize("text", TOML_FILES)
def test_a_table_is_added_to_toml_and_nothing_else_changes(text: str) -> None:
    after = merged(text, CODEX, "notewell", CODEX_ENTRY)
    assert after is not None
    assert after.startswith(text)
    before = tomllib.loads(text.replace("\r\n", "\n"))
    before.setdefault("mcp_servers", {})["notewell"] = CODEX_ENTRY
    assert tomllib.loads(after.replace("\r\n", "\n")) == before
    assert merged(after, CODEX, "notewell", CODEX_ENTRY) is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a = ", "not valid TOML"),
        ('mcp_servers = { other = { command = "y" } }', "cannot be added below"),
        ("mcp_servers = 5", "is not an object"),
        ('[mcp_servers.notewell]\ncommand = "other"', "another server named"),
        ("[[mcp_servers]]", "is not an object"),
    ],
)
def test_toml_that_cannot_be_merged_is_refused(text: str, says: str) -> None:
    with pytest.raises(CannotMerge, match=says):
        merged(text, CODEX, "notewell", CODEX_ENTRY)


# -- writing -------------------------------------------------------------------------------------


def test_a_file_that_is_not_there_is_made(tmp_path: Path) -> None:
    file = tmp_path / "new" / "mcp.json"
    done = install_entry(CURSOR, file, "notewell", ENTRY)
    assert (done.changed, done.backup) == (True, None)
    assert json.loads(file.read_text(encoding="utf-8")) == {"mcpServers": {"notewell": ENTRY}}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in file.parent.iterdir()] == ["mcp.json"]
    assert install_entry(CURSOR, file, "notewell", ENTRY).changed is False


def test_the_file_as_it_was_is_kept_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    before = b'\xef\xbb\xbf{"a": 1}'
    file.write_bytes(before)
    file.chmod(0o640)
    done = install_entry(CURSOR, file, "notewell", ENTRY)
    assert done.backup == tmp_path / "mcp.json.notewell-backup"
    assert done.backup.read_bytes() == before
    assert file.read_bytes().startswith(b'\xef\xbb\xbf{"a": 1')
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    again = install_entry(CURSOR, file, "second", ENTRY)
    assert again.backup == tmp_path / "mcp.json.notewell-backup-1"
    assert done.backup.read_bytes() == before


def test_a_backup_is_made_where_the_file_system_has_no_hard_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))

    monkeypatch.setattr(os, "link", refuse)
    file = tmp_path / "mcp.json"
    file.write_bytes(b'{"theirs": 1}\n')
    done = install_entry(CLAUDE, file, "notewell", ENTRY)
    assert done.backup == tmp_path / "mcp.json.notewell-backup"
    assert done.backup.read_bytes() == b'{"theirs": 1}\n'
    assert json.loads(file.read_bytes())["mcpServers"] == {"notewell": ENTRY}


def test_a_linked_file_stays_a_link(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "mcp.json"
    real.parent.mkdir()
    real.write_text("{}", encoding="utf-8")
    link = tmp_path / "mcp.json"
    link.symlink_to(real)
    assert install_entry(CURSOR, link, "notewell", ENTRY).file == real
    assert link.is_symlink()
    assert "notewell" in real.read_text(encoding="utf-8")


@pytest.mark.parametrize("content", [b"\xff\xfe{}", b"{", b"[]"])
def test_a_file_that_is_refused_is_left_alone(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "mcp.json"
    file.write_bytes(content)
    with pytest.raises(CannotMerge, match="nothing was changed"):
        install_entry(CURSOR, file, "notewell", ENTRY)
    assert file.read_bytes() == content
    assert [path.name for path in tmp_path.iterdir()] == ["mcp.json"]


def test_pipes_and_folders_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(CannotMerge, match="not a file"):
        install_entry(CURSOR, tmp_path / "pipe", "notewell", ENTRY)
    with pytest.raises((CannotMerge, FileNotWritten)):
        install_entry(CURSOR, tmp_path, "notewell", ENTRY)


def test_a_path_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    entry = {**ENTRY, "args": ["/w\udcff"]}
    with pytest.raises(CannotMerge, match="cannot be written as UTF-8"):
        install_entry(CODEX, tmp_path / "config.toml", "notewell", entry)


@pytest.mark.parametrize("name", ["", "a b", "a.b", 'a"', "x" * 65, "ä"])
def test_a_name_that_could_break_the_file_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadRequest, match="cannot be a server's name"):
        install_entry(CODEX, tmp_path / "config.toml", name, CODEX_ENTRY)
    with pytest.raises(BadRequest, match="cannot be a server's name"):
        entry_text(CODEX, name, CODEX_ENTRY)


# -- the command ---------------------------------------------------------------------------------


def command(*words: str) -> int:
    parser = argparse.ArgumentParser()
    parser.set_defaults(json=False)
    mcp.add_options(parser)
    return mcp.run(parser.parse_args(words))


@pytest.mark.parametrize("client", ["claude", "codex", "cursor", "vscode", "gemini", "qwen"])
def test_printing_changes_nothing(
    client: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["install", client, "--print", "-w", str(tmp_path), "--project", str(tmp_path)]
    assert command(*words) == 0
    out, err = capsys.readouterr()
    found = tomllib.loads(out) if client == "codex" else json.loads(out)
    entry = found[MCP_FILES[client].key]["notewell"]
    at = entry["args"].index("mcp")
    assert entry["args"][at : at + 4] == ["mcp", "serve", "--workspace", str(tmp_path)]
    assert Path(entry["command"]).is_absolute()
    assert str(tmp_path) in err
    assert list(tmp_path.iterdir()) == []


def test_installing_writes_the_entry_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["install", "cursor", "-w", str(tmp_path), "--project", str(tmp_path)]
    words += ["--agent", "work", "--state-dir", str(tmp_path / "state")]
    assert command(*words) == 0
    assert "Cursor now knows this memory" in capsys.readouterr().out
    assert command(*words) == 0
    assert "Cursor already knows this memory" in capsys.readouterr().out
    assert command(*words, "--json", "--name", "second") == 0
    assert json.loads(capsys.readouterr().out)["changed"] is True
    servers = json.loads((tmp_path / ".cursor" / "mcp.json").read_text(encoding="utf-8"))
    args = servers["mcpServers"]["second"]["args"]
    at = args.index("--agent")
    assert args[at : at + 4] == ["--agent", "work", "--state-dir", str(tmp_path / "state")]


def test_a_workspace_that_is_not_there_is_refused_before_anything_is_written(
    tmp_path: Path,
) -> None:
    with pytest.raises(WorkspaceMissing):
        command("install", "cursor", "-w", str(tmp_path / "none"), "--project", str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_the_command_that_is_installed_starts_from_anywhere(tmp_path: Path) -> None:
    import subprocess

    (tmp_path / "notewell.py").write_text("raise SystemExit(3)", encoding="utf-8")
    ended = subprocess.run(
        [*clients._program(), "--version"], cwd=tmp_path, capture_output=True, check=False
    )
    assert ended.returncode == 0
    assert Path(clients._program()[0]).parent == Path(sys.executable).parent


# -- tokens and addresses ------------------------------------------------------------------------


def test_a_token_comes_from_a_file_or_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("  from-the-file-1234\n", encoding="utf-8")
    environ = {"NOTEWELL_MCP_TOKEN": "from-the-environment"}
    assert mcp.find_token(str(file), environ) == "from-the-file-1234"
    assert mcp.find_token(None, environ) == "from-the-environment"
    assert mcp.find_token(None, {}) is None
    for wrong in ("", "two words", "x" * 5000):
        file.write_text(wrong, encoding="utf-8")
        with pytest.raises(BadSetting, match="must contain one word"):
            mcp.find_token(str(file), environ)
    with pytest.raises(BadSetting, match="cannot read"):
        mcp.find_token(str(tmp_path / "none"), environ)


def test_a_short_token_is_refused() -> None:
    with pytest.raises(BadSetting, match="shorter than 16"):
        http_app(None, "short", 1)  # type: ignore[arg-type]


def test_other_machines_are_let_in_only_by_name() -> None:
    with pytest.raises(BadSetting, match="--allow-host"):
        listen("0.0.0.0", 0)
    with pytest.raises(BadSetting, match="from 0 to 65535"):
        listen("127.0.0.1", 99999)
    assert [is_loopback(host) for host in ("localhost", "127.8.8.8", "::1")] == [True] * 3
    assert [is_loopback(host) for host in ("0.0.0.0", "::", "example.org", "10.0.0.1")] == [
        False
    ] * 4
    with listen("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(BadSetting, match="cannot listen"):
            listen("127.0.0.1", port)
