"""The owner's desk as a browser uses it: for the owner alone, without a script, once per form."""

from __future__ import annotations

import asyncio
import secrets
from html import unescape
from urllib.parse import quote

import httpx
import pytest
from sqlalchemy import text

from tests.web.conftest import BROWSER, Build, World
from tests.web.desk.browsers import browser_of, form
from tests.web.test_hostile_input import TEXTS
from tests.web.test_pages import Page

PAGES = ["", "/san-pham", "/san-pham/moi", "/san-pham/phin-nhom-ca-phe", "/kho/PHIN-S", "/nhat-ky"]
DRAFT = {
    "name": "",
    "category": "Thử",
    "vendor": "",
    "tags": "",
    "body": "<b>Ngon</b>",
    "visibility": "visible",
    "options": "",
}


async def new_product(owner: httpx.AsyncClient, **more: str) -> str:
    """The path of a new product at the desk."""
    page = (await owner.get("/quan-tri/san-pham/moi")).text
    told = {**DRAFT, "name": f"Món {secrets.token_hex(4)}", **more}
    answer = await owner.post("/quan-tri/san-pham/moi", data={**form(page, "create"), **told})
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


async def with_variant(owner: httpx.AsyncClient) -> tuple[str, str]:
    """A new product that can be bought once there is some: its path and its SKU."""
    path, sku = await new_product(owner), secrets.token_hex(5)
    fields = form((await owner.get(path)).text, "add-variant")
    answer = await owner.post(path, data={**fields, "sku": sku, "price": "120.000"})
    assert answer.status_code == 303, answer.text
    return path, sku


@pytest.mark.parametrize("role", ["customer", "operator"])
async def test_nobody_but_the_owner_sits_at_the_desk(world: World, role: str) -> None:
    async with browser_of(world, role) as browser:  # type: ignore[arg-type] # both are roles
        for path in PAGES:
            answer = await browser.get(f"/quan-tri{path}")
            assert answer.status_code == 403, path
            assert "không được phép làm việc này" in answer.text
        answer = await browser.post("/quan-tri/kho/PHIN-S", data={"quantity": "5", "nonce": "n" * 20})
        assert answer.status_code == 403
        assert "/quan-tri" not in (await browser.get("/tai-khoan")).text


async def test_a_visitor_is_asked_to_log_in_and_led_back(browser: httpx.AsyncClient) -> None:
    answer = await browser.get("/quan-tri/san-pham?q=trà")
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/dang-nhap?next=%2Fquan-tri%2Fsan-pham%3Fq")


async def test_an_owner_who_is_none_any_more_is_out_at_the_next_click(
    world: World, owner: httpx.AsyncClient
) -> None:
    path, _ = await with_variant(owner)
    fields = form((await owner.get(path)).text, "delete")
    await world.database.maintain(text("UPDATE accounts SET role = 'customer' WHERE role = 'owner'"))
    assert (await owner.post(path, data=fields)).status_code == 403
    assert (await owner.get("/quan-tri")).status_code == 403


async def test_every_page_of_the_desk_is_well_formed_and_kept_by_nobody(owner: httpx.AsyncClient) -> None:
    path, sku = await with_variant(owner)
    assert "/quan-tri" in (await owner.get("/tai-khoan")).text
    for each in (*(f"/quan-tri{page}" for page in PAGES), path, f"/quan-tri/kho/{sku}"):
        answer = await owner.get(each)
        assert answer.status_code == 200, each
        assert answer.headers["cache-control"] == "private, no-store"
        page = Page(answer.text)
        assert page.headings == 1, each
        assert len(page.ids) == len(set(page.ids)), each
        for field in page.inputs:
            assert field.get("id") in page.labels, (each, field)
        for sent, fields in zip(page.forms, page.fields, strict=True):
            assert sent["method"] == "get" or "nonce" in fields, (each, sent)


