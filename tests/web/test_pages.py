"""The pages as people use them: without a script, on real parts."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import httpx
import pytest

from tests.web.conftest import BROWSER, Person, World

VOID = {"input", "meta", "link", "img", "br", "hr"}


class Page(HTMLParser):
    """What a page consists of; fails on markup that does not nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.forms: list[dict[str, str | None]] = []
        self.fields: list[set[str]] = []
        self.ids: list[str] = []
        self.labels: set[str] = set()
        self.inputs: list[dict[str, str | None]] = []
        self.headings = 0
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        assert not [name for name in found if name.startswith("on")], "inline event handler"
        assert "style" not in found
        assert tag not in {"script", "style"}
        if tag not in VOID:
            self.open.append(tag)
        if tag == "form":
            self.forms.append(found)
            self.fields.append(set())
        if tag == "h1":
            self.headings += 1
        if tag == "label" and found.get("for"):
            self.labels.add(str(found["for"]))
        if "id" in found:
            self.ids.append(str(found["id"]))
        if tag in {"input", "button"} and found.get("name") and self.fields:
            self.fields[-1].add(str(found["name"]))
        if tag == "input" and found.get("type") not in {"hidden", "radio"}:
            self.inputs.append(found)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag


async def _every_page(shopper: httpx.AsyncClient) -> dict[str, httpx.Response]:
    await shopper.post("/gio-hang/them", data={"sku": "PHIN-S", "quantity": "2"})
    order = await _order(shopper)
    await shopper.post("/gio-hang/them", data={"sku": "NON-HUE", "quantity": "1"})
    paths = [
        "/",
        "/tim-kiem",
        "/tim-kiem?q=ca phe",
        "/tim-kiem?q=không-có-gì",
        "/tim-kiem?category=ca-phe-tra&in_stock=1&max_price=100.000&sort=name",
        "/danh-muc/ca-phe-tra",
        "/danh-muc/ca-phe-tra?page=99",
        "/san-pham/phin-nhom-ca-phe",
        "/san-pham/non-la-bai-tho",
        "/gio-hang?added=NON-HUE",
        "/thanh-toan",
        "/don-hang",
        order,
        "/tai-khoan",
        "/tai-khoan/phien",
        "/tai-khoan/mat-khau",
        "/dang-ky",
        "/quen-mat-khau?asked=1",
        "/tai-khoan/ho-so",
        "/tai-khoan/dia-chi",
        "/tai-khoan/e-mail?asked=1",
        "/tai-khoan/e-mail/xac-nhan?token=x",
        "/tai-khoan/xac-nhan",
        "/tai-khoan/du-lieu",
        "/docs",
        "/none",
    ]
    pages = {path: await shopper.get(path) for path in paths}
    pages["wrong form"] = await shopper.post("/dang-ky", data={"name": "A", "email": "x", "password": ""})
    return pages


async def _order(shopper: httpx.AsyncClient) -> str:
    page = (await shopper.get("/thanh-toan")).text
    answer = await shopper.post("/thanh-toan", data={**hidden(page), **ADDRESS})
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


ADDRESS = {"name": "Ánh", "phone": "0912 345 678", "address": "1 Phố Huế, Hà Nội", "payment": "cod"}


def hidden(page: str, action: str = "/thanh-toan") -> dict[str, str]:
    """The hidden fields of the form with that action."""
    form = page.split(f'action="{action}"')[1].split("</form>", maxsplit=1)[0]
    return dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', form))


async def test_every_page_is_well_formed_accessible_and_free_of_scripts(shopper: httpx.AsyncClient) -> None:
    for path, answer in (await _every_page(shopper)).items():
        assert answer.headers["content-type"] == "text/html; charset=utf-8", path
        page = Page(answer.text)
        assert page.headings == 1, path
        assert len(page.ids) == len(set(page.ids)), path
        for field in page.inputs:
            assert field.get("id") in page.labels, (path, field)
        for form, fields in zip(page.forms, page.fields, strict=True):
            assert form["method"] in {"get", "post"}
            assert form["method"] == "get" or "nonce" in fields, (path, form)
        assert '<html lang="vi">' in answer.text


async def test_no_nonce_is_given_twice(browser: httpx.AsyncClient) -> None:
    pages = [(await browser.get("/dang-nhap")).text for _ in range(3)]
    nonces = [nonce for page in pages for nonce in re.findall(r'name="nonce" value="([^"]+)"', page)]
    assert len(nonces) == len(set(nonces)) == 6, "the log-in and the switch of the language, three times"


