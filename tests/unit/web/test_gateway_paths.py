"""The paths of the gateway mean one thing here and at the service, or are refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.web.errors import Malformed
from app.web.gateway import Endpoint
from app.web.gateway.paths import PREFIX, encoded, segments_of

READ = Endpoint(name="reviews", path="/products/{slug}/reviews")


@pytest.mark.parametrize(
    "hostile",
    [
        b"reviews/../metrics",
        b"reviews/./echo",
        b"reviews/%2e%2e/metrics",
        b"reviews/.%2E/metrics",
        b"..",
        b"reviews//echo",
        b"reviews/echo/",
        b"",
        b"reviews/a%2fb",
        b"reviews/a%2Fb",
        b"reviews/a\\b",
        b"reviews/a%5cb",
        b"reviews/%00",
        b"reviews/echo%0d%0aX:1",
        b"reviews/%252e%252e/metrics",
        b"reviews/a%25b",
        b"reviews/%",
        b"reviews/%zz",
        b"reviews/%c3%28",
        b"reviews/%c0%ae%c0%ae/metrics",
        b"reviews/%e2%80%8f",
        b"reviews/" + b"x" * 2000,
    ],
    ids=repr,
)
def test_a_path_that_two_programs_could_read_differently_is_refused(hostile: bytes) -> None:
    with pytest.raises(Malformed):
        segments_of(PREFIX.encode() + hostile)


@pytest.mark.parametrize("path", [b"/api%2Fservices/reviews/echo", b"/api/%73ervices/reviews/echo"])
def test_the_prefix_has_one_spelling(path: bytes) -> None:
    with pytest.raises(Malformed):
        segments_of(path)


@pytest.mark.parametrize(
    ("asked", "sent"),
    [
        (b"reviews/echo", b"/reviews/echo"),
        (b"reviews/%65cho", b"/reviews/echo"),
        (b"reviews/products/ao-dai/reviews", b"/reviews/products/ao-dai/reviews"),
        ("reviews/áo".encode(), b"/reviews/%C3%A1o"),
        (b"reviews/a%20b;c=%3F%23", b"/reviews/a%20b;c=%3F%23"),
        (b"reviews/...", b"/reviews/..."),
    ],
)
def test_every_other_path_has_one_spelling(asked: bytes, sent: bytes) -> None:
    assert encoded(segments_of(PREFIX.encode() + asked)) == sent


@given(st.binary(max_size=60).filter(lambda raw: b"?" not in raw and b"#" not in raw))
def test_whatever_is_asked_what_is_sent_is_a_plain_path(raw: bytes) -> None:
    try:
        sent = encoded(segments_of(PREFIX.encode() + raw))
    except Malformed:
        return
    assert sent.isascii()
    assert not set(sent) & set(b" \\\r\n\t\0?#")
    assert not {b"", b".", b".."} & set(sent.split(b"/")[1:])
    assert segments_of(PREFIX.encode() + sent[1:]) == segments_of(PREFIX.encode() + raw)


def test_an_endpoint_fits_its_own_paths_alone() -> None:
    assert READ.fits(["products", "ao-dai", "reviews"])
    for other in (
        [],
        ["products"],
        ["products", "x"],
        ["products", "x", "y"],
        ["products", "x", "reviews", "1"],
    ):
        assert not READ.fits(other)
