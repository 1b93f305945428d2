"""Vouchers at the desk: made once, shown with their uses, ended at once, and all of it in the log."""

from __future__ import annotations

import asyncio
import secrets

import httpx
import pytest

from tests.web.conftest import BROWSER, World
from tests.web.desk.browsers import browser_of
from tests.web.test_pages import Page

PATH = "/quan-tri/ma-giam-gia"
TERMS = {"do": "add", "kind": "percent", "off": "10", "at_most": "50.000", "minimum": "20000", "limit": "3"}


def code() -> str:
    return f"TET-{secrets.token_hex(4).upper()}"


async def send(owner: httpx.AsyncClient, **fields: str) -> httpx.Response:
    return await owner.post(PATH, data={"nonce": secrets.token_urlsafe(16), **fields})


def row(page: str, name: str) -> str:
    return page.split(f'<tr id="ma-{name}">')[1].split("</tr>", maxsplit=1)[0]


async def quoted(world: World, voucher: str) -> httpx.Response:
    """What a shopper is told of a cart of 70,000 đồng with it."""
    async with world.client() as shopper:
        await shopper.post("/api/v1/cart/items", json={"sku": "PHIN-S", "quantity": 2})
        return await shopper.post("/api/v1/cart/quote", json={"voucher": voucher})


async def test_a_voucher_is_made_used_and_ended(world: World, owner: httpx.AsyncClient) -> None:
    name = code()
    made = await send(owner, **TERMS, code=f" {name.lower()} ", until="2199-12-30")
    assert (made.status_code, made.headers["location"]) == (303, f"{PATH}?done=1")
    shown = (await owner.get(made.headers["location"])).text
    Page(shown)
    assert all(words in row(shown, name) for words in ("10 %", "50.000", "20.000", "0/3", "31/12/2199"))
    assert (await quoted(world, name)).json()["discount"] == 7_000
    ended = await send(owner, do="end", ended=name)
    assert ended.status_code == 303
    assert "Đã kết thúc" in row((await owner.get(PATH)).text, name)
    assert (await quoted(world, name)).json()["errors"][0]["code"] == "voucher_ended"
    assert (await send(owner, do="end", ended=name)).status_code == 303, "it stays ended"
    log = (await owner.get(f"/quan-tri/nhat-ky?subject=voucher {name}")).text
    assert (log.count("voucher.add"), log.count("voucher.end")) == (1, 1)


async def test_a_form_sent_ten_times_makes_one_voucher_and_leads_to_it(owner: httpx.AsyncClient) -> None:
    name = code()
    sent = {**TERMS, "code": name, "nonce": secrets.token_urlsafe(16)}
    answers = await asyncio.gather(*(owner.post(PATH, data=sent) for _ in range(10)))
    assert {answer.status_code for answer in answers} == {303}
    assert {answer.headers["location"] for answer in answers} == {f"{PATH}?done=1", f"{PATH}#ma-{name}"}
    assert (await owner.get(PATH)).text.count(f'id="ma-{name}"') == 1
    taken = await send(owner, **{**TERMS, "kind": "amount", "at_most": "", "code": name})
    assert (taken.status_code, "Đã có mã này" in taken.text) == (422, True)
    assert "10 %" in row((await owner.get(PATH)).text, name)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"code": "tết"}, "không dấu"),
        ({"code": "x\0y"}, "không dấu"),
        ({"off": "0"}, "từ 1 đến 100"),
        ({"off": "101"}, "từ 1 đến 100"),
        ({"kind": "amount", "off": "1000000000001", "at_most": ""}, "lớn nhất là 1.000.000.000.000"),
        ({"kind": "amount", "off": "9" * 40, "at_most": ""}, "lớn nhất là 1.000.000.000.000"),
        ({"at_most": "9" * 17}, "lớn nhất là 1.000.000.000.000"),
        ({"minimum": "1.000.000.000.001"}, "lớn nhất là 1.000.000.000.000"),
        ({"kind": "amount", "off": "0", "at_most": ""}, "số đồng nguyên"),
        ({"kind": "amount"}, "theo phần trăm mới"),
        ({"kind": "gold"}, "chưa đúng"),
        ({"at_most": "0"}, "số đồng nguyên"),
        ({"minimum": "-1"}, "số đồng nguyên"),
        ({"until": "2020-01-01"}, "Ngày cuối"),
        ({"since": "2199-12-31", "until": "2199-12-30"}, "Ngày cuối"),
        ({"since": "31/12/2026"}, "2026-11-30"),
        ({"limit": "0"}, "số nguyên dương"),
        ({"limit_each": "٣"}, "số nguyên dương"),
        ({"do": "drop"}, "chưa đúng"),
    ],
)
async def test_what_is_no_voucher_is_shown_again_with_the_reason(
    owner: httpx.AsyncClient, fields: dict[str, str], words: str
) -> None:
    name = code()
    answer = await send(owner, **{**TERMS, "code": name, **fields})
    assert (answer.status_code, words in answer.text) == (422, True), answer.text
    assert f'value="{fields.get("limit", "3")}"' in answer.text, "what was typed stays"
    assert name not in (await owner.get(PATH)).text


async def test_what_does_not_exist_cannot_be_ended(owner: httpx.AsyncClient) -> None:
    assert (await send(owner, do="end", ended=code())).status_code == 404
    assert (await send(owner, do="end", ended="?")).status_code == 422
    assert (await owner.get(f"{PATH}?page=x")).status_code == 422


async def test_the_page_speaks_english_too(owner: httpx.AsyncClient) -> None:
    await owner.post("/ngon-ngu", data={"language": "en"})
    shown = await send(owner, **TERMS, code="?")
    assert all(words in shown.text for words in ("Add a voucher", "A code has 3 to 32 plain letters"))


@pytest.mark.parametrize("role", ["customer", "operator"])
async def test_nobody_but_the_owner_makes_or_ends_vouchers(
    world: World, owner: httpx.AsyncClient, role: str
) -> None:
    name = code()
    async with browser_of(world, role) as browser:  # type: ignore[arg-type] # both are roles
        assert (await browser.get(PATH)).status_code == 403
        assert (await send(browser, **TERMS, code=name)).status_code == 403
    async with world.client(headers=BROWSER) as visitor:
        assert (await visitor.get(PATH)).status_code == 303
    assert name not in (await owner.get(PATH)).text
