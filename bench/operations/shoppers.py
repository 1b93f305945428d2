"""Shoppers who log in, fill carts and order on kept connections, count every failure, and know what they have."""

from __future__ import annotations

import asyncio
import random
import secrets
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final, NamedTuple

import httpx

_PASSWORD: Final = "mot-mat-khau-du-dai"  # noqa: S105 -- of accounts that end with the measurement
_SHIPPING: Final = {
    "name": "Nguyễn Thị Ánh",
    "phone": "0912345678",
    "address": "12 Hàng Bạc, phường Hàng Bạc, quận Hoàn Kiếm, Hà Nội",
}
# A cart of this size is ordered.
_ORDER_AT: Final = 6
# So that sixteen of them ask for a hundred or two a second: a sale, not a flood.
_PAUSE_S: Final = 0.05


class Served(NamedTuple):
    """An answer: when it was there, from which replica, and after how many seconds."""

    at: float
    by: str
    took_s: float


@dataclass(slots=True)
class Tally:
    """What all shoppers of a measurement saw.

    `refused`: a 4xx, which is the shop's own word; `disconnected`: a connection that ended without an answer.
    """

    answers: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    disconnected: Counter[str] = field(default_factory=Counter)
    slowest_s: float = 0.0
    served: list[Served] = field(default_factory=list)

    def p99_after_its_return(self, name: str, *, for_s: float = 10) -> tuple[float, float]:
        """Seconds that 99 of 100 answers of that replica took after it was away, and of the others meanwhile."""
        at = sorted(one.at for one in self.served if one.by == name)
        _, back = max(pairwise(at), key=lambda gap: gap[1] - gap[0])
        window = [one for one in self.served if back <= one.at < back + for_s]
        return _p99([one for one in window if one.by == name]), _p99(
            [one for one in window if one.by != name]
        )

    @property
    def requests(self) -> int:
        """All that were sent."""
        return self.answers.total() + self.refused.total() + self.failed.total() + self.disconnected.total()


@dataclass(slots=True)
class Shopper:
    """One account on one connection. `expected` is the cart as the answers said it is."""

    client: httpx.AsyncClient
    tally: Tally
    skus: Sequence[str]
    random: random.Random
    expected: Counter[str] = field(default_factory=Counter)
    orders: dict[str, Counter[str]] = field(default_factory=dict)
    unknown: int = 0
    """Writes without an answer that says whether they were done."""

    async def open(self) -> None:
        """Make the account and log in; retried, as this is not what is measured."""
        account = {
            "email": f"bench-{secrets.token_hex(8)}@chopho.example",
            "password": _PASSWORD,
            "name": "Ánh",
        }
        (await self.client.post("/api/v1/accounts", json=account)).raise_for_status()
        logged_in = {"email": account["email"], "password": _PASSWORD}
        (await self.client.post("/api/v1/session", json=logged_in)).raise_for_status()

    async def shop(self, over: threading.Event) -> None:
        """Look, add and order until it is over."""
        while not over.is_set():
            await self._step()
            await asyncio.sleep(_PAUSE_S * self.random.uniform(0.5, 1.5))

    async def _step(self) -> None:
        chance = self.random.random()
        if sum(self.expected.values()) >= _ORDER_AT and chance < 0.3:  # noqa: PLR2004 -- about every tenth request
            await self._order()
        elif chance < 0.35:  # noqa: PLR2004 -- a third of the requests write
            await self._add()
        elif chance < 0.7:  # noqa: PLR2004
            await self.ask("GET", "/api/v1/cart")
        else:
            await self.ask("GET", "/api/v1/products", params={"page_size": "5"})

    async def _add(self) -> None:
        sku = self.random.choice(self.skus)
        answer = await self.ask(
            "POST",
            "/api/v1/cart/items",
            json={"sku": sku, "quantity": 1},
            headers={"Idempotency-Key": secrets.token_hex(8)},
        )
        if answer is None or answer.status_code >= 500:
            self.unknown += 1
        elif answer.is_success:
            self.expected[sku] += 1

    async def _order(self) -> None:
        cart = await self.ask("GET", "/api/v1/cart")
        if cart is None or not cart.is_success:
            return
        key, content = secrets.token_hex(12), Counter(self.expected)
        order = {"expected_total": cart.json()["total"], "payment": {"token": "cod"}, "shipping": _SHIPPING}
        answer = await self.ask("POST", "/api/v1/orders", json=order, headers={"Idempotency-Key": key})
        if answer is None or answer.status_code >= 500:
            # As a shop's own page does: the same key again, until it is known.
            answer = await self._again(key, order)
        if answer is not None and answer.status_code in {200, 201}:
            self.orders[str(answer.json()["id"])] = content
            self.expected.clear()

    async def _again(self, key: str, order: Mapping[str, Any]) -> httpx.Response | None:
        for _ in range(20):
            await asyncio.sleep(0.5)
            answer = await self.ask(
                "POST", "/api/v1/orders", json=order, headers={"Idempotency-Key": key}, counted=False
            )
            if answer is not None and answer.status_code in {200, 201}:
                return answer
        self.unknown += 1
        return None

    async def ask(
        self,
        method: str,
        path: str,
        *,
        counted: bool = True,
        **more: Any,  # noqa: ANN401 -- httpx's own arguments
    ) -> httpx.Response | None:
        """One request, counted; None where the connection ended without an answer."""
        began = time.monotonic()
        try:
            answer = await self.client.request(method, path, **more)
        except httpx.HTTPError as error:
            self.tally.disconnected[f"{method} {type(error).__name__}"] += counted
            return None
        at = time.monotonic()
        self.tally.slowest_s = max(self.tally.slowest_s, at - began)
        self.tally.served.append(Served(at, answer.headers.get("x-served-by", ""), at - began))
        if answer.status_code >= 500:
            self.tally.failed[f"{method} {answer.status_code}"] += counted
        elif answer.status_code >= 400:
            self.tally.refused[f"{method} {answer.status_code}"] += counted
        else:
            self.tally.answers[method] += counted
        return answer

    async def wrong(self) -> list[str]:
        """What the shop says of this shopper that is not so; asked when all is quiet again."""
        found: list[str] = []
        cart = (await self.client.get("/api/v1/cart")).json()
        there = Counter({line["sku"]: line["quantity"] for line in cart["lines"]})
        if not self.unknown and there != self.expected:
            found.append(f"a cart holds {dict(there)} instead of {dict(self.expected)}")
        listed = (await self.client.get("/api/v1/orders", params={"page_size": "50"})).json()
        if listed["total"] != len(self.orders):
            found.append(f"{listed['total']} orders instead of {len(self.orders)}")
        return found


def _p99(served: Sequence[Served]) -> float:
    return sorted(one.took_s for one in served)[int(0.99 * len(served))]
