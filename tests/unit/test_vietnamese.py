"""Vietnamese text: found however it is typed, sorted as the dictionary does."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.shop.vietnamese import collation_key, folded, slugged, words

nfd = unicodedata.normalize("NFD", "đường")


@pytest.mark.parametrize(
    "typed", ["duong", "ĐƯỜNG", "đường", nfd, nfd.upper(), "Đuờng", "Ðường", "ｄｕｏｎｇ"]
)
def test_however_it_is_typed_it_is_the_same_word(typed: str) -> None:
    assert folded(typed) == "duong"


@pytest.mark.parametrize("typed", ["ca phe", "cà phê", "CÀ PHÊ", unicodedata.normalize("NFD", "cà phê")])
def test_coffee_is_found_in_every_spelling(typed: str) -> None:
    assert words(typed) == ["ca", "phe"]


def test_old_and_new_tone_placement_are_one() -> None:
    assert folded("hoà") == folded("hòa") == "hoa"


def test_marks_in_either_order_are_one() -> None:
    assert folded("e\u0302\u0323") == folded("e\u0323\u0302") == folded("ệ") == "e"


def test_wildcards_and_apostrophes_are_words_of_their_own() -> None:
    assert words("Giảm 50%_ l'a") == ["giam", "50", "%", "_", "l", "'", "a"]
    assert words("l’a") == words("l'a")


def test_separators_are_no_words() -> None:
    assert words("Áo-thun, (cỡ M) – 'Tết'…") == ["ao", "thun", "co", "m", "'", "tet", "'"]


def test_an_emoji_is_a_word() -> None:
    assert words("Phở 🍜") == ["pho", "🍜"]


def test_a_slug_has_no_marks() -> None:
    assert slugged(" Cà phê – Trà & Đường! ") == "ca-phe-tra-duong"


def test_names_sort_as_in_the_alphabet() -> None:
    names = ["Ếch", "Đá", "Dưa", "Ăn", "Áo", "Ấm", "Dế", "Em", "Đũa", "Bàn", "Ổi", "Ơn", "Oản", "Ưa", "Ủng"]
    assert sorted(names, key=collation_key) == [
        "Áo", "Ăn", "Ấm", "Bàn", "Dế", "Dưa", "Đá", "Đũa", "Em", "Ếch", "Oản", "Ổi", "Ơn", "Ủng", "Ưa",
    ]  # fmt: skip


def test_tones_only_decide_between_the_same_letters() -> None:
    assert sorted(["mạ", "má", "mã", "mả", "mà", "ma", "mả lớn", "mai"], key=collation_key) == [
        "ma", "mà", "mả", "mã", "má", "mạ", "mả lớn", "mai",
    ]  # fmt: skip


def test_blanks_come_before_digits_before_letters_before_foreign_letters() -> None:
    names = ["Áo", "Á", "9 món", "Á đông", "Я", "A1"]
    assert sorted(names, key=collation_key) == ["9 món", "Á", "Á đông", "A1", "Áo", "Я"]


def test_a_small_letter_comes_before_its_capital() -> None:
    assert collation_key("trà") < collation_key("Trà") < collation_key("trả")


@given(st.text(max_size=50))
def test_one_text_in_two_unicode_forms_has_one_key(text: str) -> None:
    apart, together = unicodedata.normalize("NFD", text), unicodedata.normalize("NFC", text)
    assert collation_key(apart) == collation_key(together)
    assert words(apart) == words(together)


@given(st.text(max_size=50))
def test_a_folded_text_folds_to_itself(text: str) -> None:
    assert folded(folded(text)) == folded(text)
    assert " ".join(words(" ".join(words(text)))) == " ".join(words(text))


@given(st.text(max_size=30), st.text(max_size=30))
def test_the_key_sorts_in_bytes_as_in_code_points(one: str, other: str) -> None:
    first, second = collation_key(one), collation_key(other)
    encoded = [key.encode(errors="surrogatepass") for key in (first, second)]
    assert (first < second) == (encoded[0] < encoded[1])
    assert "\0" not in first
