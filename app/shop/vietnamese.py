"""Vietnamese text as people search and sort it: without case and marks, and in the order of the alphabet."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

_LOOK_ALIKES: Final = str.maketrans(
    {"đ": "d", "ð": "d", "ı": "i", "’": "'", "‘": "'", "ʼ": "'", "＇": "'", "₫": " "}
)
"""Letters that no decomposition takes apart (ð is what some keyboards give for đ), and one kind of apostrophe."""

_SLUG_BREAKS: Final = re.compile(r"[^a-z0-9]+", re.ASCII)


def folded(text: str) -> str:
    """The text without case, marks, đ and double blanks: ``Đường  HOÀ`` and ``duong hoa`` become one."""
    if text.isascii():
        return " ".join(text.lower().split())
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    bare = "".join(char for char in apart if not unicodedata.combining(char))
    return " ".join(bare.translate(_LOOK_ALIKES).split())


def slugged(text: str) -> str:
    """The text as a path segment: ``Cà phê – Trà`` becomes ``ca-phe-tra``; empty when nothing is left."""
    return _SLUG_BREAKS.sub("-", folded(text)).strip("-")


def words(text: str) -> Sequence[str]:
    """What a search index keeps of a text: runs of letters and digits, and each other sign on its own.

    Signs that only separate (blanks, commas, dashes, brackets) are left out; ``%``, ``_`` and ``'`` are
    kept, so that looking for them finds them and nothing else.
    """
    found: list[str] = []
    run: list[str] = []
    for char in f"{folded(text)} ":
        if char.isalnum():
            run.append(char)
            continue
        if run:
            found.append("".join(run))
            run.clear()
        if not _separates(char):
            found.append(char)
    return found


def _separates(char: str) -> bool:
    return char in '.,;:!?"' or unicodedata.category(char) in {
        "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co", "Cn", "Mn", "Mc", "Me", "Pd", "Ps", "Pe", "Pi", "Pf",
    }  # fmt: skip


_ALPHABET: Final = [
    "a",
    "ă",
    "â",
    "b",
    "c",
    "d",
    "đ",
    "e",
    "ê",
    "f",
    "g",
    "h",
    "i",
    "j",
    "k",
    "l",
    "m",
    "n",
    "o",
    "ô",
    "ơ",
    "p",
    "q",
    "r",
    "s",
    "t",
    "u",
    "ư",
    "v",
    "w",
    "x",
    "y",
    "z",
]
_PRIMARY: Final = {letter: chr(0x41 + rank) for rank, letter in enumerate(_ALPHABET)}
_TONES: Final = {"\u0300": "1", "\u0309": "2", "\u0303": "3", "\u0301": "4", "\u0323": "5"}
"""The order of the dictionaries: level, huyền, hỏi, ngã, sắc, nặng."""

_BREVE, _CIRCUMFLEX, _HORN = "\u0306", "\u0302", "\u031b"
_OF_A_LETTER: Final = {
    ("a", _BREVE): "ă",
    ("a", _CIRCUMFLEX): "â",
    ("e", _CIRCUMFLEX): "ê",
    ("o", _CIRCUMFLEX): "ô",
    ("o", _HORN): "ơ",
    ("u", _HORN): "ư",
}
_LEVEL: Final = "\x01"
"""Lower than every weight, so that a shorter word comes before its continuation."""


def collation_key(text: str) -> str:
    """A key that sorts code point by code point as Vietnamese names sort.

    First the letters of the alphabet (a ă â b c d đ e ê …; blanks before digits before letters, foreign
    letters last), then the tones, then small before capital, then the text itself.
    """
    letters, tones, cases = [], [], []
    for letter, marks, capital in _letters(text):
        letters.append(_weight(letter))
        tones.append(_tone(marks))
        cases.append("1" if capital else "0")
    own = unicodedata.normalize("NFC", text).replace("\x00", "")
    return _LEVEL.join(("".join(letters), "".join(tones).rstrip("0"), "".join(cases).rstrip("0"), own))


def _letters(text: str) -> Sequence[tuple[str, str, bool]]:
    """Each letter in small, the marks that are not part of it, and whether it was a capital."""
    found: list[tuple[str, str, bool]] = []
    for char in " ".join(unicodedata.normalize("NFKD", text).split()):
        if not unicodedata.combining(char):
            found += [(small, "", small != char) for small in char.casefold().translate({0xF0: "đ"})]
        elif found:
            letter, marks, capital = found[-1]
            whole = _OF_A_LETTER.get((letter, char))
            found[-1] = (whole, marks, capital) if whole else (letter, marks + char, capital)
    return found


def _weight(letter: str) -> str:
    if letter in _PRIMARY:
        return _PRIMARY[letter]
    if letter.isascii() and letter.isdigit():
        return letter
    return f"~{letter}" if letter.isalnum() else " "


def _tone(marks: str) -> str:
    """One sign per letter: its tone, or 6 for a mark that is none."""
    return next((_TONES[mark] for mark in marks if mark in _TONES), "6" if marks else "0")
