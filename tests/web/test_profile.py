"""What an account tells of itself: its profile and its addresses, on pages and for programs."""

from __future__ import annotations

import asyncio
import re

import httpx
import pytest

from app.shop.addresses import KEPT_MOST
from tests.web.conftest import BROWSER, Person, World
from tests.web.test_pages import Page, hidden

PLACE = {"name": "Nguyễn Thị Ánh 🧧", "phone": "0912 345 678", "address": "1 Hàng Đào", "province": "Hà Nội"}


async def test_a_profile_is_shown_changed_and_kept(shopper: httpx.AsyncClient, person: Person) -> None:
    page = await shopper.get("/tai-khoan/ho-so")
    assert person.name in page.text
    form = {"name": "  Ánh   Mới ", "phone": "+84 912-345-678", "language": "en"}
    saved = await shopper.post("/tai-khoan/ho-so", data=form)
    assert saved.headers["location"] == "/tai-khoan/ho-so?saved=1"
    told = (await shopper.get("/api/v1/account")).json()
    assert (told["name"], told["phone"], told["language"], told["email"], told["role"]) == (
        "Ánh Mới",
        "+84912345678",
        "en",
        person.email,
        "customer",
    )
    page = await shopper.get(saved.headers["location"])
    assert all(words in page.text for words in ("Đã lưu.", "Ánh Mới", "+84912345678"))
    emptied = await shopper.put("/api/v1/account", json={"name": "Ánh", "phone": "", "language": "vi"})
    assert (emptied.status_code, emptied.json()["phone"]) == (200, "")


@pytest.mark.parametrize(
    ("name", "phone", "language", "field"),
    [
        ("", "", "vi", "name"),
        ("x" * 10_000, "", "vi", "name"),
        ("a\0", "", "vi", "name"),
        ("Ánh", "12", "vi", "phone"),
        ("Ánh", "gọi tôi", "vi", "phone"),
        ("Ánh", "", "fr", "language"),
    ],
)
async def test_what_does_not_do_is_told_and_changes_nothing(
    shopper: httpx.AsyncClient, person: Person, name: str, phone: str, language: str, field: str
) -> None:
    form = {"name": name, "phone": phone, "language": language}
    assert (await shopper.post("/tai-khoan/ho-so", data=form)).status_code == 422
    told = await shopper.put("/api/v1/account", json=form)
    assert (told.status_code, told.json()["errors"][0]["field"]) == (422, field)
    assert (await shopper.get("/api/v1/account")).json()["name"] == person.name


async def listed(shopper: httpx.AsyncClient) -> list[dict[str, object]]:
    items: list[dict[str, object]] = (await shopper.get("/api/v1/addresses")).json()["items"]
    return items


async def test_addresses_are_kept_changed_and_removed_on_pages(shopper: httpx.AsyncClient) -> None:
    assert "Bạn chưa lưu địa chỉ nào." in (await shopper.get("/tai-khoan/dia-chi")).text
    for number in ("1", "2"):
        added = await shopper.post("/tai-khoan/dia-chi", data={**PLACE, "address": f"{number} Hàng Đào"})
        assert added.headers["location"] == "/tai-khoan/dia-chi"
    first, second = await listed(shopper)
    assert (first["address"], first["is_default"], second["is_default"]) == ("1 Hàng Đào", True, False)
    assert first["phone"] == "0912345678"
    page = await shopper.get(f"/tai-khoan/dia-chi/{second['id']}")
    assert 'value="2 Hàng Đào"' in page.text
    await shopper.post(f"/tai-khoan/dia-chi/{second['id']}", data={**PLACE, "default": "1"})
    assert [one["is_default"] for one in await listed(shopper)] == [True, False]
    assert (await listed(shopper))[0]["id"] == second["id"]
    await shopper.post(f"/tai-khoan/dia-chi/{second['id']}", data={"remove": "1"})
    (left,) = await listed(shopper)
    assert (left["id"], left["is_default"]) == (first["id"], True)
    assert (await shopper.get(f"/tai-khoan/dia-chi/{second['id']}")).status_code == 404


async def test_nobody_sees_or_changes_anothers_address(world: World, shopper: httpx.AsyncClient) -> None:
    added = await shopper.post("/api/v1/addresses", json=PLACE)
    path = added.headers["location"]
    other = Person(email="nguoi.khac@khach.example", password="mat-khau-khac", name="Khác")
    await world.shop.register(email=other.email, password=other.password, name=other.name)
    async with world.client() as stranger:
        await stranger.post("/api/v1/session", json=other.credentials)
        assert (await stranger.put(path, json=PLACE)).status_code == 404
        assert (await stranger.delete(path)).status_code == 404
        assert await listed(stranger) == []
    async with world.client() as nobody:
        assert (await nobody.get("/api/v1/addresses")).status_code == 401
    assert len(await listed(shopper)) == 1


