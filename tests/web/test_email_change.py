"""Another e-mail counts once a link that went there is opened by whoever is logged in, and by nobody else."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import httpx

from tests.web.conftest import BROWSER, Person, World
from tests.web.mailing import delivered, link_in


async def asked(world: World, shopper: httpx.AsyncClient, email: str) -> tuple[str, str]:
    """The kind of the mail to the new address, and the path of its link, "" where it has none."""
    sent = await shopper.post("/tai-khoan/e-mail", data={"email": email})
    assert sent.status_code == 303
    ((kind, text),) = [
        (message.kind, text) for message, text in await delivered(world) if message.recipient == email
    ]
    return kind, link_in(text) if "token=" in text else ""


def token_of(path: str) -> str:
    return parse_qs(urlsplit(path).query)["token"][0]


async def test_the_new_address_counts_once_its_link_was_opened(
    world: World, shopper: httpx.AsyncClient, person: Person
) -> None:
    new = f"moi.{person.email}"
    kind, link = await asked(world, shopper, new)
    assert kind == "email_confirm"
    assert (await shopper.get(link)).status_code == 200
    assert (await shopper.get("/api/v1/account")).json()["email"] == person.email, "a scanner changes nothing"
    done = await shopper.post("/tai-khoan/e-mail/xac-nhan", data={"token": token_of(link)})
    assert (done.status_code, done.headers["location"]) == (303, "/tai-khoan/e-mail?changed=1")
    assert "E-mail của bạn đã đổi." in (await shopper.get(done.headers["location"])).text
    assert (await shopper.get("/api/v1/account")).json()["email"] == new
    ((message, _),) = await delivered(world)
    assert (message.kind, message.recipient) == ("email_changed", person.email)
    again = await shopper.post("/tai-khoan/e-mail/xac-nhan", data={"token": token_of(link)})
    assert again.status_code == 410
    async with world.client() as api:
        old = await api.post("/api/v1/session", json=person.credentials)
        now = await api.post("/api/v1/session", json={"email": new, "password": person.password})
    assert (old.status_code, now.status_code) == (401, 200)


async def test_a_link_at_a_mistyped_address_gives_the_account_to_nobody(
    world: World, shopper: httpx.AsyncClient, person: Person
) -> None:
    _, link = await asked(world, shopper, f"nham.{person.email}")
    stranger = Person(email=f"la.{person.email}", password="mat-khau-la", name="Lạ")
    await world.shop.register(email=stranger.email, password=stranger.password, name=stranger.name)
    async with world.client(headers=BROWSER) as other:
        outside = await other.post("/tai-khoan/e-mail/xac-nhan", data={"token": token_of(link)})
        assert outside.headers["location"].startswith("/dang-nhap")
        await other.post("/dang-nhap", data=stranger.credentials)
        inside = await other.post("/tai-khoan/e-mail/xac-nhan", data={"token": token_of(link)})
        assert inside.status_code == 410
    assert (await shopper.get("/api/v1/account")).json()["email"] == person.email


async def test_an_address_of_another_account_is_told_to_its_holder_alone(
    world: World, shopper: httpx.AsyncClient, person: Person
) -> None:
    other = f"khac.{person.email}"
    await world.shop.register(email=other, password="mat-khau-khac", name="Khác")
    await delivered(world)
    assert (await asked(world, shopper, other)) == ("email_in_use", "")


async def test_an_address_that_was_taken_meanwhile_stays_whose_it_is(
    world: World, shopper: httpx.AsyncClient, person: Person
) -> None:
    new = f"nhanh.{person.email}"
    _, link = await asked(world, shopper, new)
    await world.shop.register(email=new.upper(), password="mat-khau-nhanh", name="Nhanh")
    late = await shopper.post("/tai-khoan/e-mail/xac-nhan", data={"token": token_of(link)})
    assert late.status_code == 409
    assert (await shopper.get("/api/v1/account")).json()["email"] == person.email


async def test_a_later_wish_voids_the_earlier_link_and_a_reset_dies_with_the_address(
    world: World, shopper: httpx.AsyncClient, person: Person
) -> None:
    _, first = await asked(world, shopper, f"mot.{person.email}")
    _, second = await asked(world, shopper, f"hai.{person.email}")
    assert (
        await shopper.post("/tai-khoan/e-mail/xac-nhan", data={"token": token_of(first)})
    ).status_code == 410
    async with world.client() as api:
        await api.post("/api/v1/password/forgotten", json={"email": person.email})
        ((_, text),) = [one for one in await delivered(world) if one[0].kind == "password_reset"]
        assert (
            await shopper.post("/tai-khoan/e-mail/xac-nhan", data={"token": token_of(second)})
        ).status_code == 303
        reset = {"token": token_of(link_in(text)), "new": "mat-khau-cua-ke-khac"}
        assert (await api.post("/api/v1/password/reset", json=reset)).status_code == 410