async def test_a_variant_weighs_what_its_form_says_and_the_log_tells_it(owner: httpx.AsyncClient) -> None:
    path, sku = await with_variant(owner)
    page = (await owner.get(path)).text
    assert weight(page) == "500"
    sent = {**form(page, "change-variant"), "price": "120.000", "grams": "1250"}
    assert (await owner.post(path, data=sent)).status_code == 303
    assert weight((await owner.get(path)).text) == "1250"
    assert "grams: 1250" in (await owner.get("/quan-tri/nhat-ky")).text
    behind = await owner.post(path, data={**sent, "nonce": secrets.token_urlsafe(16), "grams": "7"})
    assert behind.status_code == 409, "a form of the variant as it was before"
    assert sku in behind.text


def weight(page: str) -> str:
    """What the first variant's form says that one weighs."""
    return page.split('id="v1-grams"')[1].split('value="')[1].partition('"')[0]


async def test_from_a_name_to_a_sale(owner: httpx.AsyncClient) -> None:
    path, sku = await with_variant(owner)
    stock = f"/quan-tri/kho/{sku}"
    fields = form((await owner.get(stock)).text, "move")
    answer = await owner.post(
        stock, data={**fields, "quantity": "7", "reason": "received", "note": "Xe sáng"}
    )
    assert (answer.status_code, answer.headers["location"]) == (303, f"{stock}?done=1")
    shown = (await owner.get(answer.headers["location"])).text
    assert "còn 7" in shown
    assert "Xe sáng" in shown
    product = (await owner.get(path.removeprefix("/quan-tri"))).text
    assert "<b>Ngon</b>" in product
    assert "120.000" in product
    log = (await owner.get(f"/quan-tri/nhat-ky?subject=stock {sku}")).text
    assert "stock.move" in log
    assert "127.0.0.1" in log


async def test_a_form_sent_again_leads_to_what_the_first_did(owner: httpx.AsyncClient) -> None:
    _, sku = await with_variant(owner)
    stock = f"/quan-tri/kho/{sku}"
    sent = {**form((await owner.get(stock)).text, "move"), "quantity": "4", "reason": "received", "note": ""}
    answers = await asyncio.gather(*(owner.post(stock, data=sent) for _ in range(10)))
    assert {answer.status_code for answer in answers} == {303}
    assert {answer.headers["location"].partition("?")[0] for answer in answers} == {stock}
    assert "còn 4" in (await owner.get(stock)).text
    page = (await owner.get("/quan-tri/san-pham/moi")).text
    told = {**form(page, "create"), **DRAFT, "name": f"Hai lần {secrets.token_hex(4)}"}
    first, second = [await owner.post("/quan-tri/san-pham/moi", data=told) for _ in range(2)]
    assert first.headers["location"] == second.headers["location"]


async def test_of_two_owners_the_second_sees_both_versions_and_loses_no_word(
    world: World, owner: httpx.AsyncClient
) -> None:
    path = await new_product(owner)
    async with browser_of(world, "owner") as other:
        mine, theirs = [form((await one.get(path)).text, "change") for one in (owner, other)]
        await other.post(path, data={**DRAFT, **theirs, "name": "Tên của người kia"})
        answer = await owner.post(
            path, data={**DRAFT, **mine, "name": "Tên của tôi", "body": "Lời dài & hay"}
        )
    assert answer.status_code == 409
    page = unescape(answer.text)
    assert "vừa sửa trước bạn" in page
    assert "<dd>Tên của người kia</dd>" in page
    assert 'value="Tên của tôi"' in page
    assert "Lời dài & hay" in page
    again = await owner.post(path, data={**DRAFT, **form(answer.text, "change"), "name": "Tên của tôi"})
    assert again.status_code == 303
    assert "<h1>Tên của tôi</h1>" in (await owner.get(path)).text


async def test_a_deleted_product_is_gone_for_shoppers_and_their_carts_say_so(
    world: World, owner: httpx.AsyncClient
) -> None:
    path, sku = await with_variant(owner)
    stock = f"/quan-tri/kho/{sku}"
    fields = form((await owner.get(stock)).text, "move")
    await owner.post(stock, data={**fields, "quantity": "2", "reason": "received", "note": ""})
    async with world.client(headers=BROWSER) as shopper:
        await shopper.post("/gio-hang/them", data={"sku": sku, "quantity": "1"})
        sent = form((await owner.get(path)).text, "delete")
        assert (await owner.post(path, data=sent)).headers["location"] == "/quan-tri/san-pham"
        assert (await owner.post(path, data=sent)).status_code == 303, "sent again"
        assert "không còn bán" in (await shopper.get("/gio-hang")).text
        assert (await shopper.get(path.removeprefix("/quan-tri"))).status_code == 404
    assert (await owner.get(path)).status_code == 404
    assert "không còn nữa" in (await owner.get(stock)).text, "what was written down stays"


