"""When an older token of a session tells that somebody copied it."""

from __future__ import annotations

from app.sessions.jwt_families import GRACE_MS, Presented

MINUTE = 60_000
START = 1_800_000_000_000


def presented(*tokens: tuple[int, int]) -> Presented:
    """What is known once tokens made at one minute were presented at another."""
    known = Presented()
    for made, at in tokens:
        known = known.with_token(START + made * MINUTE, START + at * MINUTE) or known
    return known


def test_while_one_token_is_presented_there_is_no_copy() -> None:
    known = presented((0, 0), (0, 5), (0, 14))
    assert not known.tells_copy(START, START + 14 * MINUTE)


def test_a_token_is_told_for_a_copy_a_grace_after_its_successor_was_presented() -> None:
    known = presented((0, 0), (5, 6))
    assert not known.tells_copy(START, START + 6 * MINUTE + GRACE_MS)
    assert known.tells_copy(START, START + 6 * MINUTE + GRACE_MS + 1)


def test_what_was_settled_stays_so_while_newer_tokens_come() -> None:
    known = presented((0, 0), (5, 6), (9, 9))
    assert known.tells_copy(START, START + 9 * MINUTE)
    assert not known.tells_copy(START + 5 * MINUTE, START + 9 * MINUTE)


def test_a_token_made_within_a_grace_of_the_newest_is_the_browsers_own_for_ever() -> None:
    known = presented((0, 0), (5, 5))
    assert not known.tells_copy(START + 5 * MINUTE - GRACE_MS, START + 14 * MINUTE)
    assert not known.replaced(START + 5 * MINUTE - GRACE_MS)
    assert known.replaced(START)


def test_of_tokens_that_follow_each_other_closely_one_is_written_in_a_grace() -> None:
    known = presented((0, 0))
    assert known.with_token(START + GRACE_MS, START + GRACE_MS) is None
    assert known.with_token(START, START + 2 * GRACE_MS) is None
    assert known.with_token(START + 1, START + 2 * GRACE_MS) is not None


def test_a_successor_counts_at_once_also_when_the_old_token_was_presented_only_just_now() -> None:
    known = presented((0, 5), (5, 5))
    assert known.tells_copy(START, START + 6 * MINUTE + 1)


def test_what_is_stored_is_read_back_and_anything_else_is_nothing() -> None:
    known = presented((0, 0), (5, 6))
    assert Presented.read(known.written().encode()) == known
    for stored in (None, b"", b"1", b"1:2", b"a:b:c", b"1:2:3:4", b"\xff"):
        assert Presented.read(stored) == Presented()
