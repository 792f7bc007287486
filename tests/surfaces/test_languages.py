"""A question finds a note in whose sentence its words have other endings, in many languages."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

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
    "fr": "La réunion a décidé d'acheter l'application pour les clients.",
    "fr-other": "Le chat dort toute la journée, et il ne fait pas de bruit.",
    "de": "Wir haben die alten Häuser am Fluss verkauft und das Geld gespart.",
    "de-other": "Die Katze schläft auf dem Sofa, und es regnet den ganzen Tag.",
    "es": "El equipo compró los sensores nuevos para la estación de la montaña.",
    "es-other": "La gata duerme en el sofá, y llueve todo el día.",
    "it": "La squadra ha comprato i sensori nuovi per la stazione della montagna.",
    "pt": "A equipa comprou as câmaras novas para o armazém, mas não as montou.",
    "nl": "Het team heeft de oude vogels verkocht en het geld is voor de kas.",
    "sv": "Gruppen har sålt de gamla bilarna och pengarna är för resan.",
    "tr": "Ekip bu hafta yeni kitaplar için çok büyük bir raf ve masa istedi.",
    "pl": "Zespół kupił nowe książki dla biblioteki, ale nie są jeszcze w katalogu.",
    "en": "The team bought new chairs for the office, and they are in the cellar.",
}
QUESTIONS = [
    ("ru", "обновлением приложений"),
    ("el", "αλλαγές βάσεων"),
    ("ar", "سيارة"),
    ("hi", "किताबों"),
    ("fr", "quelle application ?"),
    ("fr", "l'achat des applications"),
    ("de", "Haus"),
    ("es", "sensor nuevo"),
    ("it", "il sensore nuovo"),
    ("pt", "câmara"),
    ("nl", "vogel"),
    ("sv", "bil"),
    ("tr", "kitap"),
    ("pl", "książka"),
    ("en", "a chair"),
    # The same word, with the same letters, whatever the language of the note was taken for.
    ("de", "Häuser"),
    ("pt", "câmaras"),
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


def test_an_answer_shows_the_line_with_the_other_form(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    (workspace / "memory").mkdir(parents=True)
    filler = "- Der Hund schläft auf dem Sofa, und es regnet den ganzen Tag über dem Garten.\n"
    text = filler * 40 + "- Die alten Häuser am Fluss sind verkauft.\n" + filler * 40
    (workspace / "memory" / "tage.md").write_text(text, encoding="utf-8")
    with open_memory(workspace, state_dir=tmp_path / "state") as memory:
        memory.sync()
        best = memory.search("Haus").hits[0]
    assert "Häuser am Fluss" in best.snippet
    assert "Häuser am Fluss" in best.shown_text


def test_a_word_in_a_note_of_a_wrongly_guessed_language_finds_it(tmp_path: Path) -> None:
    """Latin, the language, has no stemmer: its notes are taken for one that has."""
    workspace = tmp_path / "workspace"
    (workspace / "memory").mkdir(parents=True)
    text = "Gallia est omnis divisa in partes tres, quarum unam incolunt Belgae, et si de se non."
    (workspace / "memory" / "gallia.md").write_text(text, encoding="utf-8")
    (workspace / "memory" / "en.md").write_text("The parties were loud.\n", encoding="utf-8")
    with open_memory(workspace, state_dir=tmp_path / "state") as memory:
        memory.sync()
        for word in ("divisa", "partes", "quarum", "incolunt", "Belgae"):
            assert memory.search(word).hits[0].path == "memory/gallia.md"
