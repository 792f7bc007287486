"""JSON, JSON5 and YAML to values with lines; and files nobody should be able to hurt us with."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.config.document import Located, Malformed, plain
from notewell.config.layers import MAX_FILE_BYTES, read_document
from notewell.config.read_json5 import read_json5
from notewell.config.read_yaml import read_yaml

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**18), 10**18),
    st.text(),
    st.floats(allow_nan=False, allow_infinity=False),
)
trees = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def parsed(text: str) -> object:
    root, findings = read_json5(text, "f")
    assert not findings
    return plain(root)


@given(trees, st.sampled_from([None, 2]))
def test_what_json_writes_json5_reads(value: object, indent: int | None) -> None:
    for ascii_only in (True, False):
        assert parsed(json.dumps(value, indent=indent, ensure_ascii=ascii_only)) == value


@given(st.text(alphabet="{}[]:,'\"\\/*-+.0123456789eExXabu$_ \n\t\u2028é", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    for read in (read_json5, read_yaml):
        try:
            root, _ = read(text, "f")
        except Malformed as error:
            assert error.line >= 1  # noqa: PT017 - either way is fine
        else:
            assert isinstance(root, Located)


def test_json5_is_more_forgiving_than_json() -> None:
    text = """// a comment
    {
      unquoted: 'single "quotes"', /* and
      another */ $key_1: .5, hex: 0xFF, plus: +3, trailing: 5., list: [1, 2,],
      'multi': "one \\
two", escapes: "\\x41\\u00e9\\ud83d\\ude00\\n\\q", null: null,
    }"""
    assert parsed(text) == {
        "unquoted": 'single "quotes"',
        "$key_1": 0.5,
        "hex": 255,
        "plus": 3,
        "trailing": 5.0,
        "list": [1, 2],
        "multi": "one two",
        "escapes": "Aé😀\nq",
        "null": None,
    }
    assert parsed("[-Infinity]") == [-math.inf]


def test_a_pasted_example_without_its_outer_braces_is_read() -> None:
    assert parsed('memory: { backend: "qmd" }') == {"memory": {"backend": "qmd"}}
    assert parsed('"a": 1, "b": 2,') == {"a": 1, "b": 2}
    assert parsed("") == {}


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('{\n  "a": 1\n  "b": 2\n}', 3, "expected ',' before '\"b\"'"),
        ('{\n  "a" 1\n}', 2, "expected ':' after 'a'"),
        ('{"a": }', 1, "expected a value, not '}'"),
        ("{\n\n/* open", 3, "unexpected text '/* open'"),
        ('{"a": 1', 1, "expected ',' before 'the end of the file'"),
        ("{} {}", 1, "expected the end of the file, not '{'"),
        ('{"a": "\\ud800"}', 1, "half of a surrogate pair in a text"),
        ("{a: 012}", 1, "unexpected text '012}'"),
        ("{1: 2}", 1, "expected a key, not '1'"),
        ("[" + "9" * 5000 + "]", 1, "a number of 5000 characters"),
        ("[" * 100_000, 1, "more than 32 levels: no configuration has so many"),
        ("[" + "0," * 30_000 + "]", 1, "more than 20000 values: no configuration has so many"),
    ],
)
def test_malformed_json5_is_refused_with_its_line(text: str, line: int, message: str) -> None:
    with pytest.raises(Malformed) as caught:
        read_json5(text, "f")
    assert (caught.value.line, str(caught.value)) == (line, message)


def test_every_json5_value_knows_its_line() -> None:
    root, _ = read_json5('{\n  "a": {\n    "b":\n      1,\n    "c": [\n      2]}}', "f")
    assert isinstance(root.data, dict)
    inner = root.data["a"]
    assert isinstance(inner.data, dict)
    assert (inner.line, inner.data["b"].line, inner.data["c"].line) == (2, 3, 5)
    assert isinstance(inner.data["c"].data, list)
    assert inner.data["c"].data[0].line == 6


def test_every_yaml_value_knows_its_line() -> None:
    root, _ = read_yaml("a:\n  b: 1\n  c:\n    - x\n    - y\n", "f")
    assert isinstance(root.data, dict)
    inner = root.data["a"]
    assert isinstance(inner.data, dict)
    assert (inner.line, inner.data["b"].line, inner.data["c"].line) == (1, 2, 3)
    assert isinstance(inner.data["c"].data, list)
    assert [item.line for item in inner.data["c"].data] == [4, 5]


def test_yaml_words_mean_what_yaml_1_2_says() -> None:
    text = (
        "on: off\nyes: no\nt: true\nn: ~\ne:\nq: 'true'\ni: 0o17\nx: 0x1F\nd: 012\nf: 1e3\n"
        "z: .inf\nv: 1.2.3\nm: 5m\nh: 12:30\n"
    )
    root, _ = read_yaml(text, "f")
    assert plain(root) == {
        "on": "off", "yes": "no", "t": True, "n": None, "e": None, "q": "true", "i": 15,
        "x": 31, "d": 12, "f": 1000.0, "z": math.inf, "v": "1.2.3", "m": "5m", "h": "12:30",
    }  # fmt: skip


def test_yaml_aliases_and_merges_are_followed() -> None:
    text = "base: &b {x: 1, y: 2}\nmore: {<<: *b, y: 3}\nboth: {<<: [{x: 7}, *b]}\nsame: *b\n"
    root, _ = read_yaml(text, "f")
    assert plain(root) == {
        "base": {"x": 1, "y": 2},
        "more": {"x": 1, "y": 3},
        "both": {"x": 7, "y": 2},
        "same": {"x": 1, "y": 2},
    }


BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{','.join(['*' + above] * 9)}]\n"
    for above, name in zip("abcdefgh", "bcdefghi", strict=True)
)


NESTED = "a0: &a0 [[[[[[[[x]]]]]]]]\n" + "".join(
    f"a{n + 1}: &a{n + 1} [[[[[[[[*a{n}]]]]]]]]\n" for n in range(5)
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BOMB, "more than 20000 values, with aliases expanded"),
        ("a: &a [*a]", "found undefined alias 'a'"),
        ("a: &a\n  b: *a", "found undefined alias 'a'"),
        ("{a: " * 300 + "}" * 300, "more than 32 levels: no configuration has so many"),
        ("[" * 200_000, "more than 32 levels: no configuration has so many"),
        ("- " * 50 + "x", "more than 32 levels: no configuration has so many"),
        (NESTED, "more than 32 levels: no configuration has so many"),
        ("a: [1", "not valid YAML"),
        ("a: *nobody", "not valid YAML: found undefined alias"),
        ("? [a, b]\n: 1", "a key must be a word"),
        ("a: b: c", "not valid YAML"),
        ("a: 1\n---\nb: 2", "more than one document in the file"),
        ("a: \x07", "not valid YAML"),
        ("<<: 5", "'<<' takes an object or a list of objects"),
    ],
)
def test_hostile_and_broken_yaml_is_refused(text: str, message: str) -> None:
    with pytest.raises(Malformed) as caught:
        read_yaml(text, "f")
    assert message in str(caught.value)


def test_yaml_tags_make_no_objects() -> None:
    root, _ = read_yaml("a: !!python/object/apply:os.system ['true']\nb: !!int '7'", "f")
    assert plain(root) == {"a": ["true"], "b": "7"}


@pytest.mark.parametrize(
    ("name", "text"),
    [("c.json", '{\n "a": 1,\n "a": 2}'), ("c.yaml", "\na: 1\na: 2")],
)
def test_a_key_that_is_said_twice_is_reported(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    (finding,) = read_document(path).findings
    assert str(finding) == f"{path}:3: a: set twice; first in line 2"


def written(tmp_path: Path, data: bytes, name: str = "c.json") -> Path:
    path = tmp_path / name
    path.write_bytes(data)
    return path


def test_a_byte_order_mark_and_windows_lines_are_no_problem(tmp_path: Path) -> None:
    path = written(tmp_path, b'\xef\xbb\xbf{\r\n"a":\r\n1}\r\n')
    assert plain(read_document(path).root) == {"a": 1}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"a":\n"\xff"}', "2: not UTF-8"),
        (b"[1, 2]", "1: expected an object { … } at the top of the file"),
        (b" " * (MAX_FILE_BYTES + 1), " larger than 1048576 bytes"),
    ],
)
def test_a_file_that_cannot_be_read_is_a_finding(
    tmp_path: Path, data: bytes, message: str
) -> None:
    path = written(tmp_path, data)
    (finding,) = read_document(path).findings
    assert (finding.kind, str(finding)) == ("error", f"{path}:{message}")


def test_a_missing_file_a_folder_and_a_pipe_are_findings_and_not_waited_for(
    tmp_path: Path,
) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "folder.json").mkdir()
    for name, message in (
        ("none.json", "cannot be read: No such file or directory"),
        ("folder.json", "cannot be read: Is a directory"),
        ("pipe.json", "not a regular file"),
    ):
        (finding,) = read_document(tmp_path / name).findings
        assert finding.message == message


def test_a_link_is_followed_for_the_user_and_not_for_a_workspace(tmp_path: Path) -> None:
    written(tmp_path, b"{}", "real.json")
    link = tmp_path / "link.json"
    link.symlink_to("real.json")
    assert not read_document(link).findings
    (finding,) = read_document(link, follow_links=False).findings
    assert finding.message.startswith("a link; links are not followed here")
