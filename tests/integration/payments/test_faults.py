"""Every fault switch as a real client sees it; each ends by itself, and without a token there is none."""

from __future__ import annotations

import time

import httpx
import pytest

from app.clients.faults import FaultsError, FaultSwitches
from tests.conftest import free_port, wait_until
from tests.integration.payments.conftest import FAULTS_TOKEN, Acquirer


@pytest.fixture
def faulty(acquirers: list[Acquirer]) -> Acquirer:
    return acquirers[0]


def switches(acquirer: Acquirer, token: str = FAULTS_TOKEN) -> FaultSwitches:
    return FaultSwitches(url=acquirer.url, token=token)


def test_without_a_token_in_its_settings_a_service_has_no_switches(acquirer: Acquirer) -> None:
    with pytest.raises(FaultsError, match="no fault switches"):
        switches(acquirer).on()
    assert acquirer.client.put("/faults", json={"mode": "hang"}).status_code == 404


@pytest.mark.parametrize("token", ["?", "wrong", FAULTS_TOKEN + "x", "é"])
def test_only_the_operator_turns_a_switch(faulty: Acquirer, token: str) -> None:
    headers = [(b"Authorization", f"Bearer {token}".encode())]
    for method in ("GET", "PUT", "DELETE"):
        assert faulty.client.request(method, "/faults", headers=headers).status_code == 401
    with pytest.raises(FaultsError, match="token"):
        switches(faulty, "wrong").turn_on({"mode": "hang"})


@pytest.mark.parametrize(
    "fault",
    [
        {"mode": "explode"},
        {"latency_s": -1},
        {"latency_s": "NaN"},
        {"error_rate": 1.1},
        {"for_s": 0},
        {"for_s": 1e9},
        {"endpoint": "no path"},
        {"surprise": 1},
    ],
)
def test_a_fault_that_makes_no_sense_is_refused(faulty: Acquirer, fault: dict[str, object]) -> None:
    with pytest.raises(FaultsError, match="refused"):
        switches(faulty).turn_on(fault)
    assert switches(faulty).on() == []


def test_a_switch_is_listed_turned_off_and_expires(faulty: Acquirer) -> None:
    operator = switches(faulty)
    operator.turn_on({"endpoint": "/echo", "error_rate": 1, "for_s": 600})
    on = operator.turn_on({"endpoint": "GET /v1/*", "mode": "garbage", "for_s": 1})
    assert {one["endpoint"] for one in on} == {"/echo", "GET /v1/*"}
    wait_until(lambda: len(operator.on()) == 1, what="the end of the short one")
    assert faulty.ledger() == {"accounts": {}, "total": 0}
    assert operator.turn_off("/echo") == []
    assert faulty.client.get("/echo").status_code == 200


def test_a_fault_stays_at_its_endpoint_and_probes_and_switches_have_none(faulty: Acquirer) -> None:
    operator = switches(faulty)
    operator.turn_on({"error_rate": 1, "error_status": 503})
    operator.turn_on({"endpoint": "POST /echo", "error_rate": 1, "error_status": 418})
    operator.turn_on({"endpoint": "/v1/ledger"})
    assert faulty.client.post("/echo").status_code == 418
    assert faulty.client.get("/echo").status_code == 503
    assert faulty.ledger()["total"] == 0
    assert faulty.client.get("/health/readiness").status_code == 200
    assert len(operator.on()) == 3


def test_latency_delays_an_answer_and_jitter_spreads_it(faulty: Acquirer) -> None:
    switches(faulty).turn_on({"latency_s": 0.3, "jitter_s": 0.1})
    began = time.monotonic()
    assert faulty.client.get("/echo").status_code == 200
    assert time.monotonic() - began >= 0.2


def test_some_requests_fail_at_a_rate_and_are_not_done(faulty: Acquirer) -> None:
    switches(faulty).turn_on({"endpoint": "POST /v1/payments", "error_rate": 0.5})
    statuses = [faulty.authorise().status_code for _ in range(40)]
    assert set(statuses) == {201, 500}
    assert faulty.ledger()["accounts"]["held"] == 250_000 * statuses.count(201)


def test_a_hanging_service_says_nothing_until_the_fault_is_over(faulty: Acquirer) -> None:
    operator = switches(faulty)
    operator.turn_on({"endpoint": "/echo", "mode": "hang", "for_s": 600})
    with pytest.raises(httpx.ReadTimeout):
        faulty.client.get("/echo", timeout=0.5)
    operator.turn_on({"endpoint": "/echo", "mode": "hang", "for_s": 1})
    with pytest.raises(httpx.RemoteProtocolError):
        faulty.client.get("/echo")
    assert faulty.client.get("/echo").status_code == 200


def test_a_refusing_service_closes_the_connection_and_does_nothing(faulty: Acquirer) -> None:
    switches(faulty).turn_on({"endpoint": "/v1/payments", "mode": "refuse"})
    with pytest.raises(httpx.TransportError):
        faulty.authorise("order-1")
    switches(faulty).turn_off()
    assert faulty.find("order-1")["items"] == []


def test_garbage_looks_like_success_and_cannot_be_read(faulty: Acquirer) -> None:
    switches(faulty).turn_on({"mode": "garbage"})
    answer = faulty.authorise("order-1")
    assert answer.status_code == 200
    with pytest.raises(ValueError, match=r"decode|Expecting|Invalid"):
        answer.json()
    switches(faulty).turn_off()
    assert faulty.find("order-1")["items"] == []


def test_a_slow_body_trickles_but_arrives(faulty: Acquirer) -> None:
    switches(faulty).turn_on({"mode": "slow_body", "body_s": 1})
    began = time.monotonic()
    with faulty.client.stream("GET", "/echo") as answer:
        assert len(list(answer.iter_raw())) > 3
    assert time.monotonic() - began >= 0.9


def test_a_partial_body_ends_in_the_middle_of_what_was_done(faulty: Acquirer) -> None:
    switches(faulty).turn_on({"endpoint": "/v1/payments", "mode": "partial_body"})
    with pytest.raises(httpx.RemoteProtocolError, match=r"incomplete|without sending complete"):
        faulty.authorise("order-1", key="k")
    switches(faulty).turn_off()
    assert [item["status"] for item in faulty.find("order-1")["items"]] == ["authorised"]
    assert faulty.authorise("order-1", key="k").status_code == 201


def test_a_service_that_is_not_there_is_said_so() -> None:
    with pytest.raises(FaultsError, match="does not answer"):
        FaultSwitches(url=f"http://127.0.0.1:{free_port()}", token=FAULTS_TOKEN).on()
