"""A question finds a note in whose sentence its words have other endings, in many languages."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from notewell import open_memory

NOTES = {
    "ru": "В пятницу мы обновили приложение, и сервер перестал отвечать на запросы.",
    "ru-other": "Кошка спит на окне, дождь идёт весь день.",
    "el": "Η ομάδα αποφάσισε να αλλάξει τη βάση δεδομένων των πελατών.",
    "el-other": "Η γάτα κοιμάται στο παράθυρο όλη μέρα.",
    "ar": "قرر الفريق شراء السيارات الجديدة في الشتاء.",
    "ar-other": "القطة تنام قرب النافذة طوال اليوم.",
    "hi": "टीम ने पुरानी किताबें पुस्तकालय को दे दीं।",
    "hi-other": "बिल्ली खिड़की पर सो रही है।",
    "fr": "La réunion a décidé d'acheter l'application.",
    "fr-other": "Le chat dort toute la journée.",
}
QUESTIONS = [
    ("ru", "обновлением приложений"),
    ("el", "αλλαγές βάσεων"),
    ("ar", "سيارة"),
    ("hi", "किताबों"),
    ("fr", "quelle application ?"),
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("languages")
    workspace = folder / "workspace"
    (workspace / "memory").mkdir(parents=True)
    for name, text in NOTES.items():
        (workspace / "memory" / f"{name}.md").write_text(f"{text}\n", encoding="utf-8")
    with open_memory(workspace, state_dir=folder / "state") as memory:
        memory.sync()
    return ["-w", str(workspace), "--state-dir", str(folder / "state")]


@pytest.mark.parametrize(("note", "question"), QUESTIONS)
def test_the_command_finds_a_note_by_another_form_of_its_words(
    place: list[str], note: str, question: str
) -> None:
    command = [sys.executable, "-m", "notewell", "search", *place, "--json", question]
    ended = subprocess.run(command, capture_output=True, check=True)
    assert json.loads(ended.stdout)["results"][0]["path"] == f"memory/{note}.md"
