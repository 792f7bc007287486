from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.notes.note_file import clean

# Plain st.binary() seldom makes a line; pieces joined by hand meet at every kind of border.
PIECES = st.lists(
    st.one_of(
        st.sampled_from(
            [
                b"\n", b"\r", b"\r\n", b"\0", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xff",
                b"\xe4\xbd", b"\xc2\x85", b"\xe2\x80\xa8", b"\x0b", b"\x0c", b"# head",
                "索引".encode(),
            ]
        ),
        st.binary(max_size=6),
    ),
    max_size=30,
).map(b"".join)  # fmt: skip


def is_utf16(data: bytes) -> bool:
    return data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))


@given(PIECES)
def test_whatever_the_bytes_the_text_is_valid(data: bytes) -> None:
    text, _ = clean(data)
    text.encode("utf-8")  # no lone surrogate
    assert "\0" not in text
    assert "\r" not in text
    assert not text.startswith("\ufeff")


@given(PIECES.filter(lambda data: not is_utf16(data)))
def test_lines_are_counted_as_sed_counts_them(data: bytes) -> None:
    text, _ = clean(data)
    assert text.count("\n") == data.count(b"\n")


@given(PIECES)
def test_clean_text_needs_no_second_cleaning(data: bytes) -> None:
    text, _ = clean(data)
    assert clean(text.encode()) == (text, ())


@given(st.text(st.characters(exclude_characters="\r\0", exclude_categories=["Cs"])))
def test_a_valid_text_passes_unchanged(text: str) -> None:
    assert clean(text.encode()) == (text.lstrip("\ufeff"), ())


@given(st.text(st.characters(exclude_characters="\r\0\ufeff", exclude_categories=["Cs"])))
@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_utf16_with_its_mark_reads_like_the_same_text_in_utf8(codec: str, text: str) -> None:
    cleaned, repairs = clean(("\ufeff" + text).encode(codec))
    assert cleaned == text
    assert repairs == ("it is UTF-16; UTF-8 is safer",)


@pytest.mark.parametrize(
    ("data", "text", "repairs"),
    [
        (b"", "", ()),
        (b"\xef\xbb\xbf# Title\n", "# Title\n", ()),
        (b"one\r\ntwo\r\n", "one\ntwo\n", ()),
        (b"a\rb\n", "a b\n", ("1 lone carriage return was replaced",)),
        (b"a\r\r\nb", "a \nb", ("1 lone carriage return was replaced",)),
        (b"a\0b\0", "a\ufffdb\ufffd", ("2 NUL characters were replaced",)),
        (b"caf\xe9", "caf\ufffd", ("1 byte was not valid UTF-8 and was replaced",)),
        (b"\xed\xa0\x80", "\ufffd" * 3, ("3 bytes were not valid UTF-8 and were replaced",)),
        ("a\x0bb\x0cc\x85d\u2028e".encode(), "a\x0bb\x0cc\x85d\u2028e", ()),
    ],
)
def test_each_repair_is_named_and_nothing_else(
    data: bytes, text: str, repairs: tuple[str, ...]
) -> None:
    assert clean(data) == (text, repairs)


def test_broken_utf16_keeps_what_can_be_kept() -> None:
    data = codecs.BOM_UTF16_LE + b"a\0" + b"\x00\xd8" + b"\n\0" + b"b\0" + b"c"
    text, repairs = clean(data)
    assert text == "a\ufffd\nb\ufffd"
    assert repairs[1] == "2 characters were not valid UTF-16 and were replaced"


def test_a_replacement_character_the_user_wrote_is_no_repair() -> None:
    assert clean("\ufffd".encode()) == ("\ufffd", ())
