from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.observability.lines import line

HOSTILE = (
    'line\nbreak\r\n{"level":"forged"}',
    "\x1b[2J\x1b[31mred\x07",
    "\x9b31m one byte escape",
    "\x7f\x08\x08erased",
    "a\u202egnp.exe",
    "a\u2028b\u2029c\u0085d",
    "zero\u200bwidth\ufeff",
    "tag\U000e0041\U000e0042",
    "\ud800 half a pair",
    "\x00nul",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_whatever_a_text_holds_it_stays_one_line_that_says_the_same(text: str) -> None:
    encoded = line({"message": text})

    assert encoded.endswith(b"\n")
    assert encoded.count(b"\n") == 1
    assert json.loads(encoded)["message"] == text
    shown = encoded.decode().rstrip("\n")
    assert shown.isprintable()


@given(st.text())
def test_every_text_comes_back_as_it_was_and_splits_no_line(text: str) -> None:
    encoded = line({"message": text})

    assert len(encoded.decode().splitlines()) == 1
    assert json.loads(encoded) == {"message": text}


def test_numbers_too_large_for_the_fast_encoder_are_written_too() -> None:
    assert json.loads(line({"count": 2**70})) == {"count": 2**70}


def test_vietnamese_stays_readable() -> None:
    assert line({"message": "Chợ Phố"}) == '{"message":"Chợ Phố"}\n'.encode()