@pytest.mark.parametrize(
    ("do", "fields", "status"),
    [
        ("add-variant", {"sku": "PHIN-S", "price": "1000"}, 409),
        ("add-variant", {"sku": "X-1", "price": ""}, 422),
        ("add-variant", {"sku": "X-1", "price": "1.5"}, 422),
        ("add-variant", {"sku": "", "price": "1000"}, 422),
        ("add-variant", {"sku": "X-1", "price": "1000", "grams": "1.5 kg"}, 422),
        ("add-variant", {"sku": "X-1", "price": "1000", "grams": "1000001"}, 422),
        ("add-variant", {"sku": "X-1", "price": "1000", "value-1": "S"}, 422),
        ("change", {**DRAFT, "name": "x" * 201}, 422),
        ("change", {**DRAFT, "name": "A", "visibility": "no"}, 422),
    ],
)
async def test_what_cannot_be_is_shown_again_with_the_reason(
    owner: httpx.AsyncClient, do: str, fields: dict[str, str], status: int
) -> None:
    path = await new_product(owner)
    answer = await owner.post(path, data={**form((await owner.get(path)).text, do), **fields})
    assert answer.status_code == status, answer.text
    assert 'role="alert"' in answer.text
    Page(answer.text)


async def test_no_text_makes_the_desk_crash(owner: httpx.AsyncClient) -> None:
    path, sku = await with_variant(owner)
    stock = f"/quan-tri/kho/{sku}"
    sent = form((await owner.get(path)).text, "change")
    for typed in TEXTS:
        raw = {
            key: value.encode("utf-8", "surrogatepass")
            for key, value in {"name": typed, "body": typed, "category": typed}.items()
        }
        for target, fields in (
            (path, {**DRAFT, **sent, **raw}),
            ("/quan-tri/san-pham/moi", {**DRAFT, "nonce": secrets.token_urlsafe(16), **raw}),
            (
                stock,
                {
                    "nonce": secrets.token_urlsafe(16),
                    "quantity": raw["name"],
                    "reason": raw["name"],
                    "note": raw["name"],
                },
            ),
            (path, {"nonce": raw["name"], "do": "delete", "seen": raw["name"]}),
        ):
            answer = await owner.post(target, data=fields)
            assert answer.status_code < 500, (target, typed[:40], answer.text[:300])
        asked = quote(typed.encode("utf-8", "surrogatepass"))
        for target in ("/quan-tri/san-pham", "/quan-tri/nhat-ky"):
            answer = await owner.get(f"{target}?q={asked}&subject={asked}")
            assert answer.status_code < 500, (target, typed[:40])
            assert "<script>alert" not in answer.text


async def test_another_site_cannot_send_the_desks_forms(owner: httpx.AsyncClient) -> None:
    path, _ = await with_variant(owner)
    fields = form((await owner.get(path)).text, "delete")
    answer = await owner.post(path, data=fields, headers={"sec-fetch-site": "cross-site"})
    assert answer.status_code == 403
    assert (await owner.get(path)).status_code == 200


async def test_a_description_of_the_longest_kind_fits_into_the_form(owner: httpx.AsyncClient) -> None:
    body = "Ướp trà với sen Tây Hồ. " * 2_400
    path = await new_product(owner, body=body)
    assert "Ướp trà với sen Tây Hồ." in (await owner.get(path)).text


async def test_without_the_database_the_desk_says_so(build_world: Build, owner: httpx.AsyncClient) -> None:
    away = build_world(database_url="postgresql+psycopg://x@127.0.0.1:1/x")
    async with away.client(headers=BROWSER) as browser:
        browser.cookies = owner.cookies
        assert (await browser.get("/quan-tri")).status_code in {303, 503}
