"""Authorise, capture, void, refund: what a merchant sees, and what the ledger says about it."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.integration.payments.conftest import Acquirer


def test_money_is_held_then_taken_then_given_back(acquirer: Acquirer) -> None:
    payment = acquirer.authorise("order-1", amount=100_000).json()
    assert (payment["status"], payment["captured"]) == ("authorised", 0)
    assert acquirer.ledger() == {"accounts": {"cardholders": -100_000, "held": 100_000}, "total": 0}
    taken = acquirer.post(f"/payments/{payment['id']}/capture", {}).json()
    assert (taken["status"], taken["captured"]) == ("captured", 100_000)
    back = acquirer.post(f"/payments/{payment['id']}/refund", {"amount": 30_000}).json()
    assert back["refunded"] == 30_000
    assert acquirer.ledger() == {
        "accounts": {"cardholders": -70_000, "held": 0, "merchant:shop": 70_000},
        "total": 0,
    }


def test_a_part_is_taken_and_the_rest_goes_back_to_the_cardholder(acquirer: Acquirer) -> None:
    payment = acquirer.authorise(amount=100_000).json()
    assert acquirer.post(f"/payments/{payment['id']}/capture", {"amount": 60_001}).status_code == 200
    assert acquirer.ledger()["accounts"] == {
        "cardholders": -60_001,
        "held": 0,
        "merchant:shop": 60_001,
    }


def test_a_declined_card_moves_no_money_and_may_be_followed_by_another(acquirer: Acquirer) -> None:
    declined = acquirer.authorise("order-1", token="tok_declined").json()
    assert (declined["status"], declined["decline_reason"]) == ("declined", "card_declined")
    assert acquirer.ledger() == {"accounts": {}, "total": 0}
    assert acquirer.authorise("order-1").json()["status"] == "authorised"
    assert [item["status"] for item in acquirer.find("order-1")["items"]] == ["authorised", "declined"]


@pytest.mark.parametrize(
    ("steps", "code"),
    [
        (["void", "capture"], "payment_voided"),
        (["capture", "void"], "payment_captured"),
        (["capture", "capture"], "payment_captured"),
        (["refund"], "payment_authorised"),
        (["capture", "refund", "refund"], "amount_too_large"),
    ],
)
def test_what_the_state_does_not_allow_changes_nothing(
    acquirer: Acquirer, steps: list[str], code: str
) -> None:
    payment = acquirer.authorise().json()
    for step in steps[:-1]:
        assert acquirer.post(f"/payments/{payment['id']}/{step}", {}).status_code == 200
    before = acquirer.ledger()
    refused = acquirer.post(f"/payments/{payment['id']}/{steps[-1]}", {})
    assert (refused.status_code, refused.json()["code"]) == (409, code)
    assert acquirer.ledger() == before


def test_more_than_was_authorised_is_never_taken(acquirer: Acquirer) -> None:
    payment = acquirer.authorise(amount=10).json()
    refused = acquirer.post(f"/payments/{payment['id']}/capture", {"amount": 11})
    assert (refused.status_code, refused.json()["code"]) == (409, "amount_too_large")


@pytest.mark.parametrize("amount", [0, -1, 1.5, "100", True, None, 10**12 + 1, 2**63, float("1e3")])
def test_an_amount_is_whole_minor_units(acquirer: Acquirer, amount: object) -> None:
    refused = acquirer.authorise(amount=amount)  # type: ignore[arg-type]  # the point of the test
    assert refused.status_code == 422
    assert refused.headers["content-type"] == "application/problem+json"
    assert acquirer.ledger() == {"accounts": {}, "total": 0}


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'{"token":"\\ud800"}', b"[" * 50_000, b"\xff"])
def test_a_body_that_is_no_request_is_refused(acquirer: Acquirer, body: bytes) -> None:
    headers = {**acquirer.token, "Idempotency-Key": "k", "Content-Type": "application/json"}
    answer = acquirer.client.post("/v1/payments", content=body, headers=headers)
    assert answer.status_code in {400, 422}


def test_another_currency_and_an_unknown_token_are_refused(acquirer: Acquirer) -> None:
    body = {"merchant_reference": "r", "amount": 1, "currency": "USD", "token": "tok_ok"}
    assert acquirer.post("/payments", body).status_code == 422
    assert acquirer.authorise(token="tok_stolen").status_code == 422


def test_a_reference_has_one_live_payment(acquirer: Acquirer) -> None:
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda _: acquirer.authorise("order-1"), range(12)))
    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 11
    assert acquirer.ledger()["accounts"]["held"] == 250_000


@pytest.mark.parametrize("path", ["/payments", "/closures", "/payments/pay_" + "0" * 32 + "/refund"])
def test_an_anonymous_caller_moves_no_money(acquirer: Acquirer, path: str) -> None:
    for headers in (
        {},
        {"X-Internal-Token": "forged"},
        {"X-Internal-Token": acquirer.keys.token(audience="reviews")},
    ):
        body = {"merchant_reference": "r", "amount": 1, "currency": "VND", "token": "tok_ok"}
        answer = acquirer.client.post(f"/v1{path}", json=body, headers={**headers, "Idempotency-Key": "k"})
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")
    assert httpx.get(f"{acquirer.url}/v1/ledger").status_code == 401


def test_a_token_made_for_a_person_moves_no_money(acquirer: Acquirer) -> None:
    body = {"merchant_reference": "r", "amount": 1, "currency": "VND", "token": "tok_ok"}
    for role in ("customer", "owner", "operator"):
        headers = {"X-Internal-Token": acquirer.keys.token(role=role), "Idempotency-Key": "k"}
        assert acquirer.client.post("/v1/payments", json=body, headers=headers).status_code == 403


def test_every_service_says_what_it_received(acquirer: Acquirer) -> None:
    told = acquirer.client.post("/echo?a=1&b=%2F", content=b"\x00hi", headers={"X-One": "1"}).json()
    assert (told["method"], told["path"], told["query"], told["body"]) == (
        "POST",
        "/echo",
        "a=1&b=%2F",
        "AGhp",
    )
    assert ["x-one", "1"] in told["headers"]


def test_the_ledger_sums_to_zero_whatever_happens_at_once(acquirers: list[Acquirer]) -> None:
    processes = acquirers
    payments = [processes[0].authorise(amount=amount).json()["id"] for amount in (1, 99_999, 250_000, 10**12)]
    dice = random.Random(20_260)

    def step(number: int) -> int:
        process, payment = processes[number % 2], dice.choice(payments)
        what = dice.choice(["capture", "void", "refund", "refund"])
        part = {} if what == "void" else {"amount": dice.choice([None, 1, 40_000, 99_999])}
        return process.until_done(f"/payments/{payment}/{what}", part).status_code

    with ThreadPoolExecutor(16) as pool:
        statuses = list(pool.map(step, range(160)))
    assert set(statuses) <= {200, 409}
    ledger = processes[0].ledger()
    found = [processes[0].get(f"/payments/{payment}") for payment in payments]
    assert ledger["total"] == 0
    assert ledger["accounts"].get("merchant:shop", 0) == sum(
        one["captured"] - one["refunded"] for one in found
    )
    assert ledger["accounts"]["held"] == sum(one["amount"] for one in found if one["status"] == "authorised")
    assert all(0 <= one["refunded"] <= one["captured"] <= one["amount"] for one in found)


@pytest.mark.parametrize("what", ["capture", "refund", "void"])
def test_a_payment_is_taken_or_given_back_once_however_many_ask_at_once(
    acquirers: list[Acquirer], what: str
) -> None:
    processes = acquirers
    payment = processes[0].authorise(amount=50_000).json()["id"]
    if what == "refund":
        processes[0].post(f"/payments/{payment}/capture", {})
    with ThreadPoolExecutor(16) as pool:
        answers = list(
            pool.map(lambda n: processes[n % 2].until_done(f"/payments/{payment}/{what}", {}), range(16))
        )
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 15
    assert processes[0].ledger()["total"] == 0
    assert processes[0].ledger()["accounts"]["held"] == 0
