"""Hashing never holds up anything else, and never queues without end."""

from __future__ import annotations

import asyncio
import time

import pytest

from app.shop.errors import Unavailable
from app.stores.passwords import ArgonPasswords, PasswordConfig

FAST = PasswordConfig(memory_kib=64, passes=1)


async def test_a_password_belongs_to_its_hash_only() -> None:
    passwords = ArgonPasswords(FAST)
    hashed = await passwords.hash("mật khẩu 🧧")
    assert hashed.startswith("$argon2id$")
    assert await passwords.verify("mật khẩu 🧧", hashed)
    assert not await passwords.verify("mật khẩu", hashed)


@pytest.mark.parametrize("hashed", [None, "", "not a hash", "$argon2id$broken"])
async def test_without_a_usable_hash_no_password_is_right(hashed: str | None) -> None:
    assert not await ArgonPasswords(FAST).verify("anything", hashed)


async def test_a_nul_and_a_long_passphrase_count_in_full() -> None:
    passwords = ArgonPasswords(FAST)
    hashed = await passwords.hash("a\0" + "b" * 200)
    assert not await passwords.verify("a\0" + "b" * 199, hashed)


async def test_an_unknown_account_costs_a_hash_as_well() -> None:
    passwords = ArgonPasswords(PasswordConfig())
    hashed = await passwords.hash("mật khẩu")
    known = await cost_s(passwords, hashed)
    unknown = await cost_s(passwords, None)
    assert 0.2 < unknown / known < 5  # without a hash it would be a thousandth


async def cost_s(passwords: ArgonPasswords, hashed: str | None) -> float:
    began = time.process_time()
    for _ in range(3):
        await passwords.verify("anything", hashed)
    return time.process_time() - began


async def test_a_weaker_hash_is_outdated() -> None:
    hashed = await ArgonPasswords(FAST).hash("mật khẩu")
    assert ArgonPasswords(PasswordConfig(memory_kib=64, passes=2)).outdated(hashed)
    assert not ArgonPasswords(FAST).outdated(hashed)


async def test_past_the_queue_it_is_unavailable_at_once_and_the_loop_keeps_turning() -> None:
    passwords = ArgonPasswords(PasswordConfig(memory_kib=8192, passes=2, threads=1, queue=3))
    hashing = asyncio.gather(*(passwords.hash("x") for _ in range(20)), return_exceptions=True)
    turns = 0
    while not hashing.done():
        await asyncio.sleep(0)
        turns += 1
    outcomes = await hashing
    assert sum(isinstance(each, str) for each in outcomes) == 4
    assert sum(isinstance(each, Unavailable) for each in outcomes) == 16
    assert turns > 20


async def test_whoever_leaves_the_queue_gives_the_place_back() -> None:
    passwords = ArgonPasswords(PasswordConfig(memory_kib=8192, passes=2, threads=1, queue=2))
    waiting = [asyncio.create_task(passwords.hash("x")) for _ in range(3)]
    await asyncio.sleep(0)
    for task in waiting[1:]:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert await passwords.hash("x")
