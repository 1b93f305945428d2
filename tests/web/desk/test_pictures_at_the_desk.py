"""Pictures from an owner's browser to a shopper's, over the database that all replicas share."""

from __future__ import annotations

import asyncio
import io
import re
import secrets
from collections.abc import AsyncIterator

import httpx
import pytest
from PIL import Image
from sqlalchemy import text

from tests.unit.test_darkroom import SVG, png_claiming
from tests.web.conftest import BROWSER, Build, World
from tests.web.desk.browsers import browser_of, form
from tests.web.desk.test_desk import with_variant


def photo(colour: str = "red", size: tuple[int, int] = (60, 40)) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, "JPEG")
    return out.getvalue()


async def send(
    browser: httpx.AsyncClient,
    path: str,
    content: bytes,
    *,
    name: str = "hình.jpg",
    kind: str = "image/jpeg",
    nonce: str = "",
    alt: str = "Ấm trà",
) -> httpx.Response:
    fields = {"nonce": nonce or secrets.token_urlsafe(16), "do": "add-picture", "alt": alt}
    return await browser.post(f"{path}/hinh", data=fields, files={"picture": (name, content, kind)})


async def test_a_picture_is_shown_to_shoppers_by_every_replica(
    build_world: Build, owner: httpx.AsyncClient
) -> None:
    path, _ = await with_variant(owner)
    answer = await send(owner, path, photo())
    assert (answer.status_code, answer.headers["location"]) == (303, f"{path}?done=1")
    page = (await owner.get(path.removeprefix("/quan-tri"))).text
    address = re.findall(r'src="(/anh/[0-9a-f]{64}\.webp)"', page)[0]
    other = build_world()
    async with other.client(headers=BROWSER) as shopper:
        shown = await shopper.get(address)
        assert shown.status_code == 200
        assert shown.headers["content-type"] == "image/webp"
        assert shown.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert shown.headers["x-content-type-options"] == "nosniff"
        assert "set-cookie" not in shown.headers
        assert Image.open(io.BytesIO(shown.content)).size == (60, 40)
    assert 'alt="Ấm trà"' in (await owner.get(path)).text
    log = (await owner.get("/quan-tri/nhat-ky?action=picture.add")).text
    assert address.removeprefix("/") in log


async def test_a_picture_sent_ten_times_at_once_is_there_once(owner: httpx.AsyncClient) -> None:
    path, _ = await with_variant(owner)
    nonce = secrets.token_urlsafe(16)
    answers = await asyncio.gather(*(send(owner, path, photo("blue"), nonce=nonce) for _ in range(10)))
    assert {answer.status_code for answer in answers} == {303}
    again = await send(owner, path, photo("blue"), alt="Ấm khác")
    assert again.status_code == 303
    page = (await owner.get(path)).text
    assert page.count('value="remove-picture"') == 1
    assert "Ấm khác" in page
    sent = form(page, "remove-picture")
    assert (await owner.post(path, data=sent)).status_code == 303
    assert (await owner.post(path, data=sent)).status_code == 303, "sent again"
    assert 'value="remove-picture"' not in (await owner.get(path)).text
    for source in (sent["source"], "", "\0", "x" * 2_000):
        gone = {**sent, "nonce": secrets.token_urlsafe(16), "source": source}
        assert (await owner.post(path, data=gone)).status_code == 404, source[:10]


@pytest.mark.parametrize(
    ("content", "kind", "reason"),
    [
        (SVG, "image/svg+xml", "Không đọc được hình này"),
        (SVG, "image/png", "Không đọc được hình này"),
        (b"", "image/jpeg", "không được để trống"),
        (photo()[:-300], "image/jpeg", "Không đọc được hình này"),
        (png_claiming(10_000, 10_000), "image/png", "quá nhiều điểm ảnh"),
        (b"\xff\xd8\xff" + bytes(8_000_001), "image/jpeg", "nặng quá"),
    ],
)
async def test_a_hostile_upload_is_refused_with_the_reason_and_keeps_nothing(
    world: World, owner: httpx.AsyncClient, content: bytes, kind: str, reason: str
) -> None:
    path, _ = await with_variant(owner)
    before = await world.database.row(text("SELECT count(*) FROM pictures"))
    answer = await send(owner, path, content, kind=kind)
    assert answer.status_code == 422, answer.text[:500]
    assert reason in answer.text
    assert 'value="Ấm trà"' in answer.text, "what was typed is still there"
    assert await world.database.row(text("SELECT count(*) FROM pictures")) == before


async def test_a_body_past_the_limit_is_not_read(owner: httpx.AsyncClient) -> None:
    path, _ = await with_variant(owner)
    answer = await owner.post(
        f"{path}/hinh",
        content=b"x",
        headers={"content-length": "100000000", "content-type": "multipart/form-data; boundary=x"},
    )
    assert answer.status_code == 413

    async def endless() -> AsyncIterator[bytes]:
        for _ in range(200):
            yield bytes(100_000)

    answer = await owner.post(
        f"{path}/hinh", content=endless(), headers={"content-type": "multipart/form-data; boundary=x"}
    )
    assert answer.status_code in {400, 413}


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", "multipart/form-data"),
        (b"--x\r\n", "multipart/form-data; boundary=x"),
        (b"--x\r\nContent-Disposition: form-data\r\n\r\nv\r\n--x--\r\n", "multipart/form-data; boundary=x"),
        (b'--x\r\nContent-Disposition: form-data; name="nonce"\r\n\r\n\xff\xfe\r\n--x--\r\n', "multipart/form-data; boundary=x"),
        (b"--x\r\n" * 5_000, "multipart/form-data; boundary=x"),
        (b"nonce=x", "application/x-www-form-urlencoded"),
        (b"\0" * 5_000, "multipart/form-data; boundary=" + "y" * 200),
        (
            b"".join(b'--x\r\nContent-Disposition: form-data; name="f%d"; filename="a"\r\n\r\nv\r\n' % n for n in range(60)) + b"--x--\r\n",
            "multipart/form-data; boundary=x",
        ),
    ],
)  # fmt: skip
async def test_a_broken_form_is_a_refusal(owner: httpx.AsyncClient, body: bytes, kind: str) -> None:
    path, _ = await with_variant(owner)
    answer = await owner.post(f"{path}/hinh", content=body, headers={"content-type": kind})
    assert 400 <= answer.status_code < 500, answer.text[:300]


async def test_only_the_owner_brings_pictures_and_nobody_elses_body_is_read(
    world: World, owner: httpx.AsyncClient
) -> None:
    path, _ = await with_variant(owner)
    async with browser_of(world, "customer") as browser:
        assert (await send(browser, path, photo())).status_code == 403
    async with world.client(headers=BROWSER) as visitor:
        assert (await send(visitor, path, photo())).status_code == 303
    assert 'value="remove-picture"' not in (await owner.get(path)).text


@pytest.mark.parametrize(
    "name", ["0" * 64 + ".webp", "x.webp", "..%2f", "0" * 64, "0" * 64 + ".svg", "%00.webp"]
)
async def test_a_picture_that_is_not_there_is_not_found(browser: httpx.AsyncClient, name: str) -> None:
    answer = await browser.get(f"/anh/{name}")
    assert answer.status_code == 404
    assert "immutable" not in answer.headers.get("cache-control", "")
