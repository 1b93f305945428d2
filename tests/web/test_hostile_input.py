"""Whatever is sent, the answer has a reason: never a 500, and no input comes back unescaped."""

from __future__ import annotations

import itertools
import json
from urllib.parse import quote

import httpx
import pytest
import redis

from app.shop.errors import Invalid, NotFound
from app.web.searching import product_query
from app.web.shopping import known_name
from tests.web.conftest import Build, Person

TEXTS = [
    "\0",
    "a\0b",
    "\ud800",
    "\udfff\ud800",
    "\x1b[31m",
    "\u202e",
    "\ufdd0",
    "'; DROP TABLE products; --",
    "%' OR '1'='1",
    "%_\\",
    "<script>alert(1)</script>",
    "{{ 7 * 7 }}",
    "../../../etc/passwd",
    "..%2f..%2f",
    "x" * 10_000,
    "🧧" * 300,
    "\n\r\t",
    "",
]
STORED = ["\0", "\ud800", "<script>alert(1)</script>", "x" * 10_000, ""]
"""Of each kind one, for what costs more to ask."""

RAW = [
    b"[" * 10_000,
    b'{"a":' * 10_000,
    b'{"email": "\\ud800", "password": "\\udc00\\u0000"}',
    b'{"email": NaN, "password": -Infinity}',
    b'{"quantity": ' + b"9" * 5000 + b', "sku": "PHIN-S"}',
    b'{"\\ud800": 1}',
    b"\xff\xfe\x00",
    b"\xef\xbb\xbf{}",
    b"null",
    b"[]",
    b'"x"',
    b"1e999",
    b"{}",
    b"{",
    b"",
    b"{" + b",".join(b'"f%d": 1' % number for number in range(5_000)) + b"}",
]
OTHER_TYPES = ["application/json; charset=bogus", "application/problem+json", "text/plain", "x", ""]
CALLS = [
    ("POST", "/api/v1/accounts"),
    ("POST", "/api/v1/session"),
    ("POST", "/api/v1/cart/items"),
    ("PUT", "/api/v1/cart/items/PHIN-S"),
    ("POST", "/api/v1/orders"),
]


@pytest.mark.parametrize(("method", "path"), CALLS)
async def test_no_json_body_makes_a_call_crash(api: httpx.AsyncClient, method: str, path: str) -> None:
    kinds = [(body, "application/json") for body in RAW] + [(b'{"a": 1}', kind) for kind in OTHER_TYPES]
    for body, content_type in kinds:
        answer = await api.request(method, path, content=body, headers={"content-type": content_type})
        assert 400 <= answer.status_code < 500, (body[:40], content_type, answer.text[:200])
        assert answer.headers["content-type"] == "application/problem+json"
        assert len(answer.content) < 10_000


async def test_no_text_makes_a_call_crash(api: httpx.AsyncClient, person: Person) -> None:
    for text in TEXTS:
        bodies = [
            ("POST", "/api/v1/accounts", {"email": text, "password": "mat-khau-dai", "name": "A"}),
            ("POST", "/api/v1/accounts", {"email": "x@khach.example", "password": text, "name": "A"}),
            ("POST", "/api/v1/accounts", {"email": "x@khach.example", "password": "abc", "name": text}),
            ("POST", "/api/v1/session", {"email": text, "password": "mat-khau-dai"}),
            ("POST", "/api/v1/session", {"email": person.email, "password": text}),
            ("POST", "/api/v1/cart/items", {"sku": text, "quantity": 1}),
        ]
        for method, path, body in bodies:
            content = json.dumps(body).encode()
            answer = await api.request(
                method, path, content=content, headers={"content-type": "application/json"}
            )
            assert answer.status_code < 500, (ascii(text[:40]), path, answer.text[:200])
            assert answer.status_code == 201 or answer.json()["code"]


