"""What a page does with the session: nothing without a cookie, its best while the store is away."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from http.cookies import SimpleCookie
from typing import Any

import httpx
import pytest
import redis

from app.shop.catalog import Offer
from app.web import WebConfig
from tests.conftest import free_port
from tests.web.conftest import BROWSER, ORIGIN, Build, Person, World

SHOWN = ["/", "/tim-kiem?q=phin", "/san-pham/phin-nhom-ca-phe"]
NEEDED = ["/gio-hang", "/dang-nhap", "/dang-ky", "/thanh-toan", "/don-hang"]
NEEDED += [
    "/tai-khoan",
    "/tai-khoan/phien",
    "/tai-khoan/mat-khau",
    "/tai-khoan/ho-so",
    "/tai-khoan/dia-chi",
    "/tai-khoan/e-mail",
]


async def _cookie(world: World, person: Person) -> str:
    """The cookie header of somebody who is logged in."""
    async with world.client() as client:
        await client.post("/api/v1/session", json=person.credentials)
        return "; ".join(f"{name}={value}" for name, value in client.cookies.items())


async def test_a_visitor_without_a_cookie_leaves_nothing_in_the_store(
    build_world: Build, redis_url: str
) -> None:
    world = build_world(redis_url)
    paths = [
        *SHOWN,
        *NEEDED,
        "/none",
        "/favicon.ico",
        "/docs",
        "/api/v1/session",
        "/api/v1/cart",
        "/static/x",
    ]
    with redis.Redis.from_url(redis_url) as store:
        async with world.client(headers=BROWSER) as client:
            before = store.info("commandstats")
            for path in paths * 3:
                answer = await client.get(path)
                assert answer.status_code < 500
                assert "set-cookie" not in answer.headers, path
            for path in ("/dang-xuat", "/gio-hang/xoa"):
                await client.post(path, data={"sku": "PHIN-S"})
            after = store.info("commandstats")
        assert store.keys() == []
    asked = {name for name in after if after[name] != before.get(name)}
    assert asked <= {"cmdstat_info", "cmdstat_hello", "cmdstat_client|setinfo", "cmdstat_ping"}


@pytest.fixture
def away() -> str:
    """Where no store answers."""
    return f"redis://127.0.0.1:{free_port()}"


async def test_while_the_store_is_away_shown_pages_come_and_needed_ones_say_why_not(
    build_world: Build, redis_url: str, away: str
) -> None:
    person = Person(email="vang@khach.example", password="mat-khau-dai", name="Vắng")
    world = build_world(redis_url)
    await world.shop.register(email=person.email, password=person.password, name=person.name)
    cookie = {"cookie": await _cookie(world, person)}
    async with build_world(away).client(headers=BROWSER) as client:
        for path in SHOWN:
            answer = await client.get(path, headers=cookie)
            assert answer.status_code == 200
            assert "Chưa rõ tài khoản lúc này" in answer.text
            assert "/dang-nhap" not in answer.text
            assert "set-cookie" not in answer.headers
        for path in NEEDED:
            answer = await client.get(path, headers=cookie)
            assert answer.status_code == 503, path
            assert int(answer.headers["retry-after"]) > 0
            assert "Chợ Phố" in answer.text
            assert "set-cookie" not in answer.headers
        for path in ("/api/v1/session", "/api/v1/cart", "/api/v1/orders", "/api/v1/sessions"):
            answer = await client.get(path, headers=cookie)
            assert (answer.status_code, answer.headers["content-type"]) == (503, "application/problem+json")
            assert answer.json()["code"] in {"unavailable", "session_unavailable"}
        for path, form in (
            ("/gio-hang/them", {"sku": "PHIN-S", "quantity": "1"}),
            ("/dang-xuat", {}),
            ("/dang-nhap", person.credentials),
        ):
            for headers in (cookie, {}):
                answer = await client.post(path, data=form, headers=headers)
                if path == "/dang-xuat" and not headers:
                    continue
                assert answer.status_code == 503, (path, headers)
                assert "set-cookie" not in answer.headers
        for path in [*SHOWN, "/gio-hang", "/dang-nhap"]:
            assert (await client.get(path)).status_code == 200, path


async def test_while_the_database_is_away_nothing_pretends(build_world: Build) -> None:
    world = build_world(database_url=f"postgresql+psycopg://x@127.0.0.1:{free_port()}/x")
    async with world.client(headers=BROWSER) as client:
        for path in ("/", "/san-pham/x", "/api/v1/products"):
            answer = await client.get(path)
            assert answer.status_code == 503
            assert "retry-after" in answer.headers
        assert (await client.get("/gio-hang")).status_code == 200
        assert (await client.get("/docs")).status_code == 200


async def test_whatever_differs_by_session_is_kept_by_nobody(shopper: httpx.AsyncClient) -> None:
    calls = ["/api/v1/session", "/api/v1/cart", "/api/v1/orders", "/api/v1/sessions"]
    for path in [*SHOWN, *NEEDED, *calls]:
        answer = await shopper.get(path)
        assert answer.headers["cache-control"] == "private, no-store", path
        assert "cookie" in answer.headers["vary"].lower()
        assert not {"etag", "last-modified"} & answer.headers.keys()


async def test_a_page_without_a_session_is_still_asked_for_each_time(browser: httpx.AsyncClient) -> None:
    for path in SHOWN:
        answer = await browser.get(path)
        assert answer.headers["cache-control"] == "private, no-cache"
        assert answer.headers["vary"].lower() == "cookie"


async def test_an_old_copy_is_not_revived_after_the_logout(shopper: httpx.AsyncClient) -> None:
    await shopper.get("/tai-khoan")
    await shopper.post("/dang-xuat")
    validators = {"if-none-match": "*", "if-modified-since": "Fri, 01 Jan 2100 00:00:00 GMT"}
    answer = await shopper.get("/tai-khoan", headers=validators)
    assert answer.status_code == 303


@pytest.mark.parametrize(
    ("origin", "secure", "name"),
    [("https://chopho.example", True, "__Host-session"), (ORIGIN, False, "session")],
    ids=["https", "http"],
)
async def test_the_cookie_is_as_safe_as_was_set_whatever_a_client_forwards(
    build_world: Build, person: Person, origin: str, *, secure: bool, name: str
) -> None:
    world = build_world(public_url=origin, cookie_secure=secure)
    for forwarded in ("https", "http"):
        async with world.client(origin=origin) as client:
            headers = {
                "x-forwarded-proto": forwarded,
                "x-forwarded-host": "evil.com",
                "x-forwarded-port": "1",
            }
            answer = await client.post("/api/v1/session", json=person.credentials, headers=headers)
            (cookie,) = SimpleCookie(answer.headers["set-cookie"]).values()
            assert (cookie.key, bool(cookie["secure"]), bool(cookie["httponly"])) == (name, secure, True)
            assert (cookie["samesite"].lower(), cookie["path"], cookie["domain"]) == ("lax", "/", "")
            page = await client.get("/tai-khoan", headers=headers)
            assert page.status_code == 200
            assert "evil.com" not in page.text
            out = await client.delete("/api/v1/session")
            (gone,) = SimpleCookie(out.headers["set-cookie"]).values()
            assert (gone.key, gone["path"], gone["domain"], bool(gone["secure"])) == (name, "/", "", secure)
            assert not client.cookies


async def test_the_same_cookie_twice_is_one_session_and_never_a_mix(world: World, person: Person) -> None:
    other = Person(email=f"khac-{person.email}", password="mat-khau-dai", name="Khác")
    await world.shop.register(email=other.email, password=other.password, name=other.name)
    name, one = (await _cookie(world, person)).split("=", 1)
    two = (await _cookie(world, other)).split("=", 1)[1]
    async with world.client() as client:
        for values in ([one, "garbage"], ["garbage", one], [one, two], [two, one]):
            header = "; ".join([*(f"{name}={value}" for value in values), f"x{name}=1"])
            answer = await client.get("/api/v1/session", headers={"cookie": header})
            account = answer.json()["account"]
            expected = person.email if next(v for v in values if v != "garbage") == one else other.email
            assert account["email"] == expected


async def test_a_write_to_a_session_that_ended_meanwhile_is_told_to_log_in_again(
    build_world: Build, person: Person
) -> None:
    async def offers(skus: Iterable[str]) -> Mapping[str, Offer]:
        """The catalogue, asked while somebody revokes the session that asks."""
        await world.sessions.end_all(f"user:{account_id}")
        return await world.shop.catalog.offers(skus)

    world = build_world(offers=offers)
    async with world.client(headers=BROWSER) as client:
        login = await client.post("/api/v1/session", json=person.credentials)
        account_id = login.json()["account"]["id"]
        answer = await client.post("/api/v1/cart/items", json={"sku": "PHIN-S", "quantity": 1})
        assert (answer.status_code, answer.json()["code"]) == (409, "session_ended")
        await client.post("/api/v1/session", json=person.credentials)
        page = await client.post("/gio-hang/them", data={"sku": "PHIN-S", "quantity": "1"})
        assert page.status_code == 303
        assert "đã kết thúc" in (await client.get(page.headers["location"])).text


@pytest.mark.parametrize("when", ["before", "after"])
async def test_an_order_whose_session_ends_meanwhile_is_made_whole_or_not_at_all(
    world: World, api: httpx.AsyncClient, person: Person, when: str
) -> None:
    """The session is revoked while the database makes the order."""
    orders = world.shop.place_order.orders

    class Revoked:
        def __getattr__(self, name: str) -> Any:
            return getattr(orders, name)

        async def place(self, *asked: Any, **more: Any) -> Any:
            if when == "before":
                await world.sessions.end_all(f"user:{account_id}")
            placed = await orders.place(*asked, **more)
            await world.sessions.end_all(f"user:{account_id}")
            return placed

    account_id = (await api.post("/api/v1/session", json=person.credentials)).json()["account"]["id"]
    await api.post("/api/v1/cart/items", json={"sku": "PHIN-S", "quantity": 1})
    object.__setattr__(world.shop.place_order, "orders", Revoked())
    total = (await api.get("/api/v1/cart")).json()["total"]
    shipping = {"name": "Ánh", "phone": "0912345678", "address": "12 Hàng Bạc, Hà Nội"}
    body = {"shipping": shipping, "payment": {"token": "cod"}, "expected_total": total}
    answer = await api.post("/api/v1/orders", json=body, headers={"idempotency-key": f"k-{account_id}"})
    assert (await api.get("/api/v1/session")).json() == {"account": None}
    object.__setattr__(world.shop.place_order, "orders", orders)
    await api.post("/api/v1/session", json=person.credentials)
    made = (await api.get("/api/v1/orders")).json()["items"]
    assert (answer.status_code, len(made)) in {(201, 1), (409, 0)}
    if made:
        assert answer.json() == made[0]


def test_a_public_url_that_is_none_is_refused_at_once() -> None:
    config = WebConfig(public_url="chopho.example", replica_name="shop-1")
    with pytest.raises(ValueError, match=re.escape("'chopho.example' is not an origin")):
        _ = config.origin
    assert WebConfig(public_url=ORIGIN, replica_name="shop-1").origin.host == "chopho.example"
