"""Every regular expression of ours, found in the source, and texts that make a bad one slow.

A pattern is slow where it begins anew at many places and reads far from each, or reads the same
stretch in many ways. Both are met by repeating what it is made of: each of its parts, behind what
comes before that part, with an end that cannot match.
"""

from __future__ import annotations

import ast
import importlib
import math
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from re import _constants as ops  # type: ignore[attr-defined] # the only parser of patterns there is
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import notewell

ROOT = Path(notewell.__file__).parent
MAKERS = frozenset({"compile", "match", "search", "fullmatch", "sub", "subn", "split", "findall"})
MAKERS |= {"finditer"}
ANCHORED = frozenset({"match", "fullmatch"})
SEARCHED = frozenset({"search"})
PLENTY_CHARS = 2_048
QUICK_S_PER_CHAR = 1e-6
"""A plain pattern takes a tenth of it; only what is above is worth a closer look."""
SLOW_S_PER_CHAR = 4e-6
"""A megabyte in four seconds; a pattern that grows with the square is there at 10 000."""
TRIES = 3
"""Others are at work on the same machine: what is slow is slow each time."""
LONG_S = 0.25
"""For at most 2 048 characters: thirty times as long as what is slow."""
STEEPEST = 1.3


@dataclass(frozen=True, slots=True)
class Found:
    """One place in the source where a pattern is made."""

    where: str
    """`file: code`."""
    line: int
    pattern: re.Pattern[Any] | None
    """None where it is put together from what only a call knows."""
    anchored: bool
    """Only asked what begins at one place; else it is tried at every one."""


def patterns(known: Mapping[str, Callable[[], Any]]) -> Iterator[Found]:
    """`known` makes those that the source alone does not tell, by `file: code`."""
    for file in sorted(ROOT.rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        module = ".".join(("notewell", *file.relative_to(ROOT).with_suffix("").parts))
        nodes = tuple(ast.walk(tree))
        uses = _uses(nodes)
        for node in nodes:
            if isinstance(node, ast.Call) and _makes_a_pattern(node):
                where = f"{file.relative_to(ROOT).as_posix()}: {ast.unparse(node.args[0])}"
                made = known[where]() if where in known else _made(node, module)
                yield Found(where, node.lineno, made, uses.get(node, SEARCHED) <= ANCHORED)


def _makes_a_pattern(call: ast.Call) -> bool:
    """`re.compile(…)`, `re.sub(…)`, `compiled(…)`, `compile_later(…)`; RE2 cannot run away."""
    match call:
        case ast.Call(func=ast.Attribute(value=ast.Name("re"), attr=attr), args=[_, *_]):
            return attr in MAKERS
        case ast.Call(func=ast.Name("compiled" | "compile_later"), args=[_, *_]):
            return True
    return False


def _uses(nodes: Iterable[ast.AST]) -> dict[ast.Call, frozenset[str]]:
    """What is asked of each pattern: `match`, `sub`; of one that has a name, wherever it is."""
    asked: dict[str, set[str]] = {}
    found: dict[ast.Call, frozenset[str]] = {}
    for node in nodes:
        match node:
            case ast.Attribute(value=ast.Name("re"), attr=_):
                continue
            case ast.Attribute(value=ast.Name(name), attr=attr):
                asked.setdefault(name, set()).add(attr)
            case ast.Attribute(value=ast.Call() as call, attr=attr):
                found[call] = frozenset({attr})
            case ast.Call(func=ast.Attribute(value=ast.Name("re"), attr=attr)):
                found.setdefault(node, frozenset({attr}))
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(name)], value=ast.Call() as call):
                found[call] = frozenset(asked.get(name, {"search"}))
    return found


def _made(call: ast.Call, module: str) -> Any:
    """The pattern, where what it is made of stands in the module itself."""
    names = dict(vars(importlib.import_module(module.removesuffix(".__init__"))))
    given = (*call.args[1:], *(one.value for one in call.keywords))
    try:
        flags = [_value(one, names) for one in given if ast.unparse(one).startswith("re.")]
        return re.compile(_value(call.args[0], names), sum(flags, re.NOFLAG))
    except NameError:
        return None


def _value(node: ast.expr, names: dict[str, Any]) -> Any:
    return eval(compile(ast.Expression(node), "<pattern>", "eval"), names)


# -- texts that are hard for a pattern -----------------------------------------------------------


def pumped(pattern: re.Pattern[Any]) -> Iterator[Callable[[int], Any]]:
    """Makers of texts of about so many characters."""
    is_bytes = isinstance(pattern.pattern, bytes)
    told = pattern.pattern.decode("latin-1") if is_bytes else pattern.pattern
    tree = parser.parse(told, pattern.flags & ~re.UNICODE if is_bytes else pattern.flags)
    for before, unit in dict.fromkeys(_parts(list(tree), "")):
        for end in ("", "\0"):
            yield _maker(before, unit, end, is_bytes=is_bytes)


