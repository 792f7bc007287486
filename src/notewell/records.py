"""`dataclass` and `NamedTuple` without generated code: the same, for a tenth of the start-up time.

The standard library compiles up to eight methods for each dataclass and imports `inspect` to do
so; that was half of the start-up time of `notewell search`. Here the methods exist once, and read
the fields of their class from a table.

    from notewell.records import dataclass, field, replace

    @dataclass(frozen=True, slots=True)
    class Pause:
        seconds: float = 1.0

Type checkers see the names of the standard library. `dataclasses.fields`, `asdict`, `replace` and
`inspect.signature` work too: what they read is made when they ask for it.

Two differences: `slots=True` is required, and an instance takes about twice as long to create.
Values that are created by the thousand are named tuples. `NamedTuple` is for modules that a search
loads: the one of `typing` compiles the type of each field, and a constructor.
"""

from __future__ import annotations

from collections import deque
from itertools import repeat
from operator import call
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from dataclasses import asdict, dataclass, field, replace
    from typing import NamedTuple
else:
    from notewell.named_tuples import NamedTuple
from notewell.named_tuples import from_rows

__all__ = [
    "NamedTuple",
    "asdict",
    "dataclass",
    "deferred",
    "field",
    "field_names",
    "field_values",
    "from_rows",
    "replace",
]

_Class = TypeVar("_Class", bound=type)
_Value = TypeVar("_Value")
_Made = TypeVar("_Made")

_NO_VALUE: Any = object()
"""No default. None cannot say so, because None is a frequent default."""


class _Field(NamedTuple):
    """A field as the class declares it."""

    default: Any = _NO_VALUE
    default_factory: Any = _NO_VALUE
    repr: bool = True
    compare: bool = True
    kw_only: bool = False


class _Table(NamedTuple):
    """The fields of a class, in the forms that its methods need."""

    fields: dict[str, _Field]
    positional: tuple[str, ...]
    """The fields that may be passed by position."""
    defaults: dict[str, Any]
    factories: tuple[tuple[str, Callable[[], Any]], ...]
    compared: tuple[str, ...]
    setters: dict[str, Callable[[Any, Any], None]]
    """Of the slots: they set a field of a frozen instance too."""
    getters: dict[str, Callable[[Any], Any]]
    """Of the slots: a value that is not computed yet stays so."""
    has_post_init: bool
    frozen: bool


def _dataclass(
    *, frozen: bool = False, slots: bool = False, kw_only: bool = False, eq: bool = True
) -> Callable[[_Class], _Class]:
    if not slots:
        raise TypeError("a dataclass of notewell.records needs slots=True")

    def decorate(cls: _Class) -> _Class:
        own = _own_fields(cls, kw_only=kw_only)
        inherited = _inherited_fields(cls)
        fields = {**inherited, **own}
        positional = tuple(name for name, one in fields.items() if not one.kw_only)
        methods = {**_methods(frozen=frozen, eq=eq), "__match_args__": positional}
        # A second slot for a field of a base class would only take memory.
        slots = tuple(name for name in own if name not in inherited)
        made = _with_slots(cls, own, {**methods, "__slots__": slots})
        descriptors = {name: getattr(made, name) for name in fields}
        for name in made.__dict__.get("deferred_fields", ()):
            setattr(made, name, _DeferredSlot(descriptors[name]))
        made.__field_table__ = _Table(
            fields,
            positional,
            {name: one.default for name, one in fields.items() if one.default is not _NO_VALUE},
            tuple(
                (name, one.default_factory)
                for name, one in fields.items()
                if one.default_factory is not _NO_VALUE
            ),
            tuple(name for name, one in fields.items() if one.compare),
            {name: slot.__set__ for name, slot in descriptors.items()},
            {name: slot.__get__ for name, slot in descriptors.items()},
            hasattr(made, "__post_init__"),
            frozen,
        )
        decorated: _Class = made
        return decorated

    return decorate


