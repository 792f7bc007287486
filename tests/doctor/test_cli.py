"""`notewell doctor` and `notewell verify`, as they are typed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from notewell.cli import main

if TYPE_CHECKING:
    from tests.doctor.conftest import Ward


@pytest.fixture(autouse=True)
def no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's own settings are nobody's business here."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


class Typed:
    def __init__(self, ward: Ward, capsys: pytest.CaptureFixture[str]) -> None:
        self.place = ["-w", str(ward.workspace), "--state-dir", str(ward.state)]
        self.capsys = capsys
        self.out = ""

    def __call__(self, command: str, *options: str) -> int:
        code = main([command, *self.place, *options])
        self.out = self.capsys.readouterr().out
        return code

    def json(self, command: str, *options: str) -> dict[str, Any]:
        self(command, "--json", *options)
        told: dict[str, Any] = json.loads(self.out)
        return told


@pytest.fixture
def typed(
    ward: Ward,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Typed:
    settings = {"agents": {"defaults": {"memorySearch": {"provider": "none"}}}}
    own = tmp_path / "own.json"
    own.write_text(json.dumps(settings), encoding="utf-8")
    monkeypatch.setenv("NOTEWELL_CONFIG", str(own))
    return Typed(ward, capsys)


def test_doctor_finds_fixes_and_is_content(typed: Typed) -> None:
    assert typed("doctor") == 5
    assert "there is none yet" in typed.out
    assert "→ run `notewell index`; `notewell doctor --fix` does it" in typed.out
    assert typed("doctor", "--fix") == 0
    assert "fix        index: built a new one: 2 notes written" in typed.out
    assert typed.out.endswith("all is well\n")
    assert typed("doctor", "--fix") == 0
    assert "fix        nothing to repair" in typed.out


def test_doctor_tells_programs_the_same(typed: Typed) -> None:
    told = typed.json("doctor")
    assert not told["ok"]
    assert "done" not in told
    (missing,) = [one for one in told["findings"] if one["todo"]]
    assert (missing["what"], missing["fixable"]) == ("index", True)
    told = typed.json("doctor", "--fix")
    assert told["ok"]
    assert [one["failed"] for one in told["done"]] == [False]


@pytest.mark.parametrize("broken", ["settings", "workspace", "state", "agent"])
def test_doctor_finishes_whatever_is_broken(typed: Typed, ward: Ward, broken: str) -> None:
    if broken == "settings":
        (ward.workspace / "notewell.json").write_text("{", encoding="utf-8")
    elif broken == "workspace":
        typed.place[1] = str(ward.workspace / "nowhere")
    elif broken == "state":
        ward.state.write_text("this is no folder\n", encoding="utf-8")
    else:
        typed.place += ["--agent", "no/id"]
    for options in ((), ("--fix",)):
        assert typed("doctor", *options) == 5
        assert "sqlite" in typed.out
        assert "to do" in typed.out
    assert typed.json("doctor")["ok"] is False


def test_verify_proves_and_names_what_differs(typed: Typed, ward: Ward) -> None:
    typed("index")
    assert typed("verify") == 0
    assert typed.out.endswith("index and notes agree\n")
    note = ward.workspace / "memory" / "2026-10-02.md"
    note.write_text("- frost tonight\n- and snow\n", encoding="utf-8")
    assert typed("verify") == 5
    assert typed.out.startswith("memory/2026-10-02.md:1: changed since it was indexed")
    assert typed.out.endswith("1 disagreement\n")
    told = typed.json("verify")
    assert (told["ok"], told["notes"]) == (False, 2)
    assert told["disagreements"][0]["where"] == "memory/2026-10-02.md:1"


def test_a_search_does_not_load_the_doctor() -> None:
    script = (
        "import sys, notewell.cli.search, notewell.memory; print('notewell.doctor' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, encoding="utf-8", check=True
    )
    assert done.stdout == "False\n"


def test_importing_the_doctor_is_cheap() -> None:
    script = (
        "import sys, notewell.doctor; "
        "print({'numpy', 'onnxruntime', 'markdown_it'} & sys.modules.keys())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, encoding="utf-8", check=True
    )
    assert done.stdout == "set()\n"


def test_the_example_of_the_page_runs(
    ward: Ward, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = Path(__file__).parents[2] / "docs" / "how-to" / "doctor.md"
    example = page.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    monkeypatch.chdir(ward.workspace.parent)
    monkeypatch.setenv("NOTEWELL_STATE_DIR", str(ward.state))
    exec(example, {})
    assert capsys.readouterr().out.endswith("True []\n")


def test_every_word_that_a_finding_begins_with_is_on_the_page() -> None:
    root = Path(__file__).parents[2]
    page = (root / "docs" / "how-to" / "doctor.md").read_text(encoding="utf-8")
    sources = (root / "src" / "notewell" / "doctor").glob("*.py")
    words = {
        word
        for source in sources
        for word in re.findall(
            r'(?:Finding(?:\.public)?|_each)\("(\w+)"', source.read_text(encoding="utf-8")
        )
    }
    assert len(words) > 12
    assert {word for word in words if f"| `{word}` |" not in page} == set()


def test_secrets_in_notes_are_located_and_never_shown(typed: Typed, ward: Ward) -> None:
    note = ward.workspace / "memory" / "2026-10-03.md"
    note.parent.mkdir(exist_ok=True)
    text = "# Router\n\nThe password of the router is Sommer2024!\n"
    note.write_text(text, encoding="utf-8")
    assert typed("doctor", "--secrets") == 5
    assert "memory/2026-10-03.md#L3  password" in typed.out
    assert "Sommer" not in typed.out
    report = typed.json("doctor", "--secrets")
    assert {"path": "memory/2026-10-03.md", "line": 3, "kind": "password"} in report["secrets"]
    assert note.read_text(encoding="utf-8") == text
    note.write_text("# Router\n", encoding="utf-8")
    assert typed("doctor", "--secrets") == 0
