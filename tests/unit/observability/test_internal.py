from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

from app.observability.compartments import Compartment, Usage
from app.observability.health import Check
from app.observability.observability import Observability, ObservabilityConfig
from tests.unit.observability.application import observed

INTERNAL = ("/metrics", "/health", "/internal/compartments")


def client_from(address: str) -> httpx.AsyncClient:
    observability = Observability(
        ObservabilityConfig(replica="app1", phase=lambda: "ready", phases=("ready",))
    )
    app = Starlette()
    observability.install(app)
    transport = httpx.ASGITransport(app, client=(address, 50_000))
    return httpx.AsyncClient(transport=transport, base_url="http://shop.example")


@pytest.mark.parametrize("path", INTERNAL)
@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "Via", "X-Real-IP"])
async def test_a_request_that_a_balancer_forwarded_finds_nothing(path: str, header: str) -> None:
    async with client_from("127.0.0.1") as client:
        assert (await client.get(path)).status_code == 200
        assert (await client.get(path, headers={header: "127.0.0.1"})).status_code == 404


async def test_compartments_are_told_to_this_machine_alone() -> None:
    async with client_from("10.0.0.7") as client:
        assert (await client.get("/internal/compartments")).status_code == 404
        assert (await client.get("/metrics")).status_code == 200  # Prometheus asks from elsewhere


@pytest.mark.parametrize("path", INTERNAL)
async def test_they_are_only_read(path: str) -> None:
    async with client_from("127.0.0.1") as client:
        head = await client.head(path)
        refused = await client.post(path)

    assert (head.status_code, head.content) == (200, b"")
    assert int(head.headers["content-length"]) > 0
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD")
    assert head.headers["cache-control"] == "no-store"


async def test_metrics_have_the_names_that_dashboards_know(tmp_path: Path) -> None:
    async with observed(tmp_path) as shop:
        shop.observability.compartments.add(a_pool(Usage(in_use=10, waiting=25, rejected=3, holding_s=0.2)))
        await shop.client.get("/san-pham/ao-dai")
        metrics = await shop.metrics()

    for line in (
        'http_requests_total{method="GET",route="/san-pham/{slug}",status="2xx"} 1.0',
        "http_requests_in_flight 0.0",
        'compartment_size{compartment="database",kind="pool"} 10.0',
        'compartment_in_use{compartment="database",kind="pool"} 10.0',
        'compartment_waiting{compartment="database",kind="pool"} 25.0',
        'compartment_rejected_total{compartment="database",kind="pool"} 3.0',
        'compartment_predicted_wait_seconds{compartment="database",kind="pool"} 0.6',
        'lifecycle_phase{phase="ready"} 1.0',
        'lifecycle_phase{phase="starting"} 0.0',
        "# TYPE event_loop_lag_seconds histogram",
        "# TYPE process_resident_memory_bytes gauge",
        "# TYPE process_open_fds gauge",
        "# TYPE python_gc_collections_total counter",
    ):
        assert line in metrics


async def test_health_shows_each_component_without_waiting_for_it(tmp_path: Path) -> None:
    async with observed(tmp_path) as shop:
        components = shop.observability.components
        components.add(Check(name="redis", look=_fail, essential=True, without="no log-in"))
        before: dict[str, Any] = (await shop.client.get("/health")).json()
        assert before["components"]["redis"]["state"] == "unknown"
        await components.look(components.checks[0])
        after: dict[str, Any] = (await shop.client.get("/health")).json()
        metrics = await shop.metrics()

    assert (after["replica"], after["status"]) == ("app1", "down")
    assert after["components"]["redis"]["why"] == "OSError: redis://[removed]@127.0.0.1 is gone"
    assert 'component_up{component="redis"} 0.0' in metrics


async def _fail() -> None:
    raise OSError("redis://:s3cr3t@127.0.0.1 is gone")


def a_pool(usage: Usage) -> Compartment:
    return Compartment(
        name="database", kind="pool", size=10, shared_by=("every route",), dies="all", usage=lambda: usage
    )
