"""The script of a text is that of most of its letters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.ports import ModelFacts
from notewell.scripts import Script, has_words_in, script_of, script_of_question


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


@pytest.mark.parametrize(
    ("question", "script"),
    [
        ("为 OpenClaw 设置 Zalo Personal", "han"),
        ("打包 OpenClaw.app", "han"),
        ("What does 备份 mean in our notes?", "latin"),
        ("Où est le café ?", "latin"),
        ("Redis の設定", "latin"),
        ("Wo ist der сервер?", "latin"),
    ],
)
def test_the_script_of_a_question_is_that_of_most_words(question: str, script: Script) -> None:
    assert script_of_question(question) == script


COMMANDS = "# 添加密钥\n\n```sh\nopenclaw secrets apply --from ~/.config/provider.json\n```\n"


def test_a_chinese_question_can_share_words_with_commands_that_are_explained_in_chinese() -> None:
    assert script_of(COMMANDS) == "latin"
    assert has_words_in("han", COMMANDS)
    assert has_words_in("latin", COMMANDS)
    assert not has_words_in("han", COMMANDS.replace("添加密钥", "Add a key"))
    assert not has_words_in("han", "Our backup (备份) runs every night at three on the old server")
    assert not has_words_in("latin", "我们每天凌晨三点备份")


@given(st.text())
def test_every_text_has_a_script(text: str) -> None:
    assert script_of(text) in ("latin", "han", "other")
    assert script_of_question(text) in (script_of(text), "han")


def test_a_model_says_what_it_reads() -> None:
    facts = ModelFacts("p", "m", 2, 400, scripts=frozenset({"latin", "han"}))
    assert facts.reads("Wort")
    assert facts.reads("词")
    assert not facts.reads("слово")
    assert facts.scripts_read() == "Latin and Chinese scripts only"
    assert ModelFacts("p", "m", 2, 400).reads("слово")