async def test_there_is_one_default_and_an_end_whatever_happens_at_once(shopper: httpx.AsyncClient) -> None:
    answers = await asyncio.gather(
        *(shopper.post("/api/v1/addresses", json={**PLACE, "is_default": True}) for _ in range(KEPT_MOST + 5))
    )
    assert sorted(answer.status_code for answer in answers) == [201] * KEPT_MOST + [422] * 5
    kept = await listed(shopper)
    assert [one["is_default"] for one in kept] == [True] + [False] * (KEPT_MOST - 1)
    answers = await asyncio.gather(
        *(shopper.delete(f"/api/v1/addresses/{one['id']}") for one in kept[:10]),
        *(
            shopper.put(f"/api/v1/addresses/{one['id']}", json={**PLACE, "is_default": True})
            for one in kept[5:15]
        ),
    )
    assert {answer.status_code for answer in answers} <= {200, 204, 404}
    assert [one["is_default"] for one in await listed(shopper)].count(True) == 1


@pytest.mark.parametrize("address_id", ["x", "0", "00000000-0000-0000-0000-000000000000", "' OR 1=1 --"])
async def test_what_is_no_address_is_not_found(shopper: httpx.AsyncClient, address_id: str) -> None:
    for answer in (
        await shopper.get(f"/tai-khoan/dia-chi/{address_id}"),
        await shopper.post(f"/tai-khoan/dia-chi/{address_id}", data=PLACE),
        await shopper.put(f"/api/v1/addresses/{address_id}", json=PLACE),
        await shopper.delete(f"/api/v1/addresses/{address_id}"),
    ):
        assert answer.status_code == 404


async def test_the_account_leads_to_all_of_it(shopper: httpx.AsyncClient) -> None:
    page = await shopper.get("/tai-khoan")
    for path in re.findall(r'href="(/tai-khoan/[^"]+)"', page.text):
        assert (await shopper.get(path)).status_code == 200


def delivery(page: str) -> dict[str, str]:
    """What the checkout page says of where the parcel goes."""
    typed = dict(re.findall(r'<input id="(name|phone|address)"[^>]* value="([^"]*)"', page))
    return {**typed, "province": "".join(re.findall(r'<option value="([^"]*)" selected', page))}


async def test_an_order_begins_with_the_usual_address_and_takes_another_at_a_click(
    shopper: httpx.AsyncClient,
) -> None:
    for name, place in (("Ánh", PLACE), ("Mẹ <b>", {**PLACE, "province": "Long An"}), ("Cũ", PLACE)):
        await shopper.post("/tai-khoan/dia-chi", data={**place, "name": name})
    _, second, _ = await listed(shopper)
    await shopper.post("/gio-hang/them", data={"sku": "PHIN-S", "quantity": "1"})
    usual = (await shopper.get("/thanh-toan")).text
    told = {"name": "Ánh", "phone": "0912345678", "address": "1 Hàng Đào", "province": "ha-noi"}
    assert delivery(usual) == told
    assert "Chưa tính phí giao hàng" not in usual
    link = f"/thanh-toan?address={second['id']}"
    assert f'href="{link}"' in usual
    other = (await shopper.get(link)).text
    assert delivery(other) == {**told, "name": "Mẹ &lt;b&gt;", "province": "tay-ninh"}
    Page(other)
    for odd in ("x", "%00", "ﬀ" * 99):
        assert delivery((await shopper.get(f"/thanh-toan?address={odd}")).text) == told
    form = {**hidden(other), **told, "province": "tay-ninh", "payment": "cod", "name": "Người khác"}
    again = await shopper.post("/thanh-toan", data={**form, "phone": "12", "address": ""})
    assert (again.status_code, delivery(again.text)["name"]) == (422, "Người khác")
    assert delivery(again.text)["address"] == "", "what was emptied is not filled in again"
    assert (await shopper.post("/thanh-toan", data=form)).status_code == 303


async def test_nobody_is_shown_the_addresses_of_another(world: World, shopper: httpx.AsyncClient) -> None:
    await shopper.post("/tai-khoan/dia-chi", data={**PLACE, "address": "7 Hàng Kín"})
    (kept,) = await listed(shopper)
    async with world.client(headers=BROWSER) as guest:
        await guest.post("/gio-hang/them", data={"sku": "PHIN-S", "quantity": "1"})
        page = await guest.get(f"/thanh-toan?address={kept['id']}")
        assert (page.status_code, "Hàng Kín" in page.text) == (200, False)
