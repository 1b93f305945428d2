"""The same key, the same answer: under concurrency, over processes, after a crash."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import httpx
import psycopg
import pytest

from tests.integration.payments.conftest import Acquirer, Start, plain


def test_the_same_request_gets_the_same_answer_from_any_process(acquirers: list[Acquirer]) -> None:
    first = acquirers[0].authorise("order-1", key="k")
    again = acquirers[1].authorise("order-1", key="k")
    assert first.status_code == again.status_code == 201
    assert again.json() == first.json()
    assert acquirers[0].ledger()["accounts"]["held"] == 250_000


def test_a_refusal_is_an_answer_too(acquirer: Acquirer) -> None:
    payment = acquirer.authorise().json()["id"]
    first = acquirer.post(f"/payments/{payment}/refund", {}, key="k")
    acquirer.post(f"/payments/{payment}/capture", {})
    again = acquirer.post(f"/payments/{payment}/refund", {}, key="k")
    assert first.status_code == again.status_code == 409
    assert again.json() == first.json()


def test_another_request_with_the_same_key_is_refused(acquirer: Acquirer) -> None:
    payment = acquirer.authorise("order-1", key="k").json()["id"]
    for refused in (
        acquirer.authorise("order-1", amount=1, key="k"),
        acquirer.authorise("order-2", key="k"),
        acquirer.post(f"/payments/{payment}/capture", {}, key="k"),
    ):
        assert (refused.status_code, refused.json()["code"]) == (422, "key_reused")
    assert acquirer.ledger()["accounts"]["held"] == 250_000


def test_a_request_without_a_key_moves_no_money(acquirer: Acquirer) -> None:
    body = {"merchant_reference": "r", "amount": 1, "currency": "VND", "token": "tok_ok"}
    assert acquirer.client.post("/v1/payments", json=body, headers=acquirer.token).status_code == 422


def test_while_the_first_is_in_progress_the_second_is_told_to_wait(acquirers: list[Acquirer]) -> None:
    slow, other = acquirers[1], acquirers[0]
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(slow.authorise, "order-1", token="tok_slow", key="k")
        while not other.find("order-1")["in_progress"]:
            time.sleep(0.02)
        second = other.authorise("order-1", token="tok_slow", key="k")
        assert (second.status_code, second.json()["code"]) == (409, "key_in_progress")
        assert second.headers["retry-after"] == "1"
        assert first.result().status_code == 201
    assert other.authorise("order-1", token="tok_slow", key="k").json() == first.result().json()
    assert not other.find("order-1")["in_progress"]


def test_forty_requests_with_one_key_at_once_charge_once(acquirers: list[Acquirer]) -> None:
    for round_ in range(5):
        reference = f"order-{round_}"

        def ask(number: int, reference: str = reference) -> httpx.Response:
            return acquirers[number % 2].authorise(reference, amount=1000, key=reference)

        with ThreadPoolExecutor(40) as pool:
            answers = list(pool.map(ask, range(40)))
        assert {answer.status_code for answer in answers} <= {201, 409, 503}
        assert {answer.json()["code"] for answer in answers if answer.status_code == 409} <= {
            "key_in_progress"
        }
        assert len({answer.text for answer in answers if answer.status_code == 201}) == 1
        assert acquirers[0].find(reference)["total"] == 1
    assert acquirers[0].ledger() == {"accounts": {"cardholders": -5000, "held": 5000}, "total": 0}


def test_a_crash_after_the_charge_loses_the_answer_and_nothing_else(start: Start) -> None:
    acquirer = start()
    with pytest.raises(httpx.TransportError):
        acquirer.authorise("order-1", token="tok_crash", key="k")
    assert acquirer.process.wait(timeout=20) == 70
    again = start()
    found = again.find("order-1")
    assert [item["status"] for item in found["items"]] == ["authorised"]
    assert not found["in_progress"]
    replayed = again.authorise("order-1", token="tok_crash", key="k")
    assert replayed.status_code == 201
    assert replayed.json()["id"] == found["items"][0]["id"]
    assert again.ledger()["accounts"]["held"] == 250_000
    assert again.process.poll() is None


def test_a_claim_whose_process_died_is_taken_over(acquirer: Acquirer, shared: tuple[str, object]) -> None:
    first = acquirer.authorise("order-1", key="k").json()
    with psycopg.connect(plain(shared[0]), autocommit=True) as connection:
        unanswered = (
            "UPDATE payments.requests SET status = NULL, body = NULL, claimed_until = now() + %s::interval"
        )
        connection.execute(unanswered, ("1 minute",))
        assert acquirer.authorise("order-1", key="k").json()["code"] == "key_in_progress"
        connection.execute(unanswered, ("-1 second",))
    assert acquirer.authorise("order-1", key="k").json()["code"] == "reference_taken"
    assert acquirer.find("order-1")["items"][0]["id"] == first["id"]


def test_whoever_lost_a_claim_does_nothing(acquirers: list[Acquirer], shared: tuple[str, object]) -> None:
    slow, other = acquirers[1], acquirers[0]
    with ThreadPoolExecutor(1) as pool, psycopg.connect(plain(shared[0]), autocommit=True) as connection:
        first = pool.submit(slow.authorise, "order-1", token="tok_slow", key="k")
        while not other.find("order-1")["in_progress"]:
            time.sleep(0.02)
        connection.execute("UPDATE payments.requests SET claim = 'of another process'")
        assert first.result().json()["code"] == "key_in_progress"
    assert other.find("order-1")["items"] == []
    assert other.ledger() == {"accounts": {}, "total": 0}


def test_a_caller_who_gave_up_is_not_charged(acquirer: Acquirer) -> None:
    headers = {**acquirer.token, "Idempotency-Key": "k", "X-Request-Deadline-Ms": "300"}
    body = {"merchant_reference": "order-1", "amount": 1, "currency": "VND", "token": "tok_slow"}
    assert acquirer.client.post("/v1/payments", json=body, headers=headers).status_code == 504
    assert acquirer.find("order-1") == {
        "items": [],
        "total": 0,
        "page": 1,
        "page_size": 1,
        "in_progress": False,
    }
    assert acquirer.authorise("order-1", amount=1, token="tok_slow", key="k").status_code == 201


def test_a_closed_reference_is_never_charged_not_even_by_what_is_under_way(acquirers: list[Acquirer]) -> None:
    slow, other = acquirers[1], acquirers[0]
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(slow.authorise, "order-1", token="tok_slow")
        while not other.find("order-1")["in_progress"]:
            time.sleep(0.02)
        closed = other.post("/closures", {"merchant_reference": "order-1"}).json()
        assert closed == {"merchant_reference": "order-1", "closed": True, "payment": None}
        assert first.result().json()["code"] == "reference_closed"
    assert other.authorise("order-1").json()["code"] == "reference_closed"
    assert other.ledger() == {"accounts": {}, "total": 0}


def test_closing_lets_go_of_what_is_held_and_leaves_what_was_taken(acquirer: Acquirer) -> None:
    acquirer.authorise("held")
    taken = acquirer.authorise("taken", amount=7).json()["id"]
    acquirer.post(f"/payments/{taken}/capture", {})
    for _ in range(2):
        assert acquirer.post("/closures", {"merchant_reference": "held"}).json()["closed"]
    kept = acquirer.post("/closures", {"merchant_reference": "taken"}).json()
    assert (kept["closed"], kept["payment"]["status"]) == (False, "captured")
    assert acquirer.ledger()["accounts"] == {"cardholders": -7, "held": 0, "merchant:shop": 7}


def test_opening_and_closing_at_once_leaves_no_money_behind(acquirers: list[Acquirer]) -> None:
    together = Barrier(2)

    def opens(number: int) -> int:
        body = {"merchant_reference": f"order-{number}", "amount": 5, "currency": "VND", "token": "tok_ok"}
        together.wait()
        return acquirers[0].until_done("/payments", body).status_code

    def closes(number: int) -> int:
        together.wait()
        return acquirers[1].until_done("/closures", {"merchant_reference": f"order-{number}"}).status_code

    with ThreadPoolExecutor(1) as openers, ThreadPoolExecutor(1) as closers:
        opened = openers.map(opens, range(60))
        closed = closers.map(closes, range(60))
        assert set(closed) == {200}
        assert set(opened) <= {201, 409}
    assert acquirers[0].ledger()["accounts"].get("held", 0) == 0
