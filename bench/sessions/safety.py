"""`make bench-safety`: four questions about a session layer, asked of ours and its peers, live.

adopted    Is an id that an attacker chose adopted, so that the victim's log-in makes it valid?
kept       20 parallel writes of different keys into one session, 10 times: how many of the 200 are there?
undead     Log out while a slow request, which only reads, is under way: is the session alive afterwards (of 10)?
visible    Does a Redis key contain the id that the cookie carries?
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import urllib.parse
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import httpx
import redis

from bench.sessions.peers import PEERS, Peer, Running, running
from bench.sessions.servers import free_port, redis_running

ASKED: Final = ("ours", "starsessions", "litestar", "flask-session")
CHOSEN: Final = "attacker-chose-this-id-0123456789"
COOKIE: Final = "sid"
ID_LEAST: Final = 28
"""Characters; every layer asked has longer ids, and what else a cookie carries is shorter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Safety:
    """The answers of one layer."""

    peer: str
    adopted: bool
    kept: int
    undead: int
    visible: bool


def main() -> None:
    """Set up, ask, print."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--json", action="store_true", help="for machines")
    given = words.parse_args()
    peers = [peer for peer in PEERS if peer.name in ASKED]
    for peer in peers:
        peer.set_up()
    answers = [_ask(peer) for peer in peers]
    sys.stdout.write(json.dumps([asdict(one) for one in answers]) + "\n" if given.json else _table(answers))


def _ask(peer: Peer) -> Safety:
    with (
        tempfile.TemporaryDirectory() as folder,
        redis_running() as server,
        running(peer, free_port(), server.url, Path(folder) / "log") as it,
    ):
        return asyncio.run(_answers(it, server.url))


async def _answers(it: Running, redis_url: str) -> Safety:
    url = f"http://127.0.0.1:{it.port}"
    return Safety(
        peer=it.peer.name,
        adopted=await _adopted(url),
        kept=sum([await _kept(url) for _ in range(10)]),
        undead=sum([await _undead(url) for _ in range(10)]),
        visible=await _visible(url, redis_url),
    )


def _browser(url: str, cookie: str | None = None) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=url, timeout=20, cookies={COOKIE: cookie} if cookie else None)


async def _adopted(url: str) -> bool:
    """The victim's browser was given the attacker's cookie; the attacker looks in with it afterwards."""
    async with _browser(url, CHOSEN) as victim:
        await victim.get("/login", params={"user": "victim"})
    async with _browser(url, CHOSEN) as attacker:
        return bool((await attacker.get("/me")).json()["user"] == "victim")


async def _kept(url: str) -> int:
    async with _browser(url) as browser:
        await browser.get("/login", params={"user": "somebody"})
        cookie = browser.cookies[COOKIE]

        async def put(number: int) -> None:
            async with _browser(url, cookie) as tab:
                (await tab.get("/put", params={"key": f"k{number}"})).raise_for_status()

        await asyncio.gather(*(put(number) for number in range(20)))
        return len((await browser.get("/cart")).json())


async def _undead(url: str) -> bool:
    async with _browser(url) as browser:
        await browser.get("/login", params={"user": "somebody"})
        cookie = browser.cookies[COOKIE]
    async with _browser(url, cookie) as slow, _browser(url, cookie) as quick:
        reading = asyncio.create_task(slow.get("/slow"))
        await asyncio.sleep(0.1)  # the slow request has read its session and sleeps 0.3 s
        await quick.get("/logout")
        await reading
    async with _browser(url, cookie) as afterwards:
        return bool((await afterwards.get("/me")).json()["user"])


async def _visible(url: str, redis_url: str) -> bool:
    async with _browser(url) as browser:
        await browser.get("/login", params={"user": "somebody"})
        cookie = urllib.parse.unquote(browser.cookies[COOKIE]).strip('"')
    with redis.Redis.from_url(redis_url, decode_responses=True) as client:
        keys = list(client.scan_iter("*"))
    parts = {cookie, *cookie.split("."), cookie.removeprefix("s:").partition(".")[0]}
    return any(len(part) >= ID_LEAST and part in key for part in parts for key in keys)


def _table(answers: Sequence[Safety]) -> str:
    rows = [f"{'':<16} {'id adopted':>11} {'kept of 200':>12} {'undead of 10':>13} {'id in a Redis key':>18}"]
    for one in answers:
        adopted, visible = ("yes" if told else "no" for told in (one.adopted, one.visible))
        rows.append(f"{one.peer:<16} {adopted:>11} {one.kept:>12} {one.undead:>13} {visible:>18}")
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    main()
