"""Shoppers who stay logged in and change their cart, and write down every second what they were told."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import httpx

_PASSWORD: Final = "mật-khẩu-đủ-dài"  # noqa: S105 -- of throw-away accounts
_PAUSE_S: Final = 0.05
_MOST: Final = 5
"""Units of the line that every shopper changes; the sample has more of everything."""
_PATIENCE_S: Final = 15.0


@dataclass
class Tally:
    """What was seen. `seconds` counts answers by second since the start; status 0 is no answer at all.

    `logouts` are answers that no longer knew the shopper.
    """

    seconds: defaultdict[int, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    logouts: int = 0
    slowest_s: float = 0

    @property
    def statuses(self) -> Counter[int]:
        """All answers together."""
        return sum(self.seconds.values(), Counter())

    def first_good_second_after(self, second: int) -> int | None:
        """The first second from then on whose answers were all well, and everything after it too."""
        bad = [
            at
            for at, seen in self.seconds.items()
            if at >= second and any(one >= 500 or not one for one in seen)
        ]
        if not bad:
            return second
        later = [at for at in self.seconds if at > max(bad)]
        return min(later) if later else None


class Shopper:
    """One browser with an account of its own."""

    def __init__(self, url: str, tally: Tally, began: float) -> None:
        self._client = httpx.AsyncClient(base_url=url, timeout=_PATIENCE_S)
        self._tally, self._began = tally, began
        self._sku = ""
        self._wanted = 0
        self._possible: set[int] = set()  # quantities that the cart may have, by what was answered

    async def sign_in(self, sku: str) -> None:
        """Open an account, log in, and put something into the cart."""
        email = f"{secrets.token_hex(8)}@chopho.example"
        account = {"email": email, "password": _PASSWORD, "name": "Khách"}
        (await self._client.post("/api/v1/accounts", json=account)).raise_for_status()
        login = {"email": email, "password": _PASSWORD}
        (await self._client.post("/api/v1/session", json=login)).raise_for_status()
        self._sku = sku
        assert await self._put() == 200  # noqa: S101 -- without a cart there is nothing to measure

    async def shop(self, over: asyncio.Event) -> None:
        """Ask who one is and change the cart, by turns, until it is over."""
        while not over.is_set():
            await self._who_am_i()
            await self._put()
            await asyncio.sleep(_PAUSE_S)

    async def has_lost(self) -> bool:
        """Whether the cart has another quantity than the last that was acknowledged, or asked for since."""
        lines: list[Mapping[str, object]] = (await self._client.get("/api/v1/cart")).json()["lines"]
        return {line["sku"]: line["quantity"] for line in lines}.get(self._sku, 0) not in self._possible

    async def close(self) -> None:
        """Hang up."""
        await self._client.aclose()

    async def _who_am_i(self) -> None:
        answer = await self._ask("GET", "/api/v1/session")
        if answer is not None and answer.status_code == 200 and answer.json()["account"] is None:
            self._tally.logouts += 1

    async def _put(self) -> int:
        self._wanted = self._wanted % _MOST + 1
        answer = await self._ask("PUT", f"/api/v1/cart/items/{self._sku}", json={"quantity": self._wanted})
        done = answer is not None and answer.status_code == 200
        self._possible = {self._wanted} | (set() if done else self._possible)
        return 0 if answer is None else answer.status_code

    async def _ask(self, method: str, path: str, *, json: object = None) -> httpx.Response | None:
        before = time.monotonic()
        try:
            answer = await self._client.request(method, path, json=json)
        except httpx.TransportError:
            answer = None
        after = time.monotonic()
        self._tally.slowest_s = max(self._tally.slowest_s, after - before)
        self._tally.seconds[int(after - self._began)][answer.status_code if answer else 0] += 1
        return answer


class Shoppers:
    """A number of them; ``async with Shoppers(url, 8) as shoppers`` signs them in and lets them shop."""

    def __init__(self, url: str, count: int) -> None:
        self.tally = Tally()
        self._url = url
        self._began = time.monotonic()
        self._over = asyncio.Event()
        self._people = [Shopper(url, self.tally, self._began) for _ in range(count)]

    @property
    def second(self) -> int:
        """Which second it is."""
        return int(time.monotonic() - self._began)

    async def sign_in(self) -> None:
        """All of them, one after the other: hashing a password is meant to be slow."""
        sku = await _sku(self._url)
        for person in self._people:
            await person.sign_in(sku)

    async def shop(self) -> None:
        """Until `end` is called."""
        await asyncio.gather(*(person.shop(self._over) for person in self._people))

    async def end(self) -> int:
        """How many carts are not as their shoppers were told."""
        self._over.set()
        return sum(await asyncio.gather(*(person.has_lost() for person in self._people)))

    async def close(self) -> None:
        """Hang up."""
        for person in self._people:
            await person.close()


async def _sku(url: str) -> str:
    """Of whatever the shop has most of."""
    async with httpx.AsyncClient(base_url=url, timeout=_PATIENCE_S) as client:
        page = (await client.get("/api/v1/products", params={"page_size": 50})).json()
        for item in page["items"]:
            product = (await client.get(f"/api/v1/products/{item['slug']}")).json()
            for variant in product["variants"]:
                if variant["stock"] >= _MOST:
                    return str(variant["sku"])
    raise LookupError("the shop has too little of everything")
