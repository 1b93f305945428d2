"""Catalogue files from the browser and into it."""

from __future__ import annotations

import re
import secrets

import httpx

from app.resilience import Limiter
from app.stores.desk.importer import Importer
from app.stores.desk.jobs import SqlJobs
from tests.integration.stores.test_import_jobs import APPAREL
from tests.web.conftest import World
from tests.web.desk.browsers import browser_of
from tests.web.test_pages import Page


async def send(
    browser: httpx.AsyncClient, content: bytes, *, nonce: str = "", name: str = "áo quần.csv", **fields: str
) -> httpx.Response:
    told = {
        "nonce": nonce or secrets.token_urlsafe(16),
        "do": "import",
        "currency": "USD",
        "rate": "25400",
        **fields,
    }
    return await browser.post("/quan-tri/nhap", data=told, files={"file": (name, content, "text/csv")})


async def work(world: World) -> None:
    """What a replica does in the background."""
    jobs = SqlJobs(database=world.database)
    while await Importer(jobs=jobs, url=world.database_url, limiter=Limiter("reports")).once():
        pass


async def test_a_file_is_watched_until_it_is_done_and_taken_out_again(
    world: World, owner: httpx.AsyncClient
) -> None:
    answer = await send(owner, APPAREL)
    assert answer.status_code == 303
    path = answer.headers["location"]
    waiting = await owner.get(path)
    assert '<meta http-equiv="refresh" content="2">' in waiting.text
    assert "Đang chờ" in waiting.text
    Page(waiting.text)
    await work(world)
    done = await owner.get(path)
    assert "refresh" not in done.text.split("<body>")[0].replace("refresh-", "")
    assert "Đã nhập xong" in done.text
    assert "áo quần.csv" in (await owner.get("/quan-tri/nhap")).text
    taken = await owner.get("/quan-tri/xuat/hang-hoa.csv")
    assert taken.headers["content-disposition"] == 'attachment; filename="hang-hoa.csv"'
    assert taken.content.startswith(b"\xef\xbb\xbfHandle,")
    again = await send(owner, taken.content, currency="", rate="")
    await work(world)
    told = (await owner.get(again.headers["location"])).text
    assert re.findall(r"<dt>Món (?:mới|thay đổi)</dt><dd>(\d+)</dd>", told) == ["0", "0"]


async def test_refused_lines_are_shown_and_downloaded_without_harm(
    world: World, owner: httpx.AsyncClient
) -> None:
    broken = APPAREL.replace(b"deny,manual,65", b"deny,manual,=1+1", 1)
    path = (await send(owner, broken)).headers["location"]
    await work(world)
    page = (await owner.get(path)).text
    assert "Bị từ chối" in page
    assert "=1+1" in page
    report = await owner.get(f"{path}/tu-choi.csv")
    assert report.headers["content-type"] == "text/csv; charset=utf-8"
    assert report.content.startswith(b"\xef\xbb\xbf")
    assert "14,Variant Price,'=1+1," in report.text


async def test_a_form_that_cannot_be_is_shown_again(owner: httpx.AsyncClient) -> None:
    for fields, content in (
        ({"rate": "25.400"}, APPAREL),
        ({"currency": "XXX!"}, APPAREL),
        ({"rate": ""}, APPAREL),
        ({}, b""),
        ({}, bytes(9_500_001)),
    ):
        answer = await send(owner, content, **fields)
        assert answer.status_code == 422, (fields, answer.status_code)
        assert 'role="alert"' in answer.text


async def test_a_file_sent_twice_is_one_job_and_only_the_owners(
    world: World, owner: httpx.AsyncClient
) -> None:
    nonce = secrets.token_urlsafe(16)
    first, second = [await send(owner, APPAREL, nonce=nonce) for _ in range(2)]
    assert first.headers["location"] == second.headers["location"]
    async with browser_of(world, "operator") as browser:
        for path in ("/quan-tri/nhap", first.headers["location"], "/quan-tri/xuat/hang-hoa.csv"):
            assert (await browser.get(path)).status_code == 403
        assert (await send(browser, APPAREL)).status_code == 403
    for path in (
        "/quan-tri/nhap/999999",
        "/quan-tri/nhap/x",
        "/quan-tri/nhap/٣",
        "/quan-tri/nhap/999999/tu-choi.csv",
    ):
        assert (await owner.get(path)).status_code == 404
    await work(world)


async def test_a_name_with_a_folder_or_a_line_break_is_only_a_name(owner: httpx.AsyncClient) -> None:
    path = (await send(owner, b"x", name="C:\\Ánh\\hang.csv")).headers["location"]
    assert "<h1>hang.csv</h1>" in (await owner.get(path)).text
