"""Replicas on a session backend that is changed under shoppers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import httpx

from app.sessions import Sessions
from tests.apps.session_app import CONFIG, KEYS, app_on


class Fleet:
    """Replicas behind a round robin, each replaced on its own."""

    def __init__(self) -> None:
        self._replicas: list[httpx.ASGITransport] = []
        self._made: list[Sessions] = []
        self._next = 0

    async def put(self, at: int, url: str, also_accept: str | None = None) -> None:
        sessions = Sessions.from_url(url, keys=KEYS, config=CONFIG, also_accept=also_accept)
        await sessions.open()
        self._made.append(sessions)
        self._replicas[at : at + 1] = [httpx.ASGITransport(app_on(sessions))]

    async def get(self, path: str, cookies: httpx.Cookies) -> httpx.Response:
        self._next += 1
        transport = self._replicas[self._next % len(self._replicas)]
        async with httpx.AsyncClient(
            transport=transport, base_url="http://shop.example", cookies=cookies
        ) as client:
            answer = await client.get(path)
            cookies.update(client.cookies)
        return answer

    async def close(self) -> None:
        for sessions in self._made:
            await sessions.close()

    async def end_all(self, user: str) -> None:
        await self._made[-1].end_all(user)


@asynccontextmanager
async def fleet(url: str, replicas: int) -> AsyncIterator[Fleet]:
    made = Fleet()
    for at in range(replicas):
        await made.put(at, url)
    try:
        yield made
    finally:
        await made.close()


async def shop(made: Fleet, user: str, stop: asyncio.Event) -> int:
    """Shop until told to stop; returns the number of accepted additions."""
    cookies = httpx.Cookies()
    await made.get(f"/login?user={user}", cookies)
    added = 0
    while True:
        added += (await made.get("/add", cookies)).status_code == 200
        seen = (await made.get("/cart", cookies)).json()
        assert seen == {"user": user, "lines": {"cart:A": added}}
        if stop.is_set():
            return added
        await asyncio.sleep(0)


async def shopped_through(old: str, new: str, *, replicas: int) -> Sequence[int]:
    """What six shoppers added while the replicas learnt of the new backend, then moved to it; none before a heap."""
    async with fleet(old, replicas) as made:
        stop = asyncio.Event()
        shoppers = [asyncio.create_task(shop(made, f"user:{n}", stop)) for n in range(6)]
        for primary, other in ((old, new), (new, old)):
            for at in range(replicas):
                await asyncio.sleep(0.1)
                await made.put(at, primary, other)
            if "memory://" in (old, new):
                break
        await asyncio.sleep(0.1)
        stop.set()
        return await asyncio.gather(*shoppers)


async def back_after(old: str, new: str) -> Sequence[str | None]:
    """Who comes back with a cookie that was logged out, or revoked, before the change, in the midst of it and after."""
    seen = []
    async with fleet(old, 1) as made:
        out, revoked, late = httpx.Cookies(), httpx.Cookies(), httpx.Cookies()
        for cookies, user in ((out, "user:out"), (revoked, "user:revoked"), (late, "user:late")):
            await made.get(f"/login?user={user}", cookies)
        await made.get("/logout", httpx.Cookies(out))
        await made.end_all("user:revoked")
        for primary, other in ((old, new), (new, old)):
            await made.put(0, primary, other)
            seen += [(await made.get("/cart", httpx.Cookies(one))).json()["user"] for one in (out, revoked)]
        await made.end_all("user:late")
        seen.append((await made.get("/cart", late)).json()["user"])
    return seen