async def test_no_text_makes_an_order_crash(shopper: httpx.AsyncClient) -> None:
    """Each in each place that reaches the order's row; what may stand there is ordered, and shown escaped."""
    typed = {"name": "Ánh", "phone": "0912345678", "address": "12 Hàng Bạc", "voucher": "", "payment": "cod"}
    for number, (text, field) in enumerate(itertools.product(STORED, typed)):
        await shopper.put("/api/v1/cart/items/PHIN-S", json={"quantity": 1})
        asked = {**typed, field: text}
        body = {
            "shipping": {name: asked[name] for name in ("name", "phone", "address")},
            "voucher": asked["voucher"] or None,
            "payment": {"token": asked["payment"]},
            "expected_total": 35_000,
        }
        answer = await shopper.post(
            "/api/v1/orders",
            content=json.dumps(body).encode(),
            headers={"content-type": "application/json", "idempotency-key": f"api {number}"},
        )
        assert answer.status_code < 500, (ascii(text[:40]), field, answer.text[:200])
        assert answer.status_code == 201 or answer.json()["code"]
        await shopper.put("/api/v1/cart/items/PHIN-S", json={"quantity": 1})
        form = {**asked, "nonce": f"{number:022}", "expected_total": "35000"}
        sent = await shopper.post(
            "/thanh-toan",
            content="&".join(f"{k}={quote(v, safe='', errors='surrogatepass')}" for k, v in form.items()),
            headers={"content-type": "application/x-www-form-urlencoded"},
        )
        shown = await shopper.get(sent.headers["location"]) if sent.status_code == 303 else sent
        assert shown.status_code < 500, (ascii(text[:40]), field, shown.text[:200])
        assert "<script>alert" not in shown.text


async def test_no_path_or_query_makes_a_page_or_a_call_crash(shopper: httpx.AsyncClient) -> None:
    templates = [
        "/tim-kiem?q={}",
        "/tim-kiem?category={}",
        "/tim-kiem?page={}",
        "/san-pham/{}",
        "/don-hang/{}",
        "/don-hang?page={}",
        "/dang-nhap?next={}",
        "/gio-hang?added={}",
        "/static/{}",
        "/{}",
        "/api/v1/products?q={}",
        "/api/v1/products?category={}",
        "/api/v1/products?page={}",
        "/api/v1/products?page_size={}",
        "/api/v1/products/{}",
        "/api/v1/orders/{}",
        "/api/v1/orders?page={}",
        "/api/v1/{}",
    ]
    texts = [quote(text, safe="", errors="surrogatepass") for text in TEXTS] + [
        "%ff%fe",
        "%c3%28",
        "%",
        "%zz",
    ]
    for template, text in itertools.product(templates, texts):
        answer = await shopper.get(template.format(text))
        assert answer.status_code < 500, (template, text[:60], answer.text[:200])
        assert "<script>alert" not in answer.text
        assert "49" not in answer.text or "7 * 7" not in text


async def test_no_path_makes_an_unsafe_call_crash(shopper: httpx.AsyncClient) -> None:
    for text in TEXTS:
        path = quote(text, safe="", errors="surrogatepass")
        for method, url in (
            ("PUT", f"/api/v1/cart/items/{path}"),
            ("DELETE", f"/api/v1/cart/items/{path}"),
            ("DELETE", f"/api/v1/sessions/{path}"),
            ("DELETE", f"/api/v1/sessions?all={path}"),
        ):
            body = {"json": {"quantity": 1}} if method == "PUT" else {}
            answer = await shopper.request(method, url, **body)  # type: ignore[arg-type]  # one keyword or none
            assert answer.status_code < 500, (method, ascii(text[:40]), answer.text[:200])


