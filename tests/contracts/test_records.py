"""`notewell.records` makes the same classes as `dataclasses`: one suite for both."""

from __future__ import annotations

import ast
import copy
import dataclasses
import inspect
import pickle
from dataclasses import FrozenInstanceError
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

import notewell
from notewell import records
from notewell.config import Settings
from notewell.search import SearchOptions, SearchSettings

NAMES = ("asdict", "dataclass", "field", "replace")
STANDARD = SimpleNamespace(**{name: getattr(dataclasses, name) for name in NAMES})
OURS = SimpleNamespace(**{name: getattr(records, name) for name in NAMES})


@pytest.fixture(params=[STANDARD, OURS], ids=["standard", "ours"])
def library(request: pytest.FixtureRequest) -> Any:
    return request.param


def make_limits(library: Any) -> Any:
    @library.dataclass(frozen=True, slots=True)
    class Limits:
        """Has a field of every kind."""

        unit: ClassVar[str] = "token"
        name: str
        most: int = 6
        seen: list[str] = library.field(default_factory=list)
        secret: str = library.field(default="", repr=False)
        cache: str = library.field(default="", compare=False)

        def __post_init__(self) -> None:
            if self.most < 1:
                raise ValueError("most must be 1 or more")

        @property
        def shown(self) -> str:
            return f"{self.most} {self.unit}"

    return Limits


def test_fields_are_set_by_position_by_name_and_by_default(library: Any) -> None:
    limits_class = make_limits(library)
    limits = limits_class("a", seen=["x"])
    assert (limits.name, limits.most, limits.seen, limits.secret) == ("a", 6, ["x"], "")
    assert limits.shown == "6 token"
    assert limits_class("a").seen is not limits_class("a").seen
    assert not hasattr(limits, "__dict__")


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ((), {}),
        (("a",), {"name": "b"}),
        (("a",), {"nonsense": 1}),
        (("a", 1, [], "", "", "too many"), {}),
    ],
)
def test_wrong_arguments_are_refused(
    library: Any, values: tuple[Any, ...], named: dict[str, Any]
) -> None:
    with pytest.raises(TypeError):
        make_limits(library)(*values, **named)


def test_wrong_arguments_are_named() -> None:
    limits_class = make_limits(OURS)
    with pytest.raises(TypeError, match=r"^Limits\(\) needs name$"):
        limits_class()
    with pytest.raises(TypeError, match=r"^Limits\(\) has no field nonsense$"):
        limits_class("a", nonsense=1)
    with pytest.raises(TypeError, match=r"^Limits\(\) has two values for name$"):
        limits_class("a", name="b")
    with pytest.raises(TypeError, match=r"^Limits\(\) takes 5 values by position, not 6$"):
        limits_class("a", 1, [], "", "", "too many")


def test_a_frozen_value_cannot_change(library: Any) -> None:
    limits = make_limits(library)("a")
    with pytest.raises(FrozenInstanceError):
        limits.most = 7
    with pytest.raises(FrozenInstanceError):
        del limits.most
    # The standard library fails with a TypeError here.
    with pytest.raises((FrozenInstanceError, TypeError)):
        limits.nonsense = 7
    assert limits.most == 6


def test_values_compare_by_the_fields_that_count(library: Any) -> None:
    limits_class = make_limits(library)
    assert limits_class("a") == limits_class("a", cache="other")
    assert limits_class("a") != limits_class("b")
    assert limits_class("a") != make_limits(library)("a")

    @library.dataclass(frozen=True, slots=True)
    class Key:
        agent: str
        line: int = 1

    key: Any = Key
    assert hash(key("a")) == hash(key("a", 1))
    assert len({key("a"), key("a", 1), key("b")}) == 2


def test_repr_shows_the_fields_and_hides_what_is_marked(library: Any) -> None:
    shown = repr(make_limits(library)("a", secret="s3cret"))
    assert shown.endswith("Limits(name='a', most=6, seen=[], cache='')")


def test_a_value_becomes_plain_dicts(library: Any) -> None:
    limits_class = make_limits(library)
    inner = limits_class("inner", seen=["x"])
    outer = library.asdict(limits_class("outer", seen=[inner, ("y", {"key": inner})]))
    plain = {"name": "inner", "most": 6, "seen": ["x"], "secret": "", "cache": ""}
    assert outer["seen"] == [plain, ("y", {"key": plain})]


def test_a_replaced_value_is_checked_again(library: Any) -> None:
    limits = make_limits(library)("a", cache="c")
    changed = library.replace(limits, most=9)
    assert (changed.name, changed.most, changed.cache) == ("a", 9, "c")
    with pytest.raises(ValueError, match="1 or more"):
        library.replace(limits, most=0)
    with pytest.raises(TypeError):
        library.replace(limits, nonsense=0)


