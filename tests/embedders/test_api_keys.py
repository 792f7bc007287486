from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from notewell.core import Secret
from notewell.embedders.api_keys import KeySources, read_keyring
from notewell.errors import EmbedderMissing

KEY = "sk-canary-0123456789"


def profiles(folder: Path, content: Any) -> Path:
    path = folder / "auth-profiles.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_the_first_place_that_names_a_key_decides(tmp_path: Path) -> None:
    content = {
        "profiles": {"openai:a": {"type": "api_key", "provider": "openai", "key": "profile"}}
    }
    path = profiles(tmp_path, content)
    environment = {"OPENAI_API_KEY": "variable"}
    everything = KeySources(environment, {"openai": Secret("provider")}, (path,))
    for sources, configured, key, where in [
        (everything, Secret("config"), "config", "remote.apiKey"),
        (everything, None, "provider", "models.providers.openai.apiKey"),
        (KeySources(environment, {}, (path,)), None, "profile", "the auth profile 'openai:a'"),
        (KeySources(environment), None, "variable", "the environment (OPENAI_API_KEY)"),
    ]:
        found = sources.find("openai", configured)
        assert found is not None
        assert (found.secret.reveal(), found.where) == (key, where)
    assert KeySources().find("openai", None) is None


@pytest.mark.parametrize(
    ("provider", "name"),
    [
        ("openai", "OPENAI_API_KEY"),
        ("gemini", "GEMINI_API_KEY"),
        ("gemini", "GOOGLE_API_KEY"),
        ("voyage", "VOYAGE_API_KEY"),
        ("ollama", "OLLAMA_API_KEY"),
    ],
)
def test_the_variables_are_the_known_ones(provider: str, name: str) -> None:
    found = KeySources({name: f" {KEY}\n"}).find(provider, None)
    assert found is not None
    assert found.secret.reveal() == KEY
    assert KeySources({name: "  "}).find(provider, None) is None


def test_gemini_is_google_to_some() -> None:
    found = KeySources(providers={"google": Secret(KEY)}).find("gemini", None)
    assert found is not None
    assert found.where == "models.providers.google.apiKey"


def test_a_key_of_the_environment_goes_to_the_providers_own_address_only(tmp_path: Path) -> None:
    content = {"profiles": {"o": {"type": "api_key", "provider": "openai", "key": KEY}}}
    sources = KeySources({"OPENAI_API_KEY": "variable"}, {}, (profiles(tmp_path, content),))
    assert sources.find("openai", None, address="remote") is None
    assert sources.find("openai", Secret("meant"), address="remote") is not None
    # An entry of `models.providers` and a profile both describe the provider.
    found = sources.find("openai", None, address="entry")
    assert found is not None
    assert found.secret.reveal() == KEY
    assert KeySources({"OPENAI_API_KEY": KEY}).find("openai", None, address="entry") is None


@pytest.mark.parametrize("reference", ["env:MY_KEY", "${MY_KEY}"])
def test_a_reference_to_a_variable_is_followed(reference: str) -> None:
    found = KeySources({"MY_KEY": KEY}).find("voyage", Secret(reference))
    assert found is not None
    assert (found.secret.reveal(), found.where) == (KEY, "the environment (MY_KEY)")
    with pytest.raises(EmbedderMissing, match="MY_KEY"):
        KeySources({"VOYAGE_API_KEY": "another"}).find("voyage", Secret(reference))


def test_a_reference_to_a_file_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_text(f"{KEY}\n# a remark\n", encoding="utf-8")
    for reference in (f"file:{path}", f"file://{path}"):
        found = KeySources().find("openai", Secret(reference))
        assert found is not None
        assert (found.secret.reveal(), found.where) == (KEY, f"the file {path}")


