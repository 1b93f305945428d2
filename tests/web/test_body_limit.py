"""Bodies: announced, streamed without end, nested without end."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest

LIMIT = 64 * 1024
JSON = {"content-type": "application/json"}
FORM = {"content-type": "application/x-www-form-urlencoded"}


class Endless:
    """A body that never ends, and knows how much of it was taken."""

    def __init__(self, first: bytes) -> None:
        self.taken = 0
        self._first = first

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._first
        while True:
            self.taken += 64 * 1024
            assert self.taken < 100 * LIMIT, "somebody reads for ever"
            yield b"x" * (64 * 1024)


@pytest.mark.parametrize(
    ("path", "headers", "first"),
    [("/api/v1/session", JSON, b'{"email": "'), ("/dang-nhap", FORM, b"email=")],
)
async def test_an_endless_body_is_read_up_to_the_limit(
    browser: httpx.AsyncClient, path: str, headers: dict[str, str], first: bytes
) -> None:
    body = Endless(first)
    answer = await browser.post(path, content=body, headers=headers)
    assert answer.status_code == 413
    assert answer.headers["connection"] == "close"
    assert body.taken <= LIMIT + 128 * 1024
    if path.startswith("/api"):
        assert answer.json()["code"] == "body_too_large"
    else:
        assert "Nội dung gửi lên quá lớn" in answer.text


async def test_an_endless_body_that_nobody_asked_for_is_not_read_and_ends_the_connection(
    api: httpx.AsyncClient,
) -> None:
    refused: list[tuple[str, dict[str, str], int]] = [
        ("/none", {}, 404),
        ("/none", {"host": "evil.com"}, 421),
        ("/none", {"origin": "http://evil.com"}, 403),
        ("/none", {"x-request-start": "t=1"}, 503),
    ]
    for path, headers, status in refused:
        body = Endless(b"")
        answer = await api.post(path, content=body, headers=headers)
        assert (answer.status_code, answer.headers["connection"], body.taken) == (status, "close", 0)


async def test_an_announced_body_is_refused_before_it_is_sent(api: httpx.AsyncClient) -> None:
    for length in ("50000000", "9" * 30, "9" * 5000):
        body = Endless(b"")
        headers = {**JSON, "content-length": length}
        answer = await api.post("/api/v1/session", content=body, headers=headers)
        assert (answer.status_code, body.taken) == (413, 0)


async def test_a_body_up_to_the_limit_is_read(api: httpx.AsyncClient) -> None:
    fits = b'{"email": "%s"}' % (b"x" * (LIMIT - 13))
    assert len(fits) == LIMIT
    assert (await api.post("/api/v1/session", content=fits, headers=JSON)).status_code == 422
    assert (await api.post("/api/v1/session", content=fits + b" ", headers=JSON)).status_code == 413


async def test_forms_past_the_limit_are_refused_whole(browser: httpx.AsyncClient) -> None:
    for body in (
        b"a=1&" * 20_000,
        b"&".join(b"f%d=%s" % (n, b"x" * 1000) for n in range(900)),
        b"a" * 3_000_000,
    ):
        answer = await browser.post("/dang-nhap", content=body, headers=FORM)
        assert answer.status_code == 413


async def test_forms_are_bounded_in_fields_and_read_strictly(browser: httpx.AsyncClient) -> None:
    bodies = [
        b"a=1&" * 10_000,
        b"a=1&" * 51,
        b"email=%ff&password=%fe",
        b"email=\xff",
    ]
    for body in bodies:
        answer = await browser.post("/dang-nhap", content=body, headers=FORM)
        assert answer.status_code == 400, body[:20]
        assert "không đọc được" in answer.text


@pytest.mark.parametrize(
    "content_type",
    [
        "multipart/form-data; boundary=x",
        "multipart/form-data",
        "multipart/form-data; boundary=x; charset=idna",
        "application/json",
        "text/plain; charset=bogus",
        "\xff",
    ],
)
async def test_a_form_in_another_encoding_is_refused_unread(
    browser: httpx.AsyncClient, content_type: str
) -> None:
    headers = {b"content-type": content_type.encode("latin-1")}
    body = b'--x\r\nContent-Disposition: form-data; name="email"\r\n\r\n\xff'
    answer = await browser.post("/dang-nhap", content=body, headers=headers)
    assert answer.status_code == 415


async def test_a_form_may_say_its_charset_whatever_it_says(browser: httpx.AsyncClient) -> None:
    for charset in ("utf-8", "bogus", '"', "x" * 1000):
        headers = {"content-type": f"application/x-www-form-urlencoded; charset={charset}"}
        answer = await browser.post("/dang-nhap", content=b"email=a", headers=headers)
        assert answer.status_code == 401
