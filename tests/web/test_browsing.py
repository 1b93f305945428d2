"""Lists of products as their addresses ask for them."""

from __future__ import annotations

import re
from html import unescape

import httpx
import pytest
from starlette.datastructures import QueryParams

from app.shop.errors import Invalid
from app.web.browsing import browsing, price

NAMES = re.compile(r'<span class="card-name">([^<]+)</span>')


async def names(browser: httpx.AsyncClient, path: str) -> list[str]:
    answer = await browser.get(path)
    assert answer.status_code == 200, answer.text
    return [unescape(name) for name in NAMES.findall(answer.text)]


async def test_a_category_shows_what_is_on_its_shelf(browser: httpx.AsyncClient) -> None:
    found = await names(browser, "/danh-muc/ca-phe-tra")
    assert "Phin nhôm cà phê" in found
    assert "Nón lá bài thơ" not in found
    assert (await browser.get("/danh-muc/khong-co")).status_code == 404


async def test_names_sort_with_d_before_dd_before_e(browser: httpx.AsyncClient) -> None:
    pages = [await names(browser, f"/tim-kiem?sort=name&page={number}") for number in range(1, 5)]
    found = [name for page in pages for name in page]
    assert len(found) == len(set(found)) > 80
    letters = [name[0] for name in found]
    assert [letter for letter in letters if letter in "DĐ"] == sorted(
        (letter for letter in letters if letter in "DĐ"), key="DĐ".index
    )
    assert letters.index("G") > max(place for place, letter in enumerate(letters) if letter == "Đ")


async def test_filters_narrow_and_stay_in_every_link(browser: httpx.AsyncClient) -> None:
    page = (await browser.get("/tim-kiem?max_price=60.000&in_stock=1&sort=cheapest")).text
    prices = [int(text.replace(".", "")) for text in re.findall(r'class="price">([\d.]+)', page)]
    assert prices == sorted(prices)
    assert max(prices) <= 60_000
    assert "Hết hàng" not in page
    links = re.findall(r'class="shelves".*?</nav>', page, re.DOTALL)[0]
    assert all("max_price=60000" in link for link in re.findall(r'href="([^"]+)"', links))


async def test_a_page_after_the_last_leads_back(browser: httpx.AsyncClient) -> None:
    page = (await browser.get("/danh-muc/quan-ao?page=9&in_stock=1")).text
    assert 'href="/danh-muc/quan-ao?in_stock=1"' in page


async def test_what_is_searched_is_shown_as_typed_and_harmless(browser: httpx.AsyncClient) -> None:
    page = (await browser.get("/tim-kiem", params={"q": "phở <script>'\"%_"})).text
    assert "<script" not in page
    assert "phở &lt;script&gt;" in page


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("", None),
        (" ", None),
        ("0", 0),
        ("100000", 100_000),
        ("100.000", 100_000),
        ("1,000", 1000),
        ("1.000.000", 10**6),
    ],
)
def test_a_price_is_whole_dong_however_its_thousands_are_parted(text: str, amount: int | None) -> None:
    assert price("min_price", text) == amount


@pytest.mark.parametrize(
    "text", ["-1", "1.5", "1.00", "10.0000", "1.000,5", "1,000.000", "１２", "x", "9" * 14, "1e3"]
)
def test_a_price_that_may_mean_two_things_is_refused(text: str) -> None:
    with pytest.raises(Invalid):
        price("min_price", text)


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("min_price=1.5", "min_price"),
        ("max_price=-1", "max_price"),
        ("sort=random", "sort"),
        ("page=x", "page"),
        ("q=%00", "q"),
        (f"q={'x' * 101}", "q"),
        ("category=%00", "category"),
    ],
)
def test_a_filter_that_cannot_be_is_left_out_and_the_others_hold(asked: str, name: str) -> None:
    found = browsing("/tim-kiem", QueryParams(f"in_stock=1&{asked}"))
    assert (found.url(), found.filters.status) == ("/tim-kiem?in_stock=1", 422)
    assert found.filters.faults.keys() == {name}


async def test_a_wrong_price_is_shown_as_typed_with_its_reason_the_products_and_a_way_out(
    browser: httpx.AsyncClient,
) -> None:
    asked = {"q": "phin", "min_price": '1.5"><b>', "max_price": "60.000"}
    for path, way_out in (
        ("/tim-kiem", "/tim-kiem?q=phin&amp;max_price=60000"),
        ("/danh-muc/ca-phe-tra", "/danh-muc/ca-phe-tra?q=phin&amp;max_price=60000"),
    ):
        answer = await browser.get(path, params=asked)
        assert (answer.status_code, answer.headers["content-type"]) == (422, "text/html; charset=utf-8")
        assert answer.text.count('role="alert"') == 1
        assert f'href="{way_out}"' in answer.text
        field = re.findall(r'<input id="min_price"[^>]*>', answer.text)[0]
        assert 'value="1.5&#34;&gt;&lt;b&gt;"' in field
        assert 'aria-invalid="true" aria-describedby="min_price-note"' in field
        assert re.search(r'id="min_price-note">Giá phải là số đồng nguyên', answer.text)
        assert '<details class="filters" open>' in answer.text
        found = [unescape(name) for name in NAMES.findall(answer.text)]
        assert found == await names(browser, unescape(way_out))
        assert "Phin nhôm cà phê" in found


async def test_a_wrong_filter_is_told_in_english_too(browser: httpx.AsyncClient) -> None:
    page = (await browser.get("/tim-kiem?max_price=x&sort=y", headers={"cookie": "chopho_lang=en"})).text
    assert "The list below goes without these parts" in page
    assert "<b>Price to</b>: The price must be whole" in page
    assert "<b>Sort by</b>" in page


def test_an_address_is_as_short_as_what_it_asks() -> None:
    whole = "q=phở&min_price=1.000&max_price=9000&in_stock=1&sort=name&page=3"
    asked = browsing("/danh-muc/a", QueryParams(whole), category="a")
    assert asked.url() == "/danh-muc/a?q=ph%E1%BB%9F&min_price=1000&max_price=9000&in_stock=1&sort=name"
    assert asked.url(2).endswith("&page=2")
    assert asked.without_filters() == "/danh-muc/a?q=ph%E1%BB%9F&sort=name"
    assert browsing("/tim-kiem", QueryParams("")).url() == "/tim-kiem"


async def test_the_api_filters_and_sorts_alike(browser: httpx.AsyncClient) -> None:
    asked = {"q": "ca phe", "max_price": "100000", "in_stock": "true", "sort": "cheapest"}
    answer = (await browser.get("/api/v1/products", params=asked)).json()
    prices = [item["price"] for item in answer["items"]]
    assert prices
    assert prices == sorted(prices)
    assert max(prices) <= 100_000
    for wrong in ({"sort": "random"}, {"min_price": "1.5"}, {"in_stock": "maybe"}):
        refused = await browser.get("/api/v1/products", params=wrong)
        assert (refused.status_code, refused.headers["content-type"]) == (422, "application/problem+json")