async def test_a_shopper_registers_fills_a_cart_and_orders(browser: httpx.AsyncClient) -> None:
    added = await browser.post("/gio-hang/them", data={"sku": "PHIN-S", "quantity": "2"})
    assert (added.status_code, added.headers["location"]) == (303, "/gio-hang?added=PHIN-S")
    cart = await browser.get(added.headers["location"])
    assert "Đã thêm vào giỏ" in cart.text
    assert "70.000\u00a0₫" in cart.text
    offered = await browser.get("/thanh-toan")
    assert 'href="/dang-nhap?next=%2Fthanh-toan"' in offered.text
    account = {"name": "Nguyễn Thị Ánh 🧧", "email": "Anh.Moi@Khach.Example", "password": "mat-khau-dai"}
    registered = await browser.post("/dang-ky", data={**account, "next": "/thanh-toan"})
    assert (registered.status_code, registered.headers["location"]) == (303, "/thanh-toan")
    checkout = await browser.get("/thanh-toan")
    assert "Nguyễn Thị Ánh 🧧" in checkout.text
    form = {**hidden(checkout.text), **ADDRESS}
    placed = await browser.post("/thanh-toan", data=form)
    order = await browser.get(placed.headers["location"])
    assert "Đã đặt hàng" in order.text
    assert "70.000\u00a0₫" in order.text
    again = await browser.post("/thanh-toan", data=form)
    assert again.headers["location"] == placed.headers["location"]
    assert "đang trống" in (await browser.get("/gio-hang")).text
    assert (await browser.get("/api/v1/orders")).json()["total"] == 1


async def test_the_cart_ordered_in_another_tab_leads_to_its_order(shopper: httpx.AsyncClient) -> None:
    await shopper.post("/gio-hang/them", data={"sku": "PHIN-S", "quantity": "1"})
    tabs = [hidden((await shopper.get("/thanh-toan")).text) for _ in range(2)]
    first = await shopper.post("/thanh-toan", data={**tabs[0], **ADDRESS})
    second = await shopper.post("/thanh-toan", data={**tabs[1], **ADDRESS})
    assert second.status_code == 303
    assert second.headers["location"] == first.headers["location"].partition("?")[0]


async def test_a_checkout_that_cannot_be_is_shown_again_with_all_that_was_typed(
    shopper: httpx.AsyncClient,
) -> None:
    await shopper.post("/gio-hang/them", data={"sku": "PHIN-S", "quantity": "1"})
    form = hidden((await shopper.get("/thanh-toan")).text)
    wrong = {**form, **ADDRESS, "phone": "12", "name": '"Ánh" <b>'}
    answer = await shopper.post("/thanh-toan", data=wrong)
    assert answer.status_code == 422
    assert "8 đến 15 chữ số" in answer.text
    assert 'value="&#34;Ánh&#34; &lt;b&gt;"' in answer.text
    assert hidden(answer.text) == form
    for change, status, said in (
        ({"expected_total": "1"}, 409, "Giá vừa thay đổi: tổng tiền bây giờ là 35.000\u00a0₫"),
        ({"expected_total": "-1"}, 422, "Tổng tiền gửi lên không đúng"),
        ({"payment": "tok_ok"}, 402, "trả tiền khi nhận hàng"),
        ({"nonce": ""}, 422, "Mã của biểu mẫu không dùng được"),
        ({"nonce": "x" * 500}, 422, "Mã của biểu mẫu không dùng được"),
        ({"address": ""}, 422, "không được để trống"),
    ):
        answer = await shopper.post("/thanh-toan", data={**form, **ADDRESS, **change})
        assert answer.status_code == status, change
        assert said in answer.text
        assert hidden(answer.text)["nonce"]
        assert hidden(answer.text)["expected_total"] == "35000"
    assert (await shopper.get("/api/v1/orders")).json()["total"] == 0


async def test_the_same_form_with_another_address_leads_to_the_orders(shopper: httpx.AsyncClient) -> None:
    await shopper.post("/gio-hang/them", data={"sku": "PHIN-S", "quantity": "1"})
    form = {**hidden((await shopper.get("/thanh-toan")).text), **ADDRESS}
    await shopper.post("/thanh-toan", data=form)
    answer = await shopper.post("/thanh-toan", data={**form, "address": "2 Phố Huế"})
    assert answer.status_code == 422
    assert 'href="/don-hang"' in answer.text


async def test_a_login_that_fails_keeps_the_email_and_never_the_password(
    browser: httpx.AsyncClient, person: Person
) -> None:
    known = await browser.post("/dang-nhap", data={"email": person.email, "password": "sai-mat-khau"})
    unknown = await browser.post("/dang-nhap", data={"email": "ai@khach.example", "password": "sai-mat-khau"})
    for answer in (known, unknown):
        assert answer.status_code == 401
        assert "E-mail hoặc mật khẩu chưa đúng." in answer.text
        assert "sai-mat-khau" not in answer.text
        assert "set-cookie" not in answer.headers
    assert f'value="{person.email}"' in known.text


async def test_too_many_failures_are_told_to_wait(browser: httpx.AsyncClient, person: Person) -> None:
    wrong = {"email": person.email, "password": "sai-mat-khau"}
    answers = [await browser.post("/dang-nhap", data=wrong) for _ in range(12)]
    answer = next(answer for answer in answers if answer.status_code == 429)
    assert int(answer.headers["retry-after"]) > 0
    assert "chờ một lát" in answer.text


