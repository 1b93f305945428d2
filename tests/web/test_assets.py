"""Static files: named by their content, kept for ever, cheap whatever is asked of them."""

from __future__ import annotations

import re
import time

import httpx


async def _url(browser: httpx.AsyncClient, suffix: str) -> str:
    name = {"css": "shop", "svg": "icon"}[suffix]
    (url,) = set(re.findall(rf'"(/static/{name}\.[^"]+\.{suffix})"', (await browser.get("/")).text))
    return str(url)


async def test_a_page_names_its_assets_by_their_content_and_they_are_immutable(
    browser: httpx.AsyncClient,
) -> None:
    for suffix, media_type in (("css", "text/css; charset=utf-8"), ("svg", "image/svg+xml")):
        answer = await browser.get(await _url(browser, suffix))
        assert answer.status_code == 200
        assert answer.headers["content-type"] == media_type
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"


async def test_an_asset_never_carries_a_cookie(shopper: httpx.AsyncClient) -> None:
    answer = await shopper.get(await _url(shopper, "css"))
    assert "set-cookie" not in answer.headers
    assert answer.headers["vary"] == "accept-encoding"


async def test_a_name_of_another_release_is_served_but_not_kept(browser: httpx.AsyncClient) -> None:
    answer = await browser.get("/static/shop.0123456789abcdef.css")
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "public, max-age=60"


async def test_what_is_no_asset_is_not_found(browser: httpx.AsyncClient) -> None:
    for name in ("none.css", "shop", "%2e%2e", "%2e%2e%2fconfig.py", "shop.css%2f..", "a.b.c.d", ".css"):
        assert (await browser.get(f"/static/{name}")).status_code == 404, name


async def test_thousands_of_ranges_cost_nothing_more(browser: httpx.AsyncClient) -> None:
    url = await _url(browser, "css")
    ranges = {"range": "bytes=" + ",".join(["0-0"] * 5_000)}
    whole = (await browser.get(url)).content
    before = time.process_time()
    answer = await browser.get(url, headers=ranges)
    assert (answer.status_code, answer.content) == (200, whole)
    assert time.process_time() - before < 0.1


async def test_the_icon_is_found_by_its_oldest_name(browser: httpx.AsyncClient) -> None:
    assert (await browser.get("/favicon.ico")).headers["content-type"] == "image/svg+xml"


async def test_an_asset_is_compressed_for_those_who_take_it_so(browser: httpx.AsyncClient) -> None:
    url = await _url(browser, "css")
    plain = await browser.get(url, headers={"accept-encoding": "identity"})
    packed = await browser.get(url, headers={"accept-encoding": "br;q=1.0, gzip;q=0.8"})
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.content == plain.content
    assert int(packed.headers["content-length"]) < len(plain.content) / 2
    refused = await browser.get(url, headers={"accept-encoding": "gzip;q=0"})
    assert "content-encoding" not in refused.headers


async def test_a_page_of_one_release_works_with_the_assets_of_another(browser: httpx.AsyncClient) -> None:
    """A rolling release: the page names a digest that this replica does not have."""
    page = (await browser.get("/")).text
    for url in set(re.findall(r'"(/static/[^"]+)"', page)):
        stem, _, rest = url.partition(".")
        foreign = f"{stem}.{'0' * 16}.{rest.rpartition('.')[2]}"
        answer = await browser.get(foreign)
        assert answer.status_code == 200, foreign
        assert "immutable" not in answer.headers["cache-control"], "another release's name must not be kept"


async def test_pictures_of_products_are_assets_like_others(browser: httpx.AsyncClient) -> None:
    page = (await browser.get("/san-pham/phin-nhom-ca-phe")).text
    (url,) = set(re.findall(r'"(/static/pictures/[^"]+)"', page))
    answer = await browser.get(url)
    assert answer.headers["content-type"] == "image/svg+xml"
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
