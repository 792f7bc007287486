"""What the pages say is so."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from notewell import errors
from notewell.cli.parser import build_parser
from notewell.testing import HashEmbedder

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def fenced(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def test_the_readme_is_short_and_runs_something_early() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").split("\n")
    assert len(lines) <= 120
    assert any(line.startswith("$ notewell search") for line in lines[:25])


def test_the_python_example_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = fenced("README.md", "python")
    opened = f"open_memory({str(ROOT / 'examples/workspace')!r}, state_dir={str(tmp_path)!r})"
    exec(example.replace('open_memory("examples/workspace")', opened), {})
    assert "memory/2026-10-20.md#L1-L6" in capsys.readouterr().out


def test_the_answers_shown_are_the_answers_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from notewell.cli import main

    (session,) = fenced("README.md", "console")
    workspace = str(ROOT / "examples/workspace")
    main(["index", "-w", workspace, "--state-dir", str(tmp_path)])
    _, *searches = re.split(r"^\$ notewell ", session, flags=re.MULTILINE)
    assert len(searches) == 2
    for search in searches:
        command, *shown = search.rstrip("\n").split("\n")
        words = shlex.split(command)
        words[words.index("-w") + 1] = workspace
        capsys.readouterr()
        main([*words, "--state-dir", str(tmp_path)])
        _is_the_start(shown, capsys.readouterr().out)


def test_try_runs_the_searches_that_the_readme_shows() -> None:
    (session,) = fenced("README.md", "console")
    asked = re.findall(r"^\$ .*?('.*')$", session, re.MULTILINE)
    assert f"for question in {' '.join(asked)};" in (ROOT / "try").read_text(encoding="utf-8")


def _is_the_start(shown: list[str], output: str) -> None:
    given = [line.rstrip() for line in output.split("\n")]
    assert shown[-1].strip() == "…"
    # The last digits of a score depend on the processor's int8 arithmetic.
    same = [re.sub(r"  0\.\d\d  ", "  0.xx  ", line) for line in (*given, *shown)]
    assert same[: len(shown) - 1] == same[len(given) : -1]


def test_every_command_in_a_shell_example_is_one_we_have() -> None:
    commands = [
        shlex.split(line, comments=True)
        for page in ("README.md", "CONTRIBUTING.md")
        for block in fenced(page, "sh")
        for line in block.split("\n")
        if line.startswith("notewell ")
    ]
    assert commands
    for _, *words in commands:
        if words:  # `notewell` alone shows where one stands.
            build_parser(words[0]).parse_args(words)


def test_every_command_is_documented() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for command in ("init", "index", "search", "get", "status", "completion", "model pull"):
        assert f"notewell {command}" in readme or f"`notewell {command}" in _all_pages()


def _all_pages() -> str:
    return "\n".join(page.read_text(encoding="utf-8") for page in PAGES)


def test_every_error_stands_in_the_tree_of_its_package() -> None:
    tree = errors.__doc__ or ""
    assert "NotewellError" in dir(errors)
    for name in dir(errors):
        assert issubclass(getattr(errors, name), errors.NotewellError)
        assert f" {name} " in tree or f" {name}\n" in tree


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_every_module_and_test_that_the_architecture_names_exists() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    for named in re.findall(r"`((?:tests|bench|src|core)/[\w/]+\.py)`", page):
        assert (ROOT / named).exists() or (ROOT / "src" / "notewell" / named).exists(), named
    for room in re.findall(r"^  (\w+)/ ", page, re.MULTILINE):
        assert (ROOT / "src" / "notewell" / room).is_dir()


def test_the_doubles_are_what_they_say() -> None:
    embedder = HashEmbedder()
    same, near, far = embedder.embed(["a b c", "a b d", "x y z"], "document")
    assert same @ near > same @ far
