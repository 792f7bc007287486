"""`NamedTuple` without code that is compiled at run time; import it from `notewell.records`.

The one of `typing` compiles a constructor for each class, and the text of each annotation. Here a
constructor is one of the functions below, with its parameters renamed to the fields of the class;
the other methods exist once.
"""

from __future__ import annotations

from collections import _tuplegetter, namedtuple  # type: ignore[attr-defined]
from functools import partial
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_new = tuple.__new__
_Made = TypeVar("_Made", bound=tuple[Any, ...])

# One for each number of fields. They look alike, because the names of their parameters are
# replaced; a class with more fields gets its constructor from the standard library.
_CONSTRUCTORS: tuple[Callable[..., Any], ...] = (
    lambda _cls: _new(_cls, ()),
    lambda _cls, a: _new(_cls, (a,)),
    lambda _cls, a, b: _new(_cls, (a, b)),
    lambda _cls, a, b, c: _new(_cls, (a, b, c)),
    lambda _cls, a, b, c, d: _new(_cls, (a, b, c, d)),
    lambda _cls, a, b, c, d, e: _new(_cls, (a, b, c, d, e)),
    lambda _cls, a, b, c, d, e, f: _new(_cls, (a, b, c, d, e, f)),
    lambda _cls, a, b, c, d, e, f, g: _new(_cls, (a, b, c, d, e, f, g)),
    lambda _cls, a, b, c, d, e, f, g, h: _new(_cls, (a, b, c, d, e, f, g, h)),
    lambda _cls, a, b, c, d, e, f, g, h, i: _new(_cls, (a, b, c, d, e, f, g, h, i)),
    lambda _cls, a, b, c, d, e, f, g, h, i, j: _new(_cls, (a, b, c, d, e, f, g, h, i, j)),
)


class _Maker(type):
    """Makes a subclass of `tuple` from the body of a class."""

    def __new__(meta, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> Any:
        if not bases:  # `NamedTuple` itself
            return type.__new__(meta, name, bases, body)
        types = body.setdefault("__annotations__", {})
        fields = tuple(types)
        defaults = {key: body.pop(key) for key in fields if key in body}
        if tuple(defaults) != fields[len(fields) - len(defaults) :]:
            raise TypeError(f"{name}: a field without a default follows one with a default")
        # As the standard library reads a field: half the time of a property.
        getters = {key: _tuplegetter(place, None) for place, key in enumerate(fields)}
        own = {
            "__slots__": (),
            "__new__": _constructor(name, types, tuple(defaults.values())),
            "__match_args__": fields,
            "_fields": fields,
            "_field_defaults": defaults,
        }
        # What the class defines itself wins over our methods.
        return type(name, (tuple,), {**_METHODS, **getters, **own, **body})


def _constructor(name: str, types: dict[str, Any], defaults: tuple[Any, ...]) -> Any:
    fields = tuple(types)
    if len(fields) >= len(_CONSTRUCTORS):
        return namedtuple(name, fields, defaults=defaults).__new__
    template = _CONSTRUCTORS[len(fields)]
    code = template.__code__.replace(co_varnames=("_cls", *fields), co_name="__new__")
    made = FunctionType(code, template.__globals__, "__new__", defaults)
    made.__qualname__ = f"{name}.__new__"
    made.__annotations__ = types
    return made


# -- the methods of every class ------------------------------------------------------------------


def _make(cls: Any, values: Iterable[Any]) -> Any:
    made = _new(cls, values)
    if len(made) != len(cls._fields):
        raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
    return made


def _replace(self: Any, /, **changes: Any) -> Any:
    made = _new(type(self), map(changes.pop, self._fields, self))
    if changes:
        raise ValueError(f"Got unexpected field names: {list(changes)!r}")
    return made


def _asdict(self: Any) -> dict[str, Any]:
    return dict(zip(self._fields, self, strict=True))


def _repr(self: Any) -> str:
    shown = (f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
    return f"{type(self).__name__}({', '.join(shown)})"


def _getnewargs(self: Any) -> tuple[Any, ...]:
    return tuple(self)


_METHODS = {
    "_make": classmethod(_make),
    "_replace": _replace,
    "_asdict": _asdict,
    "__replace__": _replace,
    "__repr__": _repr,
    "__getnewargs__": _getnewargs,
}


def from_rows(cls: type[_Made], rows: Iterable[tuple[Any, ...]]) -> list[_Made]:
    """An instance for each row, which has the values of all fields in their order: without a call
    of a Python function for each."""
    return list(map(partial(_new, cls), rows))


class NamedTuple(metaclass=_Maker):
    """The base of a class whose annotated names are the fields of a tuple."""
