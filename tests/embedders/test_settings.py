from __future__ import annotations

import copy
import pickle
from dataclasses import asdict

import pytest

from notewell.core import Secret
from notewell.embedders.settings import EmbedderSettings, RemoteSettings
from notewell.errors import BadSetting

KEY = "sk-canary-0123456789"


def test_a_secret_is_shown_by_nothing_but_its_name() -> None:
    secret = Secret(KEY)
    settings = EmbedderSettings(
        remote=RemoteSettings(api_key=secret, headers={"X-Key": Secret(KEY)})
    )
    shown = [
        str(secret),
        repr(secret),
        f"{secret}",
        f"{secret:>40}",
        f"{secret!r}",
        "%s %r" % (secret, secret),  # noqa: UP031 - this way of writing is what is tested
        repr(settings),
        str(asdict(settings)),
        repr([secret]),
    ]
    assert all(KEY not in text for text in shown)
    assert secret.reveal() == KEY


def test_a_secret_is_not_pickled_and_a_copy_is_itself() -> None:
    secret = Secret(KEY)
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(secret)
    assert copy.deepcopy(secret) is copy.copy(secret) is secret
    assert secret == Secret(KEY) != Secret("other")
    assert not hasattr(secret, "__dict__")


@pytest.mark.parametrize(
    "url",
    [
        "api.example.com/v1",
        "ftp://example.com",
        "https://",
        f"https://user:{KEY}@example.com/v1",
        f"https://example.com/v1?key={KEY}",
        f"https://example.com/v1#{KEY}",
        "https://example.com:99999/v1",
    ],
)
def test_an_address_that_cannot_be_used_or_holds_a_secret_is_refused_unseen(url: str) -> None:
    with pytest.raises(BadSetting) as caught:
        RemoteSettings(base_url=url)
    assert KEY not in str(caught.value)


def test_numbers_out_of_range_are_refused() -> None:
    with pytest.raises(BadSetting):
        RemoteSettings(concurrency=0)
    with pytest.raises(BadSetting):
        EmbedderSettings(query_timeout_s=0)
    with pytest.raises(BadSetting):
        EmbedderSettings(dims=0)
