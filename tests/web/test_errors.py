"""Errors: one status each, a page for people, problem+json for programs, and never a word about the inside."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from starlette.requests import Request

import app.shop
from app.sessions import errors as session_errors
from app.shop import errors as shop_errors
from app.web import errors as web_errors
from app.web.errors import HTTP_CODES, TABLE, problem_of
from app.web.messages import MESSAGES
from tests.web.conftest import BROWSER, World

PAGE, PROBLEM = "text/html; charset=utf-8", "application/problem+json"


def _leaves(root: type[Exception]) -> Iterator[type[Exception]]:
    for kind in root.__subclasses__():
        yield from _leaves(kind) if kind.__subclasses__() else (kind,)


def test_every_refusal_has_a_status() -> None:
    for root in (shop_errors.ShopError, web_errors.WebError):
        for leaf in _leaves(root):
            assert leaf in TABLE or leaf.__module__ != root.__module__, leaf
    assert {
        session_errors.StoreUnavailable,
        session_errors.SessionEnded,
        session_errors.Refused,
    } <= TABLE.keys()


def test_every_code_has_a_sentence() -> None:
    codes = {code for _, code in TABLE.values()} | set(HTTP_CODES.values())
    folder = Path(str(app.shop.__file__)).parent
    for source in (*folder.glob("*.py"), *Path(web_errors.__file__).parent.rglob("*.py")):
        codes |= set(
            re.findall(r'Invalid\([^)]*code="([a-z_]+)"', source.read_text(encoding="utf-8"), re.DOTALL)
        )
    assert codes - MESSAGES.keys() == set()


def test_a_mistake_of_ours_tells_nothing_of_itself() -> None:
    problem = problem_of(RuntimeError("password=hunter2"))
    assert (problem.status, problem.code) == (500, "internal")
    assert "hunter2" not in problem.detail


@pytest.mark.parametrize(
    ("path", "accept", "media_type"),
    [
        ("/none", BROWSER["accept"], PAGE),
        ("/none", "*/*", PROBLEM),
        ("/none", "application/json", PROBLEM),
        ("/api/none", BROWSER["accept"], PROBLEM),
        ("/api", BROWSER["accept"], PROBLEM),
        ("/apix", BROWSER["accept"], PAGE),
    ],
)
async def test_people_get_pages_and_programs_problems(
    api: httpx.AsyncClient, path: str, accept: str, media_type: str
) -> None:
    answer = await api.get(path, headers={"accept": accept})
    assert (answer.status_code, answer.headers["content-type"]) == (404, media_type)
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["vary"] == "accept"


async def test_a_wrong_method_names_the_right_ones(browser: httpx.AsyncClient) -> None:
    for path, allowed in (
        ("/api/v1/session", {"GET", "HEAD", "POST", "DELETE"}),
        ("/api/v1/cart/items/x", {"PUT", "DELETE"}),
        ("/gio-hang", {"GET", "HEAD"}),
        ("/dang-nhap", {"GET", "HEAD", "POST"}),
    ):
        answer = await browser.patch(path)
        assert answer.status_code == 405
        assert set(answer.headers["allow"].split(", ")) == allowed, path


async def test_every_refusal_at_the_edge_is_branded(browser: httpx.AsyncClient) -> None:
    answers = {
        421: await browser.get("/", headers={"host": "evil.com"}),
        403: await browser.post("/dang-xuat", headers={"sec-fetch-site": "cross-site"}),
        413: await browser.post("/dang-nhap", content=b"x" * 100_000),
        503: await browser.post("/dang-xuat", headers={"x-request-start": "t=1"}),
    }
    assert 'href="http://chopho.example"' in answers[421].text
    for status, answer in answers.items():
        assert (answer.status_code, answer.headers["content-type"]) == (status, PAGE)
        assert "Chợ Phố" in answer.text
        assert "x-request-id" in answer.headers


async def test_a_crash_is_a_branded_500_with_its_stamp(world: World) -> None:
    async def crash(request: Request) -> None:
        raise RuntimeError(f"secret of {request.url.path}")

    world.app.add_route("/crash", crash)  # type: ignore[arg-type]  # a route that answers nothing
    world.app.add_route("/api/crash", crash)  # type: ignore[arg-type]
    async with world.client(headers=BROWSER) as client:
        page = await client.get("/crash", headers={"x-request-id": "req-7"})
        problem = await client.get("/api/crash")
    assert (page.status_code, page.headers["content-type"]) == (500, PAGE)
    assert (page.headers["x-request-id"], page.headers["x-served-by"]) == ("req-7", "shop-1")
    assert "content-security-policy" in page.headers
    assert (problem.status_code, problem.json()["code"]) == (500, "internal")
    assert "secret" not in page.text + problem.text
