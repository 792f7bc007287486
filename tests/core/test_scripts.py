"""The script of a text is that of most of its letters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.ports import ModelFacts
from notewell.scripts import Script, script_of


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("What is the answer to 42?", "latin"),
        ("Größe und Maß – “quoted”", "latin"),
        ("12345", "latin"),
        ("🎉 1", "latin"),
        ("", "other"),
        ("🎉🎂\n\n🚗", "other"),
        ("?", "other"),
        ("？", "other"),
        ("- [ ]\n---", "other"),
        ("我们什么时候发布了路由器？", "han"),
        ("我們什麼時候發佈", "han"),
        ("索引 in SQLite 怎么样存储在数据库里面", "han"),
        ("用 Postgres 备份数据", "han"),
        ("see 备份 in the notes about our servers", "latin"),
        ("Привет", "other"),
        ("サーバーの再起動は毎週火曜日です", "other"),
        ("我们用的是ポケモン游戏里的地图数据和角色名字表，还有其他的资料", "han"),
        ("서버는 화요일에 재시작한다", "other"),
        ("الخادم يعاد تشغيله", "other"),
    ],
)
def test_the_script_is_that_of_most_letters(text: str, script: Script) -> None:
    assert script_of(text) == script


@given(st.text())
def test_every_text_has_a_script(text: str) -> None:
    assert script_of(text) in ("latin", "han", "other")


def test_a_model_says_what_it_reads() -> None:
    facts = ModelFacts("p", "m", 2, 400, scripts=frozenset({"latin", "han"}))
    assert facts.reads("Wort")
    assert facts.reads("词")
    assert not facts.reads("слово")
    assert facts.scripts_read() == "Latin and Chinese scripts only"
    assert ModelFacts("p", "m", 2, 400).reads("слово")
