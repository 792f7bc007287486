"""What is kept stays within its limit, and goes when it was not used for the longest time."""

from __future__ import annotations

from notewell.last_values import LastValues


def test_a_value_is_made_once_while_it_is_kept() -> None:
    kept, made = LastValues[str](10), list[str]()

    def get(key: str) -> str:
        def make() -> str:
            made.append(key)
            return key

        return kept.get(key, 4, make)

    assert [get("a"), get("b"), get("a")] == ["a", "b", "a"]
    get("c")  # Does not fit beside both: b was used before a.
    get("a")
    assert made == ["a", "b", "c"]
    get("b")
    assert made == ["a", "b", "c", "b"]


def test_a_value_above_the_limit_is_returned_and_not_kept() -> None:
    kept = LastValues[list[int]](10)
    first = kept.get("a", 11, lambda: [1])
    assert first == [1]
    assert kept.get("a", 11, lambda: [2]) == [2]
