from __future__ import annotations

import asyncio
import random
import string
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from starlette.types import Message, Receive, Scope, Send

from app.observability.http_metrics import HttpMetrics
from app.observability.requests import RequestLog
from tests.unit.observability.application import observed


async def test_a_request_is_one_line_with_its_template_and_who_it_was(tmp_path: Path) -> None:
    async with observed(tmp_path) as shop:
        await shop.client.get("/api/v1/orders/018f3c2e", headers={"x-request-id": "r-77"})
        (line,) = shop.lines()

    assert line.pop("time").endswith("Z")
    assert line.pop("duration_ms") > 0
    assert line == {
        "level": "info",
        "logger": "request",
        "replica": "app1",
        "message": "request",
        "request_id": "r-77",
        "account": "user:48213",
        "client": "127.0.0.1",
        "method": "GET",
        "route": "/api/v1/orders/{order_id}",
        "status": 200,
    }


@pytest.mark.parametrize(
    ("path", "template"),
    [
        ("/api/v1/orders/5", "/api/v1/orders/{order_id}"),
        ("/api/v1/lines/A-1/notes", "/api/v1/lines/{sku}/notes"),
        ("/san-pham/ao-dai", "/san-pham/{slug}"),
        ("/tep/a/b/c", "/tep/{path}"),
        ("/shop/hue/stock/A-1", "/shop/{city}/stock/{sku}"),
        ("/static/site.css", "/static/{path}"),
        ("/docs", "/docs"),
        ("/san-pham/ao-dai/", "unmatched"),
        ("/api/v1/nothing", "unmatched"),
        ("/wp-login.php", "unmatched"),
    ],
)
async def test_every_kind_of_route_is_told_by_its_template(tmp_path: Path, path: str, template: str) -> None:
    async with observed(tmp_path) as shop:
        await shop.client.get(path)
        (line,) = shop.lines()

    assert line["route"] == template


async def test_a_method_that_the_route_does_not_take_is_told_with_the_route(tmp_path: Path) -> None:
    async with observed(tmp_path) as shop:
        await shop.client.delete("/api/v1/orders/5")
        (line,) = shop.lines()

    assert (line["route"], line["status"]) == ("/api/v1/orders/{order_id}", 405)


SECRETS = ("hunter2", "r1.c00k1e", "khach@chopho.example", "0912345678", "t0k3n", "thuoc-tri-benh")


async def test_hostile_requests_leave_whole_lines_and_none_of_their_secrets(tmp_path: Path) -> None:
    async with observed(tmp_path) as shop:
        for path in (
            "/san-pham/khach@chopho.example?password=hunter2&q=thuoc-tri-benh",
            "/api/v1/orders/0912345678?token=t0k3n",
            "/khach@chopho.example/0912345678",
            "/san-pham/%0d%0a%1b%5b31m%7b%22level%22:%22forged%22%7d",
            "/" + "A" * 5000,
        ):
            await shop.client.get(
                path,
                headers={
                    b"cookie": b"chopho_session=r1.c00k1e",
                    b"authorization": b"Bearer t0k3n",
                    b"user-agent": b"\x1b[2J hunter2",
                    b"referer": b"https://chopho.example/?q=thuoc-tri-benh",
                    b"x-request-id": b"\x1b[31m0912345678\x9b" + b"A" * 4000,
                    b"x-account": b'user:1"}\x00 khach@chopho.example',
                },
            )
        await shop.client.request("GET\x1b[31m", "/san-pham/a")
        lines = shop.lines()
        raw = shop.log.read_bytes()

    assert len(lines) == 6
    assert not [secret for secret in SECRETS if secret.encode() in raw]
    assert raw.decode().replace("\n", "").isprintable()
    assert len(raw) < 6 * 400
    assert {line["request_id"] for line in lines[:5]} == {"[odd]"}
    assert {line["account"] for line in lines[:5]} == {"[odd]"}
    assert lines[5]["method"] == "other"


async def test_a_thousand_random_paths_and_methods_make_no_more_labels_than_two(tmp_path: Path) -> None:
    dice = random.Random(5)
    async with observed(tmp_path) as shop:
        for number in range(1000):
            word = "".join(dice.choices(string.ascii_letters, k=12))
            await shop.client.request("GET" if number % 2 else f"X{word}", f"/{word}/{number}?{word}={word}")
        metrics = await shop.metrics()

    counted = [line for line in metrics.splitlines() if line.startswith("http_requests_total")]
    assert sorted(counted) == [
        'http_requests_total{method="GET",route="unmatched",status="4xx"} 500.0',
        'http_requests_total{method="other",route="unmatched",status="4xx"} 500.0',
    ]


async def test_a_crash_counts_as_a_500(tmp_path: Path) -> None:
    async with observed(tmp_path) as shop:
        assert (await shop.client.get("/crash")).status_code == 500
        metrics = await shop.metrics()
        (line,) = shop.lines()

    assert 'http_requests_total{method="GET",route="/crash",status="5xx"} 1.0' in metrics
    assert line["status"] == 500


async def test_an_event_stream_does_not_spoil_the_durations(tmp_path: Path) -> None:
    async with observed(tmp_path) as shop:
        await shop.client.get("/events")
        await shop.client.get("/san-pham/ao-dai")
        metrics = await shop.metrics()

    assert 'http_requests_total{method="GET",route="/events",status="2xx"} 1.0' in metrics
    assert 'http_request_duration_seconds_count{method="GET",route="/events"}' not in metrics
    assert 'http_request_duration_seconds_count{method="GET",route="/san-pham/{slug}"} 1.0' in metrics


async def test_the_operators_own_questions_are_not_counted(tmp_path: Path) -> None:
    async with observed(tmp_path) as shop:
        await shop.metrics()
        metrics = await shop.metrics()
        assert shop.lines() == []

    assert "http_requests_total{" not in metrics


async def test_a_request_that_is_cut_is_counted_and_no_longer_in_flight() -> None:
    began = asyncio.Event()

    async def hang(_scope: Scope, _receive: Receive, _send: Send) -> None:
        began.set()
        await asyncio.Event().wait()

    async def nothing() -> Message:
        return {"type": "http.disconnect"}

    async def deaf(_: Message) -> None:
        pass

    registry = CollectorRegistry()
    log = RequestLog(hang, metrics=HttpMetrics(registry), writer=None, replica="app1")
    scope = {"type": "http", "method": "GET", "path": "/", "app": type("App", (), {"routes": []})}
    task = asyncio.create_task(log(scope, nothing, deaf))
    await began.wait()
    assert "http_requests_in_flight 1.0" in generate_latest(registry).decode()

    task.cancel()
    await asyncio.wait({task})

    metrics = generate_latest(registry).decode()
    assert task.cancelled()
    assert 'status="4xx"} 1.0' in metrics
    assert "http_requests_in_flight 0.0" in metrics


async def test_metrics_hold_no_secret_either(tmp_path: Path) -> None:
    async with observed(tmp_path) as shop:
        await shop.client.get(
            "/san-pham/khach@chopho.example?password=hunter2", headers={"x-request-id": "t0k3n"}
        )
        metrics = await shop.metrics()

    assert not [secret for secret in SECRETS if secret in metrics]