def test_a_subclass_adds_fields_that_are_passed_by_name(library: Any) -> None:
    @library.dataclass(frozen=True, slots=True, kw_only=True)
    class Narrow(make_limits(library)):  # type: ignore[misc]
        day: str

    narrow = Narrow("a", 3, day="today")
    assert repr(narrow).endswith("(name='a', most=3, seen=[], cache='', day='today')")
    assert Narrow.__match_args__ == ("name", "most", "seen", "secret", "cache")
    with pytest.raises(TypeError):
        Narrow("a", 3, [], "", "", "today")
    with pytest.raises(ValueError, match="1 or more"):
        Narrow("a", 0, day="today")


def test_a_mutable_value_changes_and_is_no_key(library: Any) -> None:
    @library.dataclass(slots=True)
    class Tally:
        hits: int = 0

    tally: Any = Tally()
    tally.hits += 1
    assert tally == library.replace(tally, hits=1)
    with pytest.raises(TypeError):
        hash(tally)
    with pytest.raises(AttributeError):
        tally.nonsense = 1


@pytest.mark.parametrize("in_field", [False, True])
def test_a_default_that_all_instances_would_share_is_refused(library: Any, in_field: bool) -> None:
    with pytest.raises(ValueError, match="default_factory"):

        @library.dataclass(slots=True)
        class Shared:
            seen: list[str] = library.field(default=[]) if in_field else []


def test_without_eq_values_compare_by_identity(library: Any) -> None:
    @library.dataclass(frozen=True, slots=True, eq=False)
    class Matrix:
        rows: int

    matrix_class: Any = Matrix
    matrix = matrix_class(1)
    assert matrix != matrix_class(1)
    assert {matrix: "found"}[matrix] == "found"


def test_a_method_of_the_class_wins(library: Any) -> None:
    @library.dataclass(frozen=True, slots=True)
    class Masked:
        text: str

        def __repr__(self) -> str:
            return "Masked()"

    masked_class: Any = Masked
    assert repr(masked_class("secret")) == "Masked()"


def test_the_functions_of_the_standard_library_work_on_our_classes() -> None:
    standard, ours = make_limits(STANDARD), make_limits(OURS)
    assert [one.name for one in dataclasses.fields(ours)] == [
        one.name for one in dataclasses.fields(standard)
    ]
    assert dataclasses.asdict(ours("a")) == dataclasses.asdict(standard("a"))
    assert dataclasses.replace(ours("a"), most=3) == ours("a", 3)
    assert str(inspect.signature(ours)) == str(inspect.signature(standard))

    @dataclasses.dataclass(frozen=True, slots=True)
    class Own(SearchSettings):
        note: str = ""

    assert Own(4, note="a").max_results == 4


def test_settings_are_copied_pickled_and_matched() -> None:
    settings = Settings(search=SearchSettings(max_results=9))
    assert copy.deepcopy(settings) == settings
    assert pickle.loads(pickle.dumps(settings)) == settings
    match settings.search:
        case SearchSettings(count):
            assert count == 9
    assert issubclass(SearchOptions, SearchSettings)


def test_slots_are_required() -> None:
    with pytest.raises(TypeError, match="slots=True"):
        records.dataclass(frozen=True)


def test_every_dataclass_of_the_package_is_made_without_generated_code() -> None:
    root = Path(notewell.__file__).parent
    # An exception needs a `__dict__`, so it cannot have slots.
    exceptions = {root / "records.py", root / "http_service" / "problems.py"}
    importing = [
        path
        for path in root.rglob("*.py")
        if path not in exceptions
        and any(
            isinstance(node, ast.ImportFrom) and node.module == "dataclasses"
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        )
    ]
    assert importing == []


# -- values that are computed when they are read -------------------------------------------------


@records.dataclass(frozen=True, slots=True)
class Quoted:
    deferred_fields: ClassVar = ("text",)

    text: str
    line: int = 1


def test_a_deferred_value_is_computed_once_by_the_first_who_reads_it() -> None:
    read: list[int] = []

    def make() -> str:
        read.append(1)
        return "words"

    quoted = Quoted(records.deferred(make))
    moved = records.replace(quoted, line=2)
    assert not read
    assert (moved.text, quoted.text) == ("words", "words")
    assert len(read) == 1


def test_an_instance_with_a_deferred_value_is_like_any_other() -> None:
    quoted = Quoted(records.deferred(lambda: "words"))
    assert quoted == Quoted("words")
    assert repr(quoted) == "Quoted(text='words', line=1)"
    assert pickle.loads(pickle.dumps(Quoted(records.deferred(str)))).text == ""
    assert records.asdict(quoted) == {"text": "words", "line": 1}
    with pytest.raises(FrozenInstanceError):
        quoted.text = "others"  # type: ignore[misc]
