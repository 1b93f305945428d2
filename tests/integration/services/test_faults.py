"""Every kind of fault at each of the services, as a client sees it, at its endpoint alone."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable

import httpx
import pytest

from tests.conftest import wait_until
from tests.integration.services.conftest import World
from tests.integration.services.processes import Service

PATHS = {
    "reviews": "/v1/products/ca-phe/reviews",
    "recommendations": "/v1/products/ca-phe/recommendations",
    "inventory": "/v1/products/ca-phe/stock",
}


@pytest.fixture(params=sorted(PATHS))
def service(request: pytest.FixtureRequest, world: World) -> Service:
    found: Service = getattr(world, request.param)
    return found


def late(answer: Callable[[], httpx.Response]) -> None:
    began = time.monotonic()
    assert answer().status_code == 200
    assert time.monotonic() - began >= 0.2


def cut(answer: Callable[[], httpx.Response]) -> None:
    with pytest.raises(httpx.TransportError):
        answer()


def silent(answer: Callable[[], httpx.Response]) -> None:
    with pytest.raises((httpx.ReadTimeout, httpx.RemoteProtocolError)):
        answer()


def failed(answer: Callable[[], httpx.Response]) -> None:
    assert answer().status_code == 500


def unreadable(answer: Callable[[], httpx.Response]) -> None:
    with pytest.raises(ValueError, match=r"decode|Expecting|Invalid"):
        answer().json()


@pytest.mark.parametrize(
    ("fault", "seen"),
    [
        ({"latency_s": 0.3, "jitter_s": 0.1}, late),
        ({"error_rate": 1}, failed),
        ({"mode": "hang"}, silent),
        ({"mode": "refuse"}, cut),
        ({"mode": "garbage"}, unreadable),
        ({"mode": "slow_body", "body_s": 0.4}, late),
        ({"mode": "partial_body"}, cut),
    ],
    ids=["latency", "errors", "hang", "refuse", "garbage", "slow", "partial"],
)
def test_a_fault_is_seen_at_its_endpoint_alone(
    service: Service, fault: dict[str, object], seen: Callable[[Callable[[], httpx.Response]], None]
) -> None:
    path = PATHS[service.name]
    service.faults.turn_on(
        {"endpoint": f"GET {path}", "for_s": 1 if fault.get("mode") == "hang" else 600, **fault}
    )
    seen(lambda: httpx.get(service.url + path, timeout=30))
    assert service.client.get("/echo").status_code == 200
    assert service.client.get("/health/readiness").status_code == 200
    service.faults.turn_off()
    assert service.client.get(path).status_code == 200


def test_a_fault_ends_by_itself(service: Service) -> None:
    path = PATHS[service.name]
    service.faults.turn_on({"error_rate": 1, "for_s": 0.5})
    wait_until(lambda: service.client.get(path).status_code == 200, what="the end of the fault")
    assert service.faults.on() == []


def test_whoever_calls_is_echoed(service: Service) -> None:
    echoed = service.client.get("/echo?a=1", headers={"X-Request-Id": "r1"}).json()
    assert (echoed["path"], echoed["query"]) == ("/echo", "a=1")
    assert ["x-request-id", "r1"] in echoed["headers"]


@pytest.mark.parametrize("fault", [{"latency_s": 3600}, {"mode": "slow_body", "body_s": 3600}])
def test_a_delay_is_over_with_its_fault(service: Service, fault: dict[str, object]) -> None:
    service.faults.turn_on({**fault, "for_s": 0.5})
    assert service.client.get(PATHS[service.name]).status_code == 200


def test_any_status_of_an_error_can_be_had(service: Service) -> None:
    service.faults.turn_on({"error_rate": 1, "error_status": 599, "for_s": 600})
    assert service.client.get(PATHS[service.name]).status_code == 599
    service.faults.turn_off()


def test_a_caller_that_hangs_up_within_its_body_is_no_fault_of_the_service(service: Service) -> None:
    url = service.client.base_url
    with socket.create_connection((url.host, url.port or 80)) as connection:
        connection.sendall(
            b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\nX-Request-Id: cut\r\n\r\nhalf"
        )
        assert service.client.get("/echo").status_code == 200
    assert service.client.get("/echo").status_code == 200
    assert "ClientDisconnect" not in service.log.read_text()