async def test_rotating_forwarded_addresses_do_not_help_a_guesser(world: World, person: Person) -> None:
    """The balancer appends the real peer; what the client wrote before it is not believed."""
    async with world.client(headers=BROWSER) as client:

        async def guess(number: int) -> int:
            headers = [("x-forwarded-for", f"10.9.8.{number}"), ("x-forwarded-for", "203.0.113.7")]
            body = {"email": f"{number}-{person.email}", "password": "sai-mat-khau"}
            return (await client.post("/dang-nhap", data=body, headers=headers)).status_code

        assert 429 in [await guess(number) for number in range(35)]


async def test_an_email_in_another_spelling_is_taken(browser: httpx.AsyncClient, person: Person) -> None:
    form = {"name": "B", "email": person.email.upper(), "password": "mat-khau-dai"}
    answer = await browser.post("/dang-ky", data=form)
    assert answer.status_code == 409
    assert "đã có tài khoản" in answer.text
    assert f'value="{person.email.upper()}"' in answer.text


@pytest.mark.parametrize(
    ("password", "status"),
    [
        ("é" * 7, 422),
        ("x" * 8, 303),
        ("🧧" * 20, 303),
        ("x" * 73, 303),
        ("x" * 257, 422),
        ("x" * 60_000, 422),
    ],
    ids=["7", "8", "20 emoji", "73", "257", "60000"],
)
async def test_a_password_is_as_long_as_its_owner_wants_within_reason(
    browser: httpx.AsyncClient, person: Person, password: str, status: int
) -> None:
    form = {"name": "B", "email": f"moi-{person.email}", "password": password}
    assert (await browser.post("/dang-ky", data=form)).status_code == status
    if status == 303:
        cut = {"email": form["email"], "password": password[:72]}
        shorter = password[:72] != password
        assert (await browser.post("/api/v1/session", json=cut)).status_code == (401 if shorter else 200)


async def test_logging_out_is_for_good_and_only_by_post(shopper: httpx.AsyncClient) -> None:
    assert (await shopper.get("/dang-xuat")).headers["location"] == "/tai-khoan"
    assert (await shopper.get("/tai-khoan")).status_code == 200
    old = "; ".join(f"{name}={value}" for name, value in shopper.cookies.items())
    answer = await shopper.post("/dang-xuat")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert not shopper.cookies
    again = await shopper.get("/tai-khoan", headers={"cookie": old})
    assert again.headers["location"] == "/dang-nhap?next=%2Ftai-khoan"


async def test_a_form_s_address_opened_like_a_page_leads_to_one(browser: httpx.AsyncClient) -> None:
    for path in ("/gio-hang/them", "/gio-hang/sua", "/gio-hang/xoa"):
        assert (await browser.get(path)).headers["location"] == "/gio-hang"


async def test_who_is_logged_in_is_led_past_the_login(shopper: httpx.AsyncClient) -> None:
    answer = await shopper.get("/dang-nhap?next=/gio-hang")
    assert (answer.status_code, answer.headers["location"]) == (303, "/gio-hang")


async def test_a_device_is_logged_out_from_another(world: World, person: Person) -> None:
    async with world.client(headers=BROWSER) as phone, world.client(headers=BROWSER) as desk:
        for client in (phone, desk):
            await client.post("/dang-nhap", data=person.credentials)
        items = (await desk.get("/api/v1/sessions")).json()["items"]
        other = next(item["handle"] for item in items if not item["current"])
        answer = await desk.post("/tai-khoan/phien", data={"handle": other})
        assert answer.headers["location"] == "/tai-khoan/phien"
        assert (await phone.get("/tai-khoan")).headers["location"].startswith("/dang-nhap")
        assert (await desk.get("/tai-khoan")).status_code == 200
        await phone.post("/dang-nhap", data=person.credentials)
        await desk.post("/tai-khoan/phien", data={"which": "others"})
        assert (await phone.get("/tai-khoan")).status_code == 303
        assert (await desk.get("/tai-khoan")).status_code == 200
        assert (await desk.post("/tai-khoan/phien", data={"which": "all"})).headers["location"] == "/"
        assert (await desk.get("/tai-khoan")).status_code == 303


async def test_a_foreign_order_is_not_found(world: World, shopper: httpx.AsyncClient) -> None:
    await shopper.post("/gio-hang/them", data={"sku": "PHIN-S", "quantity": "1"})
    path = (await _order(shopper)).partition("?")[0]
    other = {"name": "C", "email": "c@khach.example", "password": "mat-khau-dai"}
    async with world.client(headers=BROWSER) as stranger:
        assert (await stranger.get(path)).headers["location"].startswith("/dang-nhap")
        await stranger.post("/dang-ky", data=other)
        assert (await stranger.get(path)).status_code == 404
        assert (await stranger.get(f"/api/v1/orders/{path.rpartition('/')[2]}")).status_code == 404
    assert (await shopper.get(path)).status_code == 200