def _maker(before: str, unit: str, end: str, *, is_bytes: bool) -> Callable[[int], Any]:
    def text(chars: int) -> Any:
        made = before + unit * max(1, chars // len(unit)) + end
        return made.encode("latin-1", "replace") if is_bytes else made

    return text


def _parts(sequence: list[Any], before: str) -> Iterator[tuple[str, str]]:
    """What to repeat, and what stands before it: every part, every beginning, at every depth."""
    sofar = before
    for op, value in sequence:
        for inner in _inner(op, value):
            yield from _parts(inner, sofar)
        for sample in _samples([(op, value)])[:3]:
            if sample:
                yield sofar, sample
                yield "", sofar + sample
                yield sofar, sample + " "
        sofar += (_samples([(op, value)]) or [""])[0]
    if sofar:
        yield "", sofar[:-1] or sofar


def _inner(op: Any, value: Any) -> list[list[Any]]:
    if op is ops.BRANCH:
        return [list(one) for one in value[1]]
    if op is ops.SUBPATTERN:
        return [list(value[3])]
    if op in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT):
        return [list(value[2])]
    return [list(value)] if op is ops.ATOMIC_GROUP else []


def _samples(sequence: list[Any]) -> list[str]:
    """A few texts that a sequence matches, or nearly."""
    made = [""]
    for op, value in sequence:
        made = [text + more for text in made for more in _sample(op, value)][:4]
    return made


def _sample(op: Any, value: Any) -> list[str]:
    if op is ops.LITERAL:
        return [chr(value)]
    if op in (ops.ANY, ops.NOT_LITERAL):
        return ["a" if value != ord("a") else "b"]
    if op is ops.IN:
        return _of_class(value)
    if op is ops.BRANCH:
        return [text for one in value[1] for text in _samples(list(one))[:1]][:4]
    if op in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT):
        times = max(value[0], 1)
        return [text * min(times, 40) for text in _samples(list(value[2]))][:3]
    inner = _inner(op, value)
    return _samples(inner[0])[:3] if inner else [""]


def _of_class(items: list[Any]) -> list[str]:
    """One character of each kind in the class, white space first."""
    pattern = {ops.CATEGORY_SPACE: " ", ops.CATEGORY_DIGIT: "1", ops.CATEGORY_WORD: "a"}
    if items[0][0] is ops.NEGATE:
        barred = {value for op, value in items if op is ops.LITERAL}
        return [one for one in (" ", "a", "1", "-") if ord(one) not in barred][:3]
    found = []
    for op, value in items:
        if op is ops.LITERAL:
            found.append(chr(value))
        elif op is ops.RANGE:
            found.append(chr(value[0]))
        else:
            found.append(pattern.get(value, "-"))
    return sorted(found)[:4]


# -- how long it takes ---------------------------------------------------------------------------


def why_slow(found: Found, most_chars: int, budget_s: float = math.inf) -> str | None:
    """What makes a pattern run away on a text of so many characters; None where nothing does.

    After `budget_s` no further texts are tried.
    """
    assert found.pattern is not None
    ends = time.thread_time() + budget_s
    for text in pumped(found.pattern):
        if time.thread_time() > ends:
            return None
        if all(why := _why_slow_on(found, text, most_chars) for _ in range(TRIES)):
            return f"{text(40)!r}: {why}"
    return None


def _why_slow_on(found: Found, text: Callable[[int], Any], most_chars: int) -> str | None:
    chars, took_s = 12, 0.0
    while chars < min(PLENTY_CHARS, most_chars):  # What is exponential shows in small steps.
        # By one character at first: at twice the time for each, no step takes much over the limit.
        chars = min(chars + 1 if chars < 48 else chars * 4, PLENTY_CHARS, most_chars)
        took_s = _scan_s(found, text(chars))
        if took_s > LONG_S:
            return f"{took_s:.1f} s for {chars} characters"
    if took_s < QUICK_S_PER_CHAR * chars or chars == most_chars:
        return None
    short_s, long_s = (
        min(_scan_s(found, text(chars * times)) for _ in range(3)) for times in (2, 8)
    )
    slope = math.log(long_s / short_s) / math.log(4)
    is_slow = slope > STEEPEST and long_s > SLOW_S_PER_CHAR * 8 * chars
    return f"{long_s:.2f} s for {8 * chars}, a power of {slope:.2f}" if is_slow else None


def _scan_s(found: Found, text: Any) -> float:
    """Of processor time: others may be at work on the same machine."""
    assert found.pattern is not None
    began = time.thread_time()
    found.pattern.match(text)
    found.pattern.fullmatch(text)
    if not found.anchored:
        for _ in found.pattern.finditer(text):
            pass
    return time.thread_time() - began