def _own_fields(cls: type, *, kw_only: bool) -> dict[str, _Field]:
    fields: dict[str, _Field] = {}
    for name, annotation in cls.__annotations__.items():
        # A string, unless the module lacks `from __future__ import annotations`.
        if not str(annotation).startswith(("ClassVar", "typing.ClassVar")):
            value = cls.__dict__.get(name, _NO_VALUE)
            one = value if isinstance(value, _Field) else _Field(value)
            if type(one.default).__hash__ is None:  # All instances would share it.
                raise ValueError(f"{cls.__name__}.{name}: mutable default, use default_factory")
            fields[name] = one._replace(kw_only=True) if kw_only else one
    return fields


def _inherited_fields(cls: type) -> dict[str, _Field]:
    fields: dict[str, _Field] = {}
    for base in reversed(cls.__mro__[1:]):
        table = base.__dict__.get("__field_table__")
        if table is not None:
            fields.update(table.fields)
    return fields


def _with_slots(cls: type, own: Mapping[str, _Field], methods: Mapping[str, Any]) -> Any:
    """The class made again with slots, because slots cannot be added to a class that exists."""
    body = {key: value for key, value in cls.__dict__.items() if key not in own}
    # These two describe the layout of the first class.
    body.pop("__dict__", None)
    body.pop("__weakref__", None)
    # What the class defines itself wins over our methods.
    return type(cls)(cls.__name__, cls.__bases__, {**methods, **body})


def _methods(*, frozen: bool, eq: bool) -> dict[str, Any]:
    methods: dict[str, Any] = {
        "__init__": _init,
        "__repr__": _repr,
        "__replace__": _replace,
        "__dataclass_fields__": _StandardAttribute("__dataclass_fields__"),
        "__dataclass_params__": _StandardAttribute("__dataclass_params__"),
        "__signature__": _StandardAttribute("__signature__"),
    }
    if eq:
        # A mutable value that compares by its fields must not be a key: its hash could change.
        methods |= {"__eq__": _eq, "__hash__": _hash if frozen else None}
    if frozen:
        methods |= {"__setattr__": _refuse_change, "__delattr__": _refuse_change}
        methods |= {"__getstate__": _getstate, "__setstate__": _setstate}
    return methods


# -- the methods of every class ------------------------------------------------------------------


def _init(self: Any, /, *values: Any, **named: Any) -> None:
    table: _Table = self.__field_table__
    setters, positional = table.setters, table.positional
    if not named and len(values) == len(positional) == len(setters):
        _put_all(setters.values(), repeat(self), values)
        if table.has_post_init:
            self.__post_init__()
        return
    complete = {**table.defaults, **named}
    complete.update(zip(positional, values, strict=False))
    for name, make in table.factories:
        if name not in complete:
            complete[name] = make()
    count = len(values)
    is_twice = named and count and not named.keys().isdisjoint(positional[:count])
    if is_twice or count > len(positional) or complete.keys() != setters.keys():
        _refuse_arguments(self, count, dict(zip(positional, values, strict=False)), named)
    _put_all(setters.values(), repeat(self), map(complete.__getitem__, setters))
    if table.has_post_init:
        self.__post_init__()


def _put_all(*columns: Iterable[Any]) -> None:
    """Call each setter with the instance and its value: a loop in C, because a search makes
    values with a hundred fields in all."""
    deque(map(call, *columns), maxlen=0)


def _refuse_arguments(
    self: Any, count: int, given: Mapping[str, Any], named: Mapping[str, Any]
) -> NoReturn:
    table: _Table = self.__field_table__
    filled = {*table.defaults, *(name for name, _ in table.factories), *given, *named}
    problems = {
        "has two values for": sorted(given.keys() & named.keys()),
        "has no field": sorted(named.keys() - table.fields.keys()),
        "needs": [name for name in table.fields if name not in filled],
        f"takes {len(given)} values by position, not": [str(count)],
    }
    problem, names = next((text, names) for text, names in problems.items() if names)
    raise TypeError(f"{type(self).__name__}() {problem} {', '.join(names)}")


