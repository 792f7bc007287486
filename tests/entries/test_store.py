"""What is stored is recalled by its owner, and by nobody else, until it is forgotten."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from notewell.entries import EntryStore
from notewell.entries.ranking import SAME_COSINE
from notewell.errors import BadRequest, BadSetting, EmbedderFailed
from notewell.testing import BrokenEmbedder, HashEmbedder

Open = Callable[..., EntryStore]
STORY = " ".join(f"{a}{b}" for a in ("bak", "lom", "rit", "sud") for b in "abcdefghijklmnopqrst")
"""So many words that one more or less is hardly seen in a vector."""


def texts(store: EntryStore, query: str) -> list[str]:
    return [one.entry.text for one in store.recall(query).results]


def on_disk(folder: Path, text: str) -> bool:
    return any(text.encode() in path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_what_is_stored_is_recalled_by_whoever_opens_it_next(opened: Open) -> None:
    done = opened().store("The router is in the basement", importance=0.9, category="fact")
    assert done.added
    (found,) = opened().recall("where is the router").results
    assert found.entry == done.entry
    assert (found.entry.importance, found.entry.category) == (0.9, "fact")
    assert found.entry.created_at_ms == 1_767_225_600_000
    assert (found.entry.owner, found.entry.model) == ("main", "hash/hash-256/256")


def test_an_empty_store_answers_and_makes_nothing(store: EntryStore, folder: Path) -> None:
    assert store.recall("anything").results == ()
    assert (store.entries(), store.count()) == ([], 0)
    assert not folder.exists()


def test_the_folder_is_closed_to_others(store: EntryStore, folder: Path) -> None:
    store.store("The user drinks tea")
    assert folder.stat().st_mode & 0o077 == 0


# -- duplicates ----------------------------------------------------------------------------------


def test_the_same_statement_in_nearly_the_same_words_is_stored_once(store: EntryStore) -> None:
    first = store.store(f"The user says: {STORY}")
    again = store.store(f"User says {STORY}!")
    assert (again.added, again.entry) == (False, first.entry)
    assert store.count() == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (f"{STORY} ships on Friday", f"{STORY} ships on Monday"),
        (f"{STORY} costs 1200", f"{STORY} costs 1300"),
        (f"{STORY} likes tea", f"{STORY} does not like tea"),
        (f"{STORY} does not like tea", f"{STORY} likes tea"),
        (f"{STORY} keeps alarms on", f"{STORY} keeps alarms off"),
        (f"{STORY} runs only before noon", f"{STORY} runs before noon"),
    ],
)
def test_what_has_changed_is_no_duplicate_however_near(
    store: EntryStore, old: str, new: str
) -> None:
    one, other = HashEmbedder(256).embed([old, new], "document")
    assert one @ other > SAME_COSINE
    assert store.store(old).added
    assert store.store(new).added


# -- owners --------------------------------------------------------------------------------------


def test_two_agents_cannot_see_count_or_delete_each_others_entries(opened: Open) -> None:
    mine, theirs = opened("main"), opened("guest")
    entry = mine.store("The safe is behind the painting").entry
    assert theirs.recall("The safe is behind the painting").results == ()
    assert theirs.entries() == []
    assert theirs.count() == 0
    assert theirs.forget(entry.id).entry is None
    assert theirs.forget_by("The safe is behind the painting").entry is None
    assert theirs.store("The safe is behind the painting").added
    assert mine.count() == theirs.count() == 1


def test_the_same_id_with_two_owners_is_two_entries(opened: Open) -> None:
    mine, theirs = opened("main"), opened("guest")
    entry = mine.store("The safe is behind the painting").entry
    assert theirs.import_entries([entry]).added == 1
    assert theirs.forget(entry.id).entry is not None
    assert mine.count() == 1


@pytest.mark.parametrize("owner", ["", "a b", "main' OR owner != 'main", "../other", "a" * 65])
def test_an_owner_that_is_no_id_is_refused(opened: Open, owner: str) -> None:
    with pytest.raises(BadSetting, match="is not an id"):
        opened(owner)


# -- recalling -----------------------------------------------------------------------------------


def test_importance_orders_only_what_is_equally_relevant(store: EntryStore) -> None:
    store.store("green tea in the morning", importance=0.1)
    store.store("black coffee after lunch, never late", importance=1.0)
    store.store("tea with lemon zest", importance=0.2)
    store.store("tea with orange peel", importance=0.9)
    assert texts(store, "green tea in the morning")[0] == "green tea in the morning"
    alike = [text for text in texts(store, "tea with") if text.startswith("tea with")]
    assert alike == ["tea with orange peel", "tea with lemon zest"]


def test_a_made_up_name_is_found_whatever_the_vectors_say(store: EntryStore) -> None:
    store.store(f"{STORY}; the fix went out with A828E60% last night")
    for number in range(20):
        store.store(f"commit number {number}{number} went out with nothing of note")
    assert "A828E60" in texts(store, "which commit was a828e60")[0]


def test_limit_and_threshold_are_kept(store: EntryStore) -> None:
    for number in range(8):
        store.store(f"lantern number {number}{number}")
    assert len(store.recall("lantern", limit=3).results) == 3
    assert store.recall("submarine").results == ()
    with pytest.raises(BadRequest, match="limit must be from 1 to 100"):
        store.recall("lantern", limit=0)
    with pytest.raises(BadRequest, match="query must have"):
        store.recall("  ")


# -- forgetting ----------------------------------------------------------------------------------


def test_forgetting_by_id_deletes_that_entry_and_its_text_on_disk(
    store: EntryStore, folder: Path
) -> None:
    kept = store.store("The violet elephant sleeps").entry
    gone = store.store("The crimson armadillo wakes").entry
    assert on_disk(folder, "crimson armadillo")
    assert store.forget(gone.id).entry == gone
    assert store.entries() == [kept]
    assert not on_disk(folder, "crimson armadillo")
    assert store.forget(gone.id).entry is None
    assert store.forget(kept.id.upper()).entry == kept
    assert not on_disk(folder, "violet elephant")
    assert store.count() == 0


def test_forgetting_by_query_deletes_only_what_is_clearly_meant(store: EntryStore) -> None:
    store.store("The user lives in Basel")
    store.store("Deploys happen on Friday evening")
    store.store("Deploys happen on Monday evening")
    unclear = store.forget_by("deploys happen evening")
    assert unclear.entry is None
    assert {one.entry.text[-14:-8] for one in unclear.candidates} == {"Friday", "Monday"}
    assert store.count() == 3
    clear = store.forget_by("user lives in Basel")
    assert clear.entry is not None
    assert clear.entry.text == "The user lives in Basel"
    verbatim = store.forget_by("deploys happen on monday evening.")
    assert verbatim.entry is not None
    assert verbatim.entry.text == "Deploys happen on Monday evening"
    assert store.forget_by("submarine").candidates == ()
    assert store.count() == 1


@pytest.mark.parametrize("id_", ["", "*", "x' OR '1'='1", "1b4e28ba", "null", "a" * 1000])
def test_what_is_no_id_reaches_no_filter(store: EntryStore, id_: str) -> None:
    store.store("The user drinks tea")
    with pytest.raises(BadRequest, match="not the id of an entry"):
        store.forget(id_)
    assert store.count() == 1


@pytest.mark.parametrize(
    "text", ["' OR owner != '", '"; DROP TABLE entries; --', "100% `owner` \\' x", "ünïcode 茶 🫖"]
)
def test_texts_are_values_and_never_part_of_a_condition(opened: Open, text: str) -> None:
    mine, theirs = opened("main"), opened("guest")
    theirs.store("something of theirs")
    entry = mine.store(text).entry
    assert entry.text == text
    assert not mine.store(text).added
    assert mine.forget(entry.id).entry == entry
    assert (mine.count(), theirs.count()) == (0, 1)


# -- what comes in -------------------------------------------------------------------------------


def test_secrets_are_masked_before_they_are_embedded_or_written(
    opened: Open, folder: Path
) -> None:
    class Listening(HashEmbedder):
        heard = ""

        def embed(self, texts, kind):  # type: ignore[no-untyped-def]
            self.heard += " ".join(texts)
            return super().embed(texts, kind)

    listening = Listening()
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    entry = opened("main", listening).store(f"the deploy token is {token}").entry
    assert token not in entry.text
    assert token not in listening.heard
    assert not on_disk(folder, token)


def test_what_cannot_be_an_entry_is_refused_with_the_reason(store: EntryStore) -> None:
    for text, why in [(" \n\0", "is empty"), ("x" * 4001, "4000 characters, not 4001")]:
        with pytest.raises(BadRequest, match=why):
            store.store(text)
    for importance in (-0.1, 1.1, math.nan, math.inf):
        with pytest.raises(BadRequest, match="importance"):
            store.store("The user drinks tea", importance=importance)
    with pytest.raises(BadRequest, match="choose preference, fact, decision, entity, other"):
        store.store("The user drinks tea", category="secret")
    assert store.count() == 0


def test_half_a_surrogate_pair_and_nul_are_cleaned(store: EntryStore) -> None:
    assert store.store("tea \ud83c and\0 milk\r\nevery day ").entry.text == (
        "tea ? and milk\nevery day"
    )
    assert len(store.recall("tea \ud83c milk").results) == 1


# -- models --------------------------------------------------------------------------------------


def test_a_change_of_the_embedder_keeps_the_entries_and_embeds_them_anew(
    opened: Open, folder: Path
) -> None:
    old = opened("main", HashEmbedder(64, model="old"))
    other = opened("guest", HashEmbedder(64, model="old"))
    before = [old.store(f"statement {word} here").entry for word in ("one", "two", "three")]
    other.store("something of theirs")
    new = opened("main", HashEmbedder(128, model="new"))
    assert new.count() == 3
    assert new.recall("statement two").results[0].entry.text == "statement two here"
    assert {entry.model for entry in new.entries()} == {"hash/new/128"}
    assert [replace(entry, model="") for entry in new.entries()] == [
        replace(entry, model="") for entry in before
    ]
    assert [entry.model for entry in other.entries()] == ["hash/old/64"]
    opened("guest", HashEmbedder(128, model="new")).recall("something")
    assert len(list(folder.glob("entries-*.lance"))) == 1, (
        "nobody is left in the old model's table"
    )


def test_entries_that_wait_for_vectors_are_found_by_words_and_can_be_forgotten(
    opened: Open,
) -> None:
    entry = opened("main", HashEmbedder(model="old")).store("The lighthouse keeper is Ada").entry
    broken = opened("main", BrokenEmbedder(EmbedderFailed("broken", "no answer")))
    answer = broken.recall("lighthouse keeper")
    assert [one.entry for one in answer.results] == [entry]
    assert "no answer" in (answer.notice or "")
    assert broken.forget_by("lighthouse keeper").candidates == answer.results, (
        "words are not enough"
    )
    with pytest.raises(EmbedderFailed):
        broken.store("The user drinks tea")
    assert broken.forget(entry.id).entry == entry
    assert broken.count() == 0


class Latin(HashEmbedder):
    """A model that makes the same of whatever it cannot read, as English ones do."""

    def __init__(self) -> None:
        super().__init__(64, model="latin")
        self.facts = replace(self.facts, scripts=frozenset({"latin"}))

    def embed(self, texts, kind):  # type: ignore[no-untyped-def]
        return super().embed([text if self.facts.reads(text) else "?" for text in texts], kind)


def test_a_model_does_not_judge_what_it_cannot_read(opened: Open) -> None:
    store = opened("main", Latin())
    assert store.store("我喜欢喝绿茶").added
    assert store.store("路由器在地下室").added
    assert store.store("The user drinks tea").added
    assert texts(store, "路由器在哪里?") == ["路由器在地下室"]
    assert texts(store, "喝茶") == ["我喜欢喝绿茶"]
    assert texts(store, "who drinks tea") == ["The user drinks tea"]
    assert not store.store("路由器在地下室").added
    assert store.forget_by("地下室").entry is None
    assert store.forget_by("路由器在地下室。").entry is not None
