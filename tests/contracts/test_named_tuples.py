"""`notewell.records.NamedTuple` makes the same classes as `typing`: one suite for both."""

from __future__ import annotations

import copy
import inspect
import pickle
import typing
from typing import Any

import pytest

from notewell.named_tuples import NamedTuple, from_rows
from notewell.types import Span


@pytest.fixture(params=[typing.NamedTuple, NamedTuple], ids=["standard", "ours"])
def base(request: pytest.FixtureRequest) -> Any:
    return request.param


def make_place(base: Any) -> Any:
    class Place(base):  # type: ignore[misc]
        """Has a field of every kind."""

        path: str
        line: int = 1
        marks: tuple[str, ...] = ()

        @property
        def shown(self) -> str:
            return f"{self.path}:{self.line}"

        @classmethod
        def first(cls, path: str) -> Any:
            return cls(path)

        def __str__(self) -> str:
            return self.shown

    return Place


def test_fields_are_set_by_position_by_name_and_by_default(base: Any) -> None:
    place_class = make_place(base)
    assert place_class("a", marks=("x",)) == ("a", 1, ("x",))
    place = place_class.first("a")
    assert (place.path, place.line, place.marks, place.shown, str(place)) == (
        *("a", 1, ()),
        *("a:1", "a:1"),
    )
    assert place_class._fields == place_class.__match_args__ == ("path", "line", "marks")
    assert place_class._field_defaults == {"line": 1, "marks": ()}
    assert place_class.__doc__ == "Has a field of every kind."


def test_wrong_arguments_are_refused_with_the_names_of_the_fields(base: Any) -> None:
    place_class = make_place(base)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'path'"):
        place_class()
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        place_class("a", nonsense=1)
    with pytest.raises(TypeError, match="takes from 2 to 4 positional arguments but 5 were given"):
        place_class("a", 1, (), 4)
    with pytest.raises(TypeError, match="Expected 3 arguments, got 1"):
        place_class._make(["a"])
    with pytest.raises((TypeError, ValueError), match="nonsense"):
        place_class("a")._replace(nonsense=1)


def test_a_value_is_a_tuple_that_cannot_change(base: Any) -> None:
    place = make_place(base)("a", 2)
    path, line, marks = place
    assert (path, line, marks) == place == ("a", 2, ())
    assert hash(place) == hash(("a", 2, ()))
    with pytest.raises(AttributeError):
        place.line = 3
    with pytest.raises(AttributeError):
        place.nonsense = 3


def test_copies_have_some_fields_changed(base: Any) -> None:
    place_class = make_place(base)
    place = place_class("a", 2)
    assert place._replace(line=3) == place_class("a", 3)
    assert place._asdict() == {"path": "a", "line": 2, "marks": ()}
    assert type(place_class._make(["a", 2, ()])) is place_class
    assert copy.deepcopy(place) == place


def test_repr_and_signature_show_the_fields(base: Any) -> None:
    place_class = make_place(base)
    assert repr(place_class("a")) == "Place(path='a', line=1, marks=())"
    assert list(inspect.signature(place_class).parameters) == ["path", "line", "marks"]
    assert typing.get_type_hints(place_class)["marks"] == tuple[str, ...]


def test_many_fields_and_none_are_possible(base: Any) -> None:
    class Wide(base):  # type: ignore[misc]
        a: int
        b: int
        c: int
        d: int
        e: int
        f: int
        g: int
        h: int
        i: int
        j: int
        k: int
        m: int = 11

    assert Wide(*range(11)).k == 10
    assert Wide(*range(11)).m == 11
    assert repr(Wide(*range(12))).endswith("k=10, m=11)")

    class Empty(base):  # type: ignore[misc]
        pass

    assert Empty() == ()


def test_a_field_without_a_default_cannot_follow_one_with_a_default(base: Any) -> None:
    with pytest.raises(TypeError, match="default"):

        class Wrong(base):  # type: ignore[misc]
            line: int = 1
            path: str


def test_a_value_of_the_product_is_pickled_and_matched() -> None:
    span = Span(3, 9)
    assert pickle.loads(pickle.dumps(span)) == span
    match span:
        case Span(start, end):
            assert (start, end) == (3, 9)


def test_rows_become_instances(base: Any) -> None:
    place = make_place(base)
    first, second = from_rows(place, [("a.md", 3, ()), ("b.md", 4, ("new",))])
    assert (type(first), first) == (place, place("a.md", 3))
    assert second.shown == "b.md:4"
