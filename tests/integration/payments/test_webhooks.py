"""Events reach every consumer that lives, once it lives, signed; a dead one delays nobody."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from app.clients.webhooks import verify
from tests.conftest import free_port, wait_until
from tests.integration.payments.conftest import SECRET, Acquirer, Receiver, Start, plain

OLDER = "o" * 40


def webhooks(**receivers: str) -> dict[str, str]:
    return {
        "WEBHOOKS": ",".join(f"{name}={url}" for name, url in receivers.items()),
        "WEBHOOK_SECRETS": ",".join(f"{name}={SECRET},{name}={OLDER}" for name in receivers),
        "WEBHOOK_TIMEOUT": "2s",
    }


def pay(acquirer: Acquirer) -> None:
    payment = acquirer.authorise().json()["id"]
    acquirer.post(f"/payments/{payment}/capture", {})
    acquirer.post(f"/payments/{payment}/refund", {"amount": 1})


def test_every_change_is_told_once_and_signed_with_every_secret(start: Start, receiver: Receiver) -> None:
    acquirer = start(**webhooks(shop=receiver.url))
    pay(acquirer)
    acquirer.authorise(token="tok_declined")
    wait_until(lambda: len(receiver.calls) >= 4, what="four events")
    assert sorted(receiver.events()) == [
        "payment.authorised",
        "payment.captured",
        "payment.declined",
        "payment.refunded",
    ]
    for call in receiver.calls:
        for secret in (SECRET, OLDER):
            assert verify(call.headers, call.body, secrets=[secret]) == call.event["id"]
    assert len({call.event["id"] for call in receiver.calls}) == 4


def test_an_event_comes_again_until_it_is_acknowledged_with_a_fresh_signature(
    start: Start, receiver: Receiver
) -> None:
    receiver.answers = [500, 302, 404]
    acquirer = start(**webhooks(shop=receiver.url))
    acquirer.authorise()
    wait_until(lambda: len(receiver.calls) >= 4, within_s=40, what="the fourth attempt")
    assert len({call.event["id"] for call in receiver.calls}) == 1
    assert len({call.headers["webhook-timestamp"] for call in receiver.calls}) > 1
    time.sleep(3)
    assert len(receiver.calls) == 4


@pytest.fixture
def hanging() -> Iterator[Receiver]:
    """A consumer that takes what comes and does not answer."""
    hanging = Receiver(sleep_s=600)
    yield hanging
    hanging.close()


def test_a_dead_consumer_delays_no_other(start: Start, receiver: Receiver, hanging: Receiver) -> None:
    consumers = webhooks(hangs=hanging.url, refuses=f"http://127.0.0.1:{free_port()}", shop=receiver.url)
    acquirer = start(**{**consumers, "WEBHOOK_TIMEOUT": "5m"})
    for _ in range(12):
        pay(acquirer)
    wait_until(lambda: len(receiver.calls) >= 36, within_s=60, what="all events at the living consumer")
    assert len({call.event["id"] for call in receiver.calls}) == 36
    assert 0 < hanging.most_at_once <= 4


def test_the_queue_survives_a_crash_of_the_process(
    start: Start, receiver: Receiver, empty_database_url: str
) -> None:
    port = free_port()
    acquirer = start(**webhooks(shop=f"http://127.0.0.1:{port}"))
    pay(acquirer)
    acquirer.process.kill()
    acquirer.process.wait()
    with psycopg.connect(plain(empty_database_url), autocommit=True) as connection:
        connection.execute("UPDATE payments.deliveries SET next_at = now()")
    start(**webhooks(shop=receiver.url))
    wait_until(lambda: len(receiver.calls) >= 3, within_s=30, what="the events of before the crash")


def test_two_processes_share_a_queue_and_deliver_each_event_once(start: Start, receiver: Receiver) -> None:
    acquirers = [start(**webhooks(shop=receiver.url)) for _ in range(2)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: acquirers[number % 2].authorise(), range(40)))
    wait_until(lambda: len(receiver.calls) >= 40, within_s=30, what="forty events")
    time.sleep(2)
    assert len(receiver.calls) == len({call.event["id"] for call in receiver.calls}) == 40
