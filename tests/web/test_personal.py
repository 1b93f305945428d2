"""What the shop knows of a person is handed out to them, and forgotten when they wish it."""

from __future__ import annotations

from datetime import timedelta

import httpx
import psycopg
import pytest
from sqlalchemy.engine import make_url

from tests.web.conftest import BROWSER, Build, Person, World
from tests.web.mailing import delivered
from tests.web.test_pages import ADDRESS, hidden
from tests.web.test_profile import PLACE


async def ordered(shopper: httpx.AsyncClient) -> str:
    await shopper.post("/gio-hang/them", data={"sku": "PHIN-S", "quantity": "1"})
    page = (await shopper.get("/thanh-toan")).text
    answer = await shopper.post("/thanh-toan", data={**hidden(page), **ADDRESS})
    assert answer.status_code == 303, answer.text
    return answer.headers["location"].partition("?")[0].removeprefix("/don-hang/")


def run(world: World, statement: str, *values: str) -> list[tuple[object, ...]]:
    url = make_url(world.database_url).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(url) as connection:
        found = connection.execute(statement.encode(), values)
        return found.fetchall() if found.description else []


def everything(world: World) -> str:
    """All that the database holds, as text."""
    tables = run(world, "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'")
    return "\n".join(str(run(world, f'SELECT t::text FROM "{table}" t')) for (table,) in tables)  # noqa: S608 -- names of our own


async def test_all_of_it_is_handed_out_as_a_file(
    world: World, shopper: httpx.AsyncClient, person: Person
) -> None:
    order_id = await ordered(shopper)
    await shopper.post("/api/v1/addresses", json=PLACE)
    page = await shopper.post("/tai-khoan/du-lieu", data={})
    told = await shopper.get("/api/v1/account/export")
    for answer in (page, told):
        assert answer.status_code == 200
        assert answer.headers["content-disposition"] == 'attachment; filename="chopho-du-lieu.json"'
        assert answer.headers["cache-control"] == "private, no-store"
        data = answer.json()
        assert (data["account"]["email"], data["account"]["name"]) == (person.email, person.name)
        assert [one["address"] for one in data["addresses"]] == ["1 Hàng Đào"]
        assert [one["id"] for one in data["orders"]] == [order_id]
        assert len(data["sessions"]) == 1
    assert "password" not in page.text
    async with world.client() as nobody:
        assert (await nobody.get("/api/v1/account/export")).status_code == 401
        assert (await nobody.delete("/api/v1/account")).status_code == 401


async def test_whoever_is_erased_is_nowhere_any_more_and_their_orders_stay_in_the_books(
    world: World, person: Person
) -> None:
    own = Person(email=f"quen.{person.email}", password="mat-khau-quen", name="Trần Thị Quên Hẳn")
    await world.shop.register(email=own.email, password=own.password, name=own.name)
    async with world.client(headers=BROWSER) as browser, world.client() as other:
        await browser.post("/dang-nhap", data=own.credentials)
        await other.post("/api/v1/session", json=own.credentials)
        place = {**PLACE, "name": own.name, "address": "77 Phố Quên Hẳn", "phone": "0987654321"}
        await browser.post("/api/v1/addresses", json=place)
        await browser.put("/api/v1/account", json={"name": own.name, "phone": "0987654321", "language": "vi"})
        await browser.post("/gio-hang/them", data={"sku": "PHIN-S", "quantity": "1"})
        page = (await browser.get("/thanh-toan")).text
        form = {
            **hidden(page),
            **ADDRESS,
            "name": own.name,
            "phone": "0987654321",
            "address": "77 Phố Quên Hẳn",
            "province": "ha-noi",
        }
        placed = await browser.post("/thanh-toan", data=form)
        assert placed.status_code == 303, placed.text
        order_id = placed.headers["location"].partition("?")[0].removeprefix("/don-hang/")
        refused = await browser.post("/tai-khoan/du-lieu", data={"erase": "1"})
        assert (refused.status_code, "còn đơn hàng" in refused.text) == (409, True)
        run(world, "UPDATE orders SET status = 'delivered' WHERE id = %s", order_id)
        await browser.post("/gio-hang/them", data={"sku": "NON-HUE", "quantity": "1"})
        await browser.post("/api/v1/account/email", json={"email": f"khac.{own.email}"})
        before = run(world, "SELECT total, account_id FROM orders WHERE id = %s", order_id)
        done = await browser.post("/tai-khoan/du-lieu", data={"erase": "1"})
        assert (done.status_code, done.headers["location"]) == (303, "/?erased=1")
        for client in (browser, other):
            assert (await client.get("/api/v1/session")).json()["account"] is None
    letters = [(one.kind, one.recipient) for one, _ in await delivered(world) if own.email in one.recipient]
    assert letters == [("account_erased", own.email)]
    run(world, "DELETE FROM outbox")
    left = everything(world)
    for secret in (own.email, own.name, "0987654321", "Quên Hẳn"):
        assert secret not in left
    assert run(world, "SELECT total, account_id FROM orders WHERE id = %s", order_id) == before
    async with world.client() as api:
        assert (await api.post("/api/v1/session", json=own.credentials)).status_code == 401
        again = await api.post("/api/v1/accounts", json={**own.credentials, "name": "Người mới"})
        assert again.status_code == 201
        await api.post("/api/v1/session", json=own.credentials)
        assert (await api.get("/api/v1/orders")).json()["total"] == 0


async def test_both_ask_for_the_password_again(build_world: Build, person: Person) -> None:
    world = build_world(proof_lasts=timedelta(0))
    async with world.client(headers=BROWSER) as browser:
        await browser.post("/dang-nhap", data=person.credentials)
        world.app.state.proof_lasts = timedelta(seconds=-1)
        asked = await browser.post("/tai-khoan/du-lieu", data={"erase": "1"})
        assert (asked.status_code, 'name="erase" value="1"' in asked.text) == (403, True)
        told = await browser.get("/api/v1/account/export")
        assert (told.status_code, told.json()["code"]) == (403, "proof_needed")
        done = await browser.post("/tai-khoan/du-lieu", data={"erase": "1", "proof": person.password})
        assert done.status_code == 303


@pytest.mark.parametrize("role", ["owner"])
async def test_the_last_owner_stays(world: World, role: str) -> None:
    run(world, "UPDATE accounts SET role = 'customer' WHERE role = 'owner'")
    owner = Person(email=f"{role}@khach.example", password="mat-khau-chu", name="Chủ")
    account = await world.shop.register(email=owner.email, password=owner.password, name=owner.name)
    await world.shop.people.standing.give(account.id, "owner", by=None)
    async with world.client(headers=BROWSER) as browser:
        await browser.post("/dang-nhap", data=owner.credentials)
        assert (await browser.post("/tai-khoan/du-lieu", data={"erase": "1"})).status_code == 409
        assert (await browser.delete("/api/v1/account")).status_code == 409
    run(world, "UPDATE accounts SET role = 'customer' WHERE role = 'owner'")
