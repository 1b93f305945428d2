"""What people type is kept whole; what nothing should see is refused."""

from __future__ import annotations

import unicodedata

import pytest

from app.shop.errors import Invalid
from app.shop.text import clean, storable


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("  Nguyễn   Thị\tÁnh\r\n", "Nguyễn Thị Ánh"),
        (unicodedata.normalize("NFD", "Đường Hoà"), "Đường Hoà"),
        ("Tết 🧧 👨‍👩‍👧", "Tết 🧧 👨‍👩‍👧"),
        ("new emoji \U0001fae9", "new emoji \U0001fae9"),
    ],
)
def test_text_is_kept_in_one_form(typed: str, kept: str) -> None:
    assert clean("name", typed, most=100) == kept


@pytest.mark.parametrize(
    "char",
    ["\0", "\x1b", "\x7f", "\x85", "\ud800", "\ufffe", "\U0001ffff", "\ufdd0", "\u202e", "\u2066"],
)
def test_what_is_not_text_is_refused(char: str) -> None:
    with pytest.raises(Invalid) as refused:
        clean("name", f"An{char}h", most=100)
    assert (refused.value.field, refused.value.code) == ("name", "not_text")


@pytest.mark.parametrize("empty", ["", "   ", "\n\t", "\u200b", "\u2060 \u200d", "\u00a0"])
def test_text_that_nobody_can_see_is_missing(empty: str) -> None:
    with pytest.raises(Invalid) as refused:
        clean("name", empty, most=100)
    assert refused.value.code == "missing"


def test_the_limit_counts_characters_as_kept() -> None:
    word = unicodedata.normalize("NFD", "ộ" * 100)
    assert len(clean("name", word, most=100)) == 100
    for long in ("x" * 101, word + "x", "x" * 10_000_000):
        with pytest.raises(Invalid) as refused:
            clean("name", long, most=100)
        assert refused.value.code == "too_long"


def test_nothing_may_be_allowed() -> None:
    assert clean("note", "  ", most=10, least=0) == ""


@pytest.mark.parametrize("text", ["a\0", "\ud800", "x" * 1001])
def test_what_a_database_cannot_hold(text: str) -> None:
    assert storable("Đường 🧧' OR %")
    assert not storable(text)