@pytest.mark.parametrize("content", [None, b"", b"\n \n", b"\xff\xfe\x00k"])
def test_a_file_without_a_key_is_told(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "key"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(EmbedderMissing, match=r"tmp|pytest|key"):
        KeySources().find("openai", Secret(f"file:{path}"))
    with pytest.raises(EmbedderMissing):
        KeySources().find("openai", Secret(f"file:{tmp_path}"))


def test_a_reference_to_the_keyring_is_followed() -> None:
    ring = {("notewell", "me"): KEY}
    sources = KeySources(keyring=lambda service, user: ring.get((service, user)))
    found = sources.find("openai", Secret("keyring:notewell/me"))
    assert found is not None
    assert (found.secret.reveal(), found.where) == (KEY, "the keyring (notewell/me)")
    with pytest.raises(EmbedderMissing, match="notewell/you"):
        sources.find("openai", Secret("keyring:notewell/you"))


def test_a_keyring_that_is_not_installed_is_told() -> None:
    def no_keyring(service: str, user: str) -> str | None:
        raise LookupError("the package 'keyring' is not installed")

    with pytest.raises(EmbedderMissing, match="not installed"):
        KeySources(keyring=no_keyring).find("openai", Secret("keyring:a/b"))


@pytest.mark.parametrize("key", ["two\nlines", "schlüssel", "a\x00b", "x" * 20_000])
def test_a_key_that_no_header_can_carry_is_told_without_showing_it(key: str) -> None:
    with pytest.raises(EmbedderMissing) as caught:
        KeySources().find("openai", Secret(key))
    assert key not in str(caught.value)


# -- auth profiles -------------------------------------------------------------------------------


def found_in(folder: Path, content: Any, provider: str = "openai") -> str | None:
    sources = KeySources({"NAMED": "by reference"}, {}, (profiles(folder, content),))
    found = sources.find(provider, None)
    return found.secret.reveal() if found else None


def key_profile(name: str, **others: Any) -> dict[str, Any]:
    return {"type": "api_key", "provider": "openai", "key": name, **others}


TWO: dict[str, Any] = {
    "version": 1,
    "profiles": {"openai:a": key_profile("a"), "openai:b": key_profile("b")},
}


def test_the_order_of_the_file_is_exact(tmp_path: Path) -> None:
    assert found_in(tmp_path, TWO) == "a"
    assert found_in(tmp_path, {**TWO, "order": {"OpenAI": ["gone", "openai:b"]}}) == "b"
    assert found_in(tmp_path, {**TWO, "order": {"openai": ["gone"]}}) is None


def test_only_the_first_profile_must_be_readable(tmp_path: Path) -> None:
    elsewhere = {"type": "api_key", "provider": "openai", "keyRef": {"source": "exec", "id": "x"}}
    content = {"profiles": {"openai:a": key_profile("a"), "openai:v": elsewhere}}
    assert found_in(tmp_path, content) == "a"
    with pytest.raises(EmbedderMissing, match="secret store"):
        found_in(tmp_path, {**content, "order": {"openai": ["openai:v", "openai:a"]}})


def test_without_an_order_it_is_openclaws(tmp_path: Path) -> None:
    used = {"usageStats": {"openai:a": {"lastUsed": 2000}, "openai:b": {"lastUsed": 1000}}}
    assert found_in(tmp_path, {**TWO, **used}) == "b"
    token = {"type": "token", "provider": "openai", "token": "t"}
    with_token = {"profiles": {**TWO["profiles"], "openai:t": token}}
    assert found_in(tmp_path, with_token) == "t"
    expired = {"profiles": {**TWO["profiles"], "openai:t": {**token, "expires": 1000}}}
    assert found_in(tmp_path, expired) == "a"


@pytest.mark.parametrize("order", [{}, {"order": {"openai": ["openai:a", "openai:b"]}}])
def test_a_profile_in_a_cool_down_comes_last(tmp_path: Path, order: dict[str, Any]) -> None:
    resting = {"usageStats": {"openai:a": {"cooldownUntil": 4_000_000_000_000}}}
    assert found_in(tmp_path, {**TWO, **order, **resting}) == "b"
    ended = {"usageStats": {"openai:a": {"cooldownUntil": 1000}}}
    assert found_in(tmp_path, {**TWO, **order, **ended}) == "a"


def test_an_agent_also_has_the_profiles_of_the_main_agent(tmp_path: Path) -> None:
    files = []
    for name, key in (("own", "own key"), ("main", "main key")):
        (tmp_path / name).mkdir()
        files.append(profiles(tmp_path / name, {"profiles": {"openai:x": key_profile(key)}}))
    for paths, key in ((files, "own key"), (files[1:], "main key")):
        found = KeySources(auth_profiles=tuple(paths)).find("openai", None)
        assert found is not None
        assert found.secret.reveal() == key


def test_a_secret_store_that_is_not_read_is_named(tmp_path: Path) -> None:
    profile = {"type": "api_key", "provider": "openai", "keyRef": {"source": "exec", "id": "x"}}
    with pytest.raises(EmbedderMissing, match=r"exec.*models\.providers\.openai\.apiKey"):
        found_in(tmp_path, {"profiles": {"openai:a": profile}})


@pytest.mark.skipif(os.name == "nt", reason="no permission bits")
def test_a_file_that_others_can_read_is_named(tmp_path: Path) -> None:
    path = profiles(tmp_path, TWO)
    for mode, exposed in ((0o600, None), (0o640, path), (0o644, path)):
        path.chmod(mode)
        found = KeySources(auth_profiles=(path,)).find("openai", None)
        assert found is not None
        assert found.exposed_file == exposed


@pytest.mark.parametrize(
    ("profile", "key"),
    [
        ({"type": "token", "provider": "openai", "token": "t"}, "t"),
        ({"type": "oauth", "provider": "openai", "access": "t"}, None),
        ({"type": "api_key", "provider": "voyage", "key": "v"}, None),
        ({"type": "api_key", "provider": "openai", "key": "${NAMED}"}, "by reference"),
        (
            {
                "type": "api_key",
                "provider": "openai",
                "keyRef": {"source": "env", "id": "NAMED"},
            },
            "by reference",
        ),
        ({"type": "api_key", "provider": "openai", "key": 7}, None),
        ("not an object", None),
    ],
)
def test_only_keys_and_tokens_of_the_provider_count(
    tmp_path: Path, profile: Any, key: str | None
) -> None:
    assert found_in(tmp_path, {"profiles": {"one": profile}}) == key
    assert found_in(tmp_path, {"one": profile}) == key


def test_an_absent_file_holds_nothing_and_a_broken_one_is_told(tmp_path: Path) -> None:
    assert KeySources(auth_profiles=(tmp_path / "none.json",)).find("openai", None) is None
    for content in (f'{{"profiles": "{KEY}', f'["{KEY}"]'):
        path = tmp_path / "broken.json"
        path.write_text(content, encoding="utf-8")
        with pytest.raises(EmbedderMissing) as caught:
            KeySources(auth_profiles=(path,)).find("openai", None)
        assert KEY not in str(caught.value)


def test_the_keyring_package_is_asked_when_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    class Locked(Exception):
        pass

    def get_password(service: str, user: str) -> str | None:
        if service == "locked":
            raise Locked
        return KEY if (service, user) == ("notewell", "me") else None

    package = SimpleNamespace(
        get_password=get_password, errors=SimpleNamespace(KeyringError=Locked)
    )
    monkeypatch.setitem(sys.modules, "keyring", package)
    assert read_keyring("notewell", "me") == KEY
    assert read_keyring("notewell", "you") is None
    with pytest.raises(LookupError, match="Locked"):
        read_keyring("locked", "me")
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(LookupError, match="not installed"):
        read_keyring("notewell", "me")