async def test_no_text_makes_a_form_crash_and_what_was_typed_is_escaped(shopper: httpx.AsyncClient) -> None:
    forms = [
        ("/dang-ky", {"email", "password", "name", "next", "nonce"}),
        ("/dang-nhap", {"email", "password", "next", "nonce"}),
        ("/gio-hang/them", {"sku", "quantity", "nonce"}),
        ("/gio-hang/sua", {"sku", "quantity", "nonce"}),
        ("/gio-hang/xoa", {"sku"}),
        ("/thanh-toan", {"nonce", "name", "phone", "address", "payment", "expected_total"}),
        ("/tai-khoan/phien", {"handle", "which"}),
        ("/tai-khoan/mat-khau", {"current", "new"}),
        ("/tai-khoan/ho-so", {"name", "phone", "language", "nonce"}),
        ("/tai-khoan/dia-chi", {"name", "phone", "address", "province", "default"}),
        ("/tai-khoan/dia-chi/x", {"name", "phone", "address", "province", "default", "remove"}),
        ("/tai-khoan/e-mail", {"email", "nonce"}),
        ("/tai-khoan/e-mail/xac-nhan", {"token", "nonce"}),
        ("/tai-khoan/xac-nhan", {"next", "proof"}),
        ("/quen-mat-khau", {"email", "nonce"}),
        ("/dat-lai-mat-khau", {"token", "new", "nonce"}),
    ]
    for (path, fields), text in itertools.product(forms, TEXTS):
        body = "&".join(f"{name}={quote(text, safe='', errors='surrogatepass')}" for name in fields)
        answer = await shopper.post(
            path, content=body, headers={"content-type": "application/x-www-form-urlencoded"}
        )
        assert answer.status_code < 500, (path, ascii(text[:40]), answer.text[:200])
        assert "<script>alert" not in answer.text


@pytest.mark.parametrize("where", ["memory", "redis"])
async def test_a_hostile_cookie_is_nobodys_and_is_never_adopted(
    build_world: Build, redis_url: str, where: str
) -> None:
    world = build_world("memory://" if where == "memory" else redis_url)
    cookies: list[bytes] = [
        b"",
        b"x" * 8192,
        b"%00",
        "phở".encode(),
        b"\xff\xfe",
        b'"',
        b'"\\"',
        b"../x",
        b"*",
        b"test:*",
        b"r1.AAAA.BBBB",
        b"r1." + b"A" * 43 + b"." + b"B" * 43,
        b"a=b; chopho=c",
    ]
    async with world.client() as client:
        for cookie in cookies:
            name = world.sessions.config.cookie.encode()
            headers = {b"cookie": name + b"=" + cookie}
            for path in ("/", "/gio-hang", "/api/v1/session", "/api/v1/cart"):
                answer = await client.get(path, headers=headers)
                assert answer.status_code == 200, (cookie[:40], path)
            answer = await client.get("/don-hang", headers=headers)
            assert answer.status_code == 303
    with redis.Redis.from_url(redis_url) as store:
        assert not store.keys("test:*")


def test_what_no_name_can_be_is_not_found_before_any_store_is_asked() -> None:
    for text in ["", " x", "x ", "a\0b", "\ud800", "x" * 201, "a\nb", "e\u0302"]:
        with pytest.raises(NotFound):
            known_name("product", text)
    assert known_name("product", "CF-ROB-250") == "CF-ROB-250"
    assert known_name("product", "áo-dài") == "áo-dài"


def test_what_is_no_text_is_not_looked_for() -> None:
    for text in ["\0", "\ud800", "x" * 101]:
        for asked in ({"text": text, "category": ""}, {"text": "", "category": text}):
            with pytest.raises(Invalid):
                product_query(page=1, page_size=1, **asked)
    assert product_query(text="  cà   phê ", category="", page=1, page_size=1).text == "cà phê"


async def test_every_method_on_every_path_has_an_answer(shopper: httpx.AsyncClient) -> None:
    paths = [
        "/",
        "/gio-hang",
        "/gio-hang/them",
        "/dang-xuat",
        "/none",
        "/static/x",
        "/docs",
        "/api",
        "/api/v1/cart",
    ]
    for path, method in itertools.product(
        paths, ["HEAD", "OPTIONS", "PATCH", "PUT", "DELETE", "TRACE", "BREW"]
    ):
        answer = await shopper.request(method, path)
        assert answer.status_code in {200, 303, 404, 405}, (method, path)
        if answer.status_code == 405:
            assert answer.headers["allow"]
