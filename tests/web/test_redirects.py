"""Where browsers are sent: always to this shop."""

from __future__ import annotations

from urllib.parse import parse_qs, quote, urlsplit

import httpx
import pytest

from app.web.redirects import own_path, see_other
from tests.web.conftest import Person

FOREIGN = [
    "//evil.com",
    "https:evil.com",
    "https://evil.com",
    "/\\evil.com",
    "\\/evil.com",
    "/\t/evil.com",
    "\t//evil.com",
    "/\n/evil.com",
    "/\x00",
    "/\ud800",
    "javascript:alert(1)",
    "evil.com",
    " //evil.com",
    "///evil.com",
    "//[evil",
    "/" + "a" * 1000,
    "",
]


@pytest.mark.parametrize("text", FOREIGN, ids=ascii)
def test_what_browsers_could_read_as_another_site_is_no_path_of_ours(text: str) -> None:
    assert own_path(text) is None


@pytest.mark.parametrize("text", ["/", "/gio-hang", "/tim-kiem?q=phở bò&page=2", "/san-pham/x#y", "/a//b"])
def test_a_path_of_ours_is_kept(text: str) -> None:
    assert own_path(text) == text


def test_a_redirect_is_percent_encoded_and_round_trips() -> None:
    location = see_other("/tim-kiem?q=phở 🧧\r\nX: y", next="/à").headers["location"]
    assert location.isascii()
    assert not set(location) & set("\r\n ")
    assert parse_qs(urlsplit(see_other("/dang-nhap", next="/tim-kiem?q=phở").headers["location"]).query) == {
        "next": ["/tim-kiem?q=phở"]
    }


async def test_a_login_leads_home_when_it_is_asked_to_lead_elsewhere(
    browser: httpx.AsyncClient, person: Person
) -> None:
    for wanted in (text for text in FOREIGN if "\ud800" not in text):
        page = await browser.get(f"/dang-nhap?next={quote(wanted, safe='')}")
        assert 'name="next" value=""' in page.text or page.headers.get("location") == "/tai-khoan"
        answer = await browser.post("/dang-nhap", data={**person.credentials, "next": wanted})
        assert (answer.status_code, answer.headers["location"]) == (303, "/"), ascii(wanted)


async def test_a_login_leads_back_to_a_vietnamese_search(browser: httpx.AsyncClient, person: Person) -> None:
    answer = await browser.post("/dang-nhap", data={**person.credentials, "next": "/tim-kiem?q=phở"})
    assert answer.headers["location"] == "/tim-kiem?q=ph%E1%BB%9F"
    found = await browser.get(answer.headers["location"])
    assert "phở" in found.text


async def test_a_page_that_needs_an_account_leads_to_the_login_and_back(browser: httpx.AsyncClient) -> None:
    answer = await browser.get("/don-hang?page=2")
    assert answer.headers["location"] == "/dang-nhap?next=%2Fdon-hang%3Fpage%3D2"


async def test_a_trailing_slash_is_not_redirected_by_what_the_host_header_says(
    browser: httpx.AsyncClient,
) -> None:
    assert (await browser.get("/gio-hang/")).status_code == 404
