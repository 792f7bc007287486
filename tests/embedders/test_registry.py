"""One list of providers: everything else derives from it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from notewell.embedders import PROVIDER_NAMES, PROVIDERS, REMOTE_PROVIDERS
from notewell.embedders.registry import (
    AmbientKey,
    ambient_keys,
    auto_order,
    key_variables,
    names_of,
)


def test_every_wire_format_loads_and_has_the_name_of_its_entry() -> None:
    assert list(REMOTE_PROVIDERS) == [entry.name for entry in PROVIDERS if entry.wire_format]
    assert len(REMOTE_PROVIDERS) == 5
    for name, provider in REMOTE_PROVIDERS.items():
        assert provider.name == name


def test_names_and_ranks_are_unique() -> None:
    assert len(set(PROVIDER_NAMES)) == len(PROVIDER_NAMES)
    ranks = [entry.auto_rank for entry in PROVIDERS if entry.auto_rank is not None]
    assert len(set(ranks)) == len(ranks)


def test_a_provider_that_needs_a_key_names_a_variable_for_it() -> None:
    for name, provider in REMOTE_PROVIDERS.items():
        assert not provider.needs_key or key_variables(name)


def test_auto_ends_with_the_provider_that_needs_nothing() -> None:
    assert auto_order() == ("local", "openai", "gemini", "voyage", "embedded")
    environment = {"VOYAGE_API_KEY": "v", "GOOGLE_API_KEY": "g", "GEMINI_API_KEY": " ", "X": "x"}
    assert ambient_keys(environment) == (
        AmbientKey("gemini", "GOOGLE_API_KEY"),
        AmbientKey("voyage", "VOYAGE_API_KEY"),
    )


def test_an_unknown_name_has_no_variables_and_no_aliases() -> None:
    assert names_of("gemini") == ("gemini", "google")
    assert (names_of("mine"), key_variables("mine")) == (("mine",), ())
    with pytest.raises(KeyError):
        next(entry for entry in PROVIDERS if entry.name == "embedded").load()


def test_the_list_and_the_choice_of_the_embedded_model_import_no_provider() -> None:
    code = (
        "import sys; from pathlib import Path; "
        "from notewell.embedders import PROVIDER_NAMES, REMOTE_PROVIDERS, choose_embedder; "
        "choose_embedder(None, Path('nowhere'), {}); assert 'openai' in REMOTE_PROVIDERS; "
        "print([name for name in sys.modules if '.embedders.providers' in name])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.strip() == b"[]"
