"""Words, scores and order are ours: both stores give the same answers, in any language."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from tests.postgres_server import PostgresServer

from notewell import Memory, Settings, StoreSettings, open_memory
from notewell.core import Secret

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "workspace"
SETS = sorted((ROOT / "bench" / "recall_short").glob("*.toml"))
OTHERS = {  # Scripts and forms that the sets do not have.
    "ru": ("Сервер называется снегирь и стоит в подвале.", "где стоит сервер"),
    "el": ("Ο διακομιστής βρίσκεται στο υπόγειο.", "πού είναι ο διακομιστής"),
    "ar": ("الخادم موجود في القبو بجانب النافذة.", "أين الخادم"),
    "hi": ("सर्वर तहखाने में खिड़की के पास है।", "सर्वर कहाँ है"),
    "ja": ("サーバーは地下室にあります。", "サーバーはどこ"),
    "ko": ("서버는 지하실에 있습니다.", "서버는 어디에"),
    "th": ("เซิร์ฟเวอร์อยู่ที่ชั้นใต้ดิน", "เซิร์ฟเวอร์อยู่ที่ไหน"),
    "code": ("def parse_config_file(path): return toml.loads(path)", "parse_config_file"),
}


def write_notes(folder: Path) -> list[str]:
    """Notes in thirteen languages, and questions for all of them."""
    shutil.copytree(EXAMPLE, folder)
    questions = ["which database did we choose?", "what broke in October", "温室的温度报警", "de"]
    for file in SETS:
        values = tomllib.loads(file.read_text(encoding="utf-8"))
        for path, text in values["notes"].items():
            target = folder / "memory" / file.stem / Path(path).name
            target.parent.mkdir(exist_ok=True)
            target.write_text(text, encoding="utf-8")
        aside = values["aside"]
        questions += [*aside["questions"], *aside["names"], *aside["unrelated"][:5]]
    for language, (text, question) in OTHERS.items():
        (folder / "memory" / f"{language}.md").write_text(f"# {language}\n\n{text}\n", "utf-8")
        questions.append(question)
    return questions


def answers(memory: Memory, questions: list[str]) -> list[Any]:
    """Each hit whole: place, score with its parts, snippet, and the lines that are shown."""
    return [
        (question, mode, answer.mode, answer.hits)
        for question in questions
        for mode in ("hybrid", "keyword")
        for answer in [memory.search(question, mode=mode, min_score=0.0)]
    ]


@contextmanager
def both_stores(folder: Path, server: PostgresServer) -> Iterator[list[Memory]]:
    url = Secret(server.login_url("notewell"))
    stores = (StoreSettings(), StoreSettings(driver="postgres", url=url, tenant=str(folder)))
    with ExitStack() as stack:
        yield [
            stack.enter_context(
                open_memory(
                    folder,
                    settings=Settings(store=store),
                    state_dir=folder.parent / "state",
                    environment={},
                )
            )
            for store in stores
        ]


def test_both_stores_give_the_same_hits_scores_and_order_in_any_language(
    postgres_server: PostgresServer, tmp_path: Path
) -> None:
    folder = tmp_path / "notes"
    questions = write_notes(folder)
    with both_stores(folder, postgres_server) as memories:
        for memory in memories:
            memory.sync()
        sqlite, postgres = (answers(memory, questions) for memory in memories)
        assert postgres == sqlite
        found = {hit.path for *_, hits in sqlite for hit in hits}
        assert len(found) > 40
        assert {f"memory/{language}.md" for language in OTHERS} <= found
        # An index that has grown by changes answers like one that was built at once.
        change_notes(folder)
        memories[0].sync(force=True)
        memories[1].sync()
        sqlite, postgres = (answers(memory, questions[::3]) for memory in memories)
        assert postgres == sqlite


def change_notes(folder: Path) -> None:
    for number, note in enumerate(sorted((folder / "memory").rglob("*.md"))[::3]):
        if number % 2:
            note.unlink()
        else:
            text = note.read_text(encoding="utf-8")
            note.write_text(f"The router 路由器 {number}.\n\n{text}", encoding="utf-8")