def _repr(self: Any) -> str:
    fields: dict[str, _Field] = self.__field_table__.fields
    shown = (f"{name}={getattr(self, name)!r}" for name, one in fields.items() if one.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _eq(self: Any, other: object) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return _compared(self) == _compared(other)


def _hash(self: Any) -> int:
    return hash(_compared(self))


def _compared(self: Any) -> tuple[Any, ...]:
    return tuple([getattr(self, name) for name in self.__field_table__.compared])


def _refuse_change(self: Any, name: str, value: object = None) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"{type(self).__name__} is frozen: {name!r} cannot be changed")


def _getstate(self: Any) -> list[Any]:
    return list(field_values(self).values())


def _setstate(self: Any, state: list[Any]) -> None:
    for put, value in zip(self.__field_table__.setters.values(), state, strict=True):
        put(self, value)


# -- functions on instances and classes ----------------------------------------------------------


def field_names(cls: Any) -> tuple[str, ...]:
    return tuple(cls.__field_table__.fields)


def field_values(value: Any) -> dict[str, Any]:
    """The fields of an instance by name, as they are; `asdict` takes values inside them apart."""
    return {name: getattr(value, name) for name in value.__field_table__.fields}


def _asdict(value: Any) -> dict[str, Any]:
    """The fields of an instance by name, for JSON: instances inside it become dicts too."""
    return {name: _plain(inner) for name, inner in field_values(value).items()}


def _plain(value: Any) -> Any:
    if hasattr(value, "__field_table__"):
        return _asdict(value)
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(_plain, value))
    return value


def _replace(value: _Value, /, **changes: Any) -> _Value:
    """A copy with some fields changed; `__post_init__` checks it again."""
    table: _Table = value.__field_table__  # type: ignore[attr-defined]
    if not changes.keys() <= table.setters.keys():
        return type(value)(**{**field_values(value), **changes})  # Which refuses them.
    copy = object.__new__(type(value))
    getters = table.getters
    for name, put in table.setters.items():
        put(copy, changes[name] if name in changes else getters[name](value))
    if table.has_post_init:
        copy.__post_init__()  # type: ignore[attr-defined]
    return copy


def _field(
    *,
    default: Any = _NO_VALUE,
    default_factory: Any = _NO_VALUE,
    repr: bool = True,  # noqa: A002 - The names are those of the standard library.
    compare: bool = True,
) -> Any:
    return _Field(default, default_factory, repr, compare)


# -- values that are computed when they are read -------------------------------------------------


class _Deferred:
    def __init__(self, make: Callable[[], Any]) -> None:
        self._make: Callable[[], Any] | None = make
        self._value: Any = None

    def value(self) -> Any:
        make = self._make
        if make is not None:  # Two threads may both compute it: the value is the same.
            self._value, self._make = make(), None
        return self._value


def deferred(make: Callable[[], _Made]) -> _Made:
    """The value of a field that the class lists in `deferred_fields`: computed by the first who
    reads it. Most answers are shown without all of their fields."""
    return cast("_Made", _Deferred(make))


class _DeferredSlot:
    def __init__(self, slot: Any) -> None:
        self._slot = slot

    def __get__(self, instance: Any, owner: Any) -> Any:
        value = self._slot.__get__(instance, owner)
        return value.value() if type(value) is _Deferred else value

    def __set__(self, instance: Any, value: Any) -> None:
        self._slot.__set__(instance, value)


class _StandardAttribute:
    """An attribute that `dataclasses` and `inspect` read, taken from a dataclass of theirs."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: Any) -> Any:
        from dataclasses import make_dataclass
        from inspect import signature

        table: _Table = owner.__field_table__
        fields = [(name, *_declaration(owner, name, one)) for name, one in table.fields.items()]
        twin = make_dataclass(owner.__name__, fields, frozen=table.frozen)
        value = signature(twin) if self._name == "__signature__" else getattr(twin, self._name)
        # The next access finds the value itself.
        setattr(owner, self._name, value)
        return value


def _declaration(owner: type, name: str, one: _Field) -> tuple[Any, Any]:
    import dataclasses

    home = next(base for base in owner.__mro__ if name in base.__annotations__)
    options = {key: value for key, value in one._asdict().items() if value is not _NO_VALUE}
    return home.__annotations__[name], dataclasses.field(**options)


if not TYPE_CHECKING:
    asdict, dataclass, field, replace = _asdict, _dataclass, _field, _replace
