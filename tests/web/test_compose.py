"""One call for what the services say of a product, side by side or one after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from app.shop.catalog import ProductSummary
from app.shop.degradation import TABLE, Helpful
from app.shop.errors import Unavailable
from app.shop.inventory import Stock
from app.shop.product_page import ShowProduct
from app.shop.reviews import ReviewsPage
from tests.web.conftest import World

PATH = "/api/compose/product"


class Services:
    """Three that answer nothing in particular, and how many are asked at a time."""

    def __init__(self, *broken: str) -> None:
        self.order: list[str] = []
        self.most_at_once = 0
        self._broken = broken
        self._asked = 0

    async def _ask(self, name: str) -> None:
        self.order.append(name)
        self._asked += 1
        self.most_at_once = max(self.most_at_once, self._asked)
        for _ in range(10):
            await asyncio.sleep(0)
        self._asked -= 1
        if name in self._broken:
            raise Unavailable(name)

    async def reviews(self, _slug: str) -> ReviewsPage:
        await self._ask("reviews")
        return ReviewsPage(items=[], total=0, page=1, page_size=10, average=None)

    async def beside(self, _slug: str) -> Sequence[ProductSummary]:
        await self._ask("recommendations")
        return []

    async def stock(self, _slug: str) -> Stock:
        await self._ask("inventory")
        raise Unavailable("inventory")

    def of(self, world: World) -> World:
        """The shop with these."""
        show = ShowProduct(
            catalog=world.shop.catalog,
            reviews=Helpful(policy=TABLE["reviews"], ask=self.reviews),
            recommendations=Helpful(policy=TABLE["recommendations"], ask=self.beside),
            inventory=Helpful(policy=TABLE["inventory"], ask=self.stock),
        )
        world.app.state.shop = replace(world.shop, show_product=show)
        return world


async def composed(world: World, query: str = "", slug: str | None = None) -> Any:
    async with world.client() as client:
        slug = slug or (await client.get("/api/v1/products?page_size=1")).json()["items"][0]["slug"]
        return await client.get(f"{PATH}/{slug}{query}")


@pytest.mark.parametrize(("query", "at_once"), [("", 3), ("?mode=parallel", 3), ("?mode=sequential", 1)])
async def test_the_services_are_asked_as_was_wished_and_one_failure_loses_no_other(
    world: World, query: str, at_once: int
) -> None:
    services = Services()
    answer = await composed(services.of(world), query)
    assert answer.status_code == 200
    assert services.order == ["reviews", "recommendations", "inventory"]
    assert services.most_at_once == at_once
    assert answer.json()["reviews"]["total"] == 0
    assert (answer.json()["degraded"], answer.headers["x-degraded"]) == (["inventory"], "inventory")


async def test_with_every_service_away_the_product_is_still_there(world: World) -> None:
    answer = await composed(Services("reviews", "recommendations").of(world))
    assert answer.status_code == 200
    assert answer.json()["variants"]
    assert set(answer.json()["degraded"]) == {"reviews", "recommendations", "inventory"}


async def test_what_does_not_exist_is_said(world: World) -> None:
    assert (await composed(world, slug="none-such")).status_code == 404
    assert (await composed(world, "?mode=sideways")).json()["code"] == "invalid"
