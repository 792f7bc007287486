"""The workflows name what exists, and a release has all its parts."""

from __future__ import annotations

import ast
import re
import shlex
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import yaml
from scripts.release_ready import problems

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_a_workflow_reads_only_unless_it_says_why(file: Path) -> None:
    workflow = yaml.safe_load(file.read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        assert job["timeout-minutes"] <= 60
        assert job.get("permissions") in (None, {"id-token": "write"}), name


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_actions_are_pinned_by_a_commit(file: Path) -> None:
    used = re.findall(r"uses: (\S+)@(\S+)(.*)", file.read_text(encoding="utf-8"))
    assert used
    for action, version, comment in used:
        is_pinned = re.fullmatch(r"[0-9a-f]{40}", version) and re.search(r"# v\d+\.\d", comment)
        assert is_pinned or (action, version) == ("pypa/gh-action-pypi-publish", "release/v1")


def test_paths_in_the_workflows_exist() -> None:
    text = "\n".join(file.read_text(encoding="utf-8") for file in WORKFLOWS)
    paths = re.findall(r"\b(?:tests|scripts|requirements|examples)/[\w./]+", text)
    assert len(paths) > 10
    for path in [*paths, ".ci/run"]:
        assert (ROOT / path).exists(), path


def test_the_matrix_has_every_python_from_the_oldest() -> None:
    check = yaml.safe_load((ROOT / ".github/workflows/check.yml").read_text(encoding="utf-8"))
    matrix = check["jobs"]["systems"]["strategy"]["matrix"]
    oldest = re.search(r'requires-python = ">=(.+)"', (ROOT / "pyproject.toml").read_text("utf-8"))
    assert oldest
    assert matrix["python"] == [oldest[1], "3.12", "3.13", "3.14"]
    assert [name.split("-")[0] for name in matrix["os"]] == ["ubuntu", "macos", "windows"]


def test_the_tests_of_all_systems_find_what_they_import() -> None:
    """They run without the packages of requirements/dev.lock."""
    check = yaml.safe_load((ROOT / ".github/workflows/check.yml").read_text(encoding="utf-8"))
    commands = [step.get("run", "") for step in check["jobs"]["systems"]["steps"]]
    locked = (ROOT / "requirements" / "run.lock").read_text(encoding="utf-8")
    installed = {word.lower() for word in re.findall(r"^[\w.-]+(?===)", locked, re.MULTILINE)}
    for command in commands:
        if command.startswith("python -m pip install"):
            words = shlex.split(command)[4:]
            installed |= {re.split(r"[\[>=]", word)[0] for word in words}
    (tests,) = [shlex.split(one) for one in commands if "pytest -n" in one]
    files = {
        file
        for word in tests
        if word.startswith("tests/")
        for file in ([ROOT / word] if word.endswith(".py") else (ROOT / word).rglob("*.py"))
    }
    providers = packages_distributions()
    missing = {
        (file.name, name)
        for file in _with_imported(files | {ROOT / "tests" / "conftest.py"})
        for name in {one.partition(".")[0] for one in _imports(file)}
        if name not in {*sys.stdlib_module_names, "notewell", "tests", "scripts"}
        and not {one.lower() for one in providers.get(name, ())} & installed
    }
    assert missing == set()


def _with_imported(files: set[Path]) -> set[Path]:
    """These files, and those of the tests that they import."""
    known: set[Path] = set()
    while new := files - known:
        known |= new
        names = {name for file in new for name in _imports(file) if name.startswith("tests.")}
        paths = {ROOT / f"{name.replace('.', '/')}.py" for name in names}
        files = known | {path for path in paths if path.is_file()}
    return known


def _imports(file: Path) -> set[str]:
    """What a module imports when it is imported itself."""
    found = set[str]()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}", *(f"{node.module}.{one.name}" for one in node.names)}
    return found


def test_a_release_needs_its_version_its_changes_and_its_state(tmp_path: Path) -> None:
    (tmp_path / "src" / "notewell").mkdir(parents=True)
    (tmp_path / "tests" / "released").mkdir(parents=True)
    init = tmp_path / "src" / "notewell" / "__init__.py"
    init.write_text('__version__ = "1.2.0"\n', encoding="utf-8")
    changelog = tmp_path / "CHANGELOG.md"
    changelog.write_text("# Changelog\n\n## Unreleased\n", encoding="utf-8")
    assert len(problems("v1.1.0", tmp_path)) == 3
    changelog.write_text("# Changelog\n\n## 1.2.0 - 2026-12-01\n", encoding="utf-8")
    (tmp_path / "tests" / "released" / "1.2.0.tar.gz").write_bytes(b"")
    assert problems("v1.2.0", tmp_path) == []
