from __future__ import annotations

import time

import pytest

from app.observability.scrub import scrub

SECRETS = (
    ("password=hunter2-xyz", "hunter2"),
    ("{'password': 'hunter2 with spaces'}", "with spaces"),
    ('{"current_password":"hunter2"}', "hunter2"),
    ("MAT_KHAU: hunter2", "hunter2"),
    ("Cookie: chopho_session=r1.abc; other=2", "r1.abc"),
    ("set-cookie: __Host-chopho_session=r1.abc; Path=/", "r1.abc"),
    ("(b'cookie', b'chopho_session=r1.abc')", "r1.abc"),
    ("Authorization: Bearer abc.def", "abc.def"),
    ("it sent bearer abcdef0123", "abcdef0123"),
    ("redis://:s3cr3t@127.0.0.1:6379/0 refused", "s3cr3t"),
    ("postgresql+psycopg://chopho:s3cr3t@db/chopho", "s3cr3t"),
    ("GET /tim-kiem?q=thuoc+tri+benh&page=2 failed", "thuoc"),
    ("https://chopho.example/dat-lai?code=123456.", "123456"),
    ("no account khach@chopho.example", "khach"),
    ("parameters: ('nguyen.van-a+shop@thư.vn', 1)", "nguyen"),
    ("call 0912345678 now", "345678"),
    ("call 0912 345 678 now", "345 678"),
    ("call 0912.345.678 now", "345.678"),
    ("phone +84 912-345-678.", "912-345"),
    ("phone 0084912345678", "912345678"),
    ("token eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiI0ODIxMyJ9.c2lnbmF0dXJl", "eyJzdWIi"),
    ("session 3f9aXk2LmQ8vR1tYz7Wc0bN5pHs6Gd4Ej-uKoViTfAe", "3f9aXk2L"),
    ("FAULTS_TOKEN=letmein", "letmein"),
)


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_what_must_not_be_told_is_gone(text: str, secret: str) -> None:
    assert secret in text
    assert secret not in scrub(text)
    assert "[removed]" in scrub(text)


@pytest.mark.parametrize(
    "text",
    [
        "breaker payments went from CLOSED to OPEN",
        "order 018f3c2e-7b1a-7c3d-9a52-1f2e3d4c5b6a was placed at 2026-11-30T18:03:18.123Z",
        "took 0.123456789 s, 12345678 bytes from 192.168.100.200:54321",
        "why? because",
        'File "/srv/app/shop/orders.py", line 12, in place',
        "1,250,000 ₫ for 3 of SKU-0912",
        "request 3f9a2c1d4e5b6a7f8091a2b3c4d5e6f7 ended",
    ],
)
def test_what_operators_need_stays(text: str) -> None:
    assert scrub(text) == text


def test_a_secret_across_the_limit_is_not_half_told() -> None:
    assert "khach" not in scrub("x" * 20 + " khach.hang@chopho.example", limit=28)


def test_a_long_text_is_cut_and_says_so() -> None:
    assert scrub("a " * 5000, limit=100) == "a " * 50 + " [cut]"


REPEATED = (
    "a",
    "a-",
    "a@",
    "a.b@",
    "0 1 ",
    "=:",
    "eyJ.",
    "eyJ",
    "://",
    "?a",
    "cookie ",
    "token",
    "token_",
    "pwd-",
)


@pytest.mark.parametrize("unit", REPEATED)
def test_hostile_repetition_costs_time_in_proportion_only(unit: str) -> None:
    def cost(times: int) -> float:
        text = unit * times
        began = time.process_time()
        scrub(text, limit=len(text))
        return time.process_time() - began

    # Quadratic work would cost 256 times as much; noise stays far below that.
    assert cost(8_000) < 100 * max(cost(500), 0.001)
