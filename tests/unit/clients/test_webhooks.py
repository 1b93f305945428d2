"""A webhook is believed only when every part of it is what its sender signed, and from now."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.clients.webhooks import SIGNATURE, TIMESTAMP, WebhookRefused, sign, verify

NEW, OLD, FOREIGN = "n" * 32, "o" * 32, "f" * 32
BODY = b'{"type": "payment.captured"}'
NOW = 1_800_000_000.0


def test_what_was_signed_is_believed_and_names_its_event() -> None:
    assert verify(sign("evt_1", BODY, secrets=[NEW], now=NOW), BODY, secrets=[NEW], now=NOW) == "evt_1"


def test_a_secret_is_rotated_in_either_order() -> None:
    for senders, receivers in [([NEW, OLD], [OLD]), ([OLD], [NEW, OLD]), ([NEW, OLD], [NEW]), ([NEW], [NEW])]:
        assert verify(sign("evt_1", BODY, secrets=senders, now=NOW), BODY, secrets=receivers, now=NOW)


@pytest.mark.parametrize("drift_s", [-300, -299, 0, 299, 300])
def test_clocks_may_differ_by_five_minutes(drift_s: int) -> None:
    assert verify(sign("evt_1", BODY, secrets=[NEW], now=NOW), BODY, secrets=[NEW], now=NOW + drift_s)


@pytest.mark.parametrize("drift_s", [-302, 302, 86_400])
def test_a_recording_is_refused(drift_s: int) -> None:
    with pytest.raises(WebhookRefused, match="time"):
        verify(sign("evt_1", BODY, secrets=[NEW], now=NOW), BODY, secrets=[NEW], now=NOW + drift_s)


@pytest.mark.parametrize(
    "forged",
    [
        {SIGNATURE: ""},
        {SIGNATURE: "v1,"},
        {SIGNATURE: "v1,\u00e9"},
        {SIGNATURE: "v2,g0hM9SsE"},
        {TIMESTAMP: str(int(NOW) + 1)},
        {TIMESTAMP: ""},
        {TIMESTAMP: "9" * 5000},
        {TIMESTAMP: "-1"},
        {TIMESTAMP: "\u0661"},
        {"webhook-id": "evt_2"},
        {"webhook-id": ""},
    ],
)
def test_a_changed_header_is_refused(forged: dict[str, str]) -> None:
    with pytest.raises(WebhookRefused):
        verify({**sign("evt_1", BODY, secrets=[NEW], now=NOW), **forged}, BODY, secrets=[NEW], now=NOW)


@given(st.binary(max_size=60).filter(lambda body: body != BODY))
def test_another_body_is_refused(body: bytes) -> None:
    with pytest.raises(WebhookRefused):
        verify(sign("evt_1", BODY, secrets=[NEW], now=NOW), body, secrets=[NEW], now=NOW)


def test_what_moves_between_the_signed_parts_is_refused() -> None:
    signed = sign("evt_1", b"1.x", secrets=[NEW], now=NOW)
    with pytest.raises(WebhookRefused):
        verify({**signed, "webhook-id": f"evt_1.{int(NOW)}"}, b"x", secrets=[NEW], now=NOW)


def test_a_strangers_signature_is_refused_and_no_secret_believes_nothing() -> None:
    signed = sign("evt_1", BODY, secrets=[FOREIGN], now=NOW)
    for secrets in ([NEW, OLD], []):
        with pytest.raises(WebhookRefused):
            verify(signed, BODY, secrets=secrets, now=NOW)
    with pytest.raises(WebhookRefused):
        verify({}, BODY, secrets=[NEW], now=NOW)


def test_it_is_the_form_of_standard_webhooks() -> None:
    # The example that the libraries of standardwebhooks.com are tested with.
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    signed = sign("msg_p5jXN8AQM9LWM0D4loKWxJek", b'{"test": 2432232314}', secrets=[secret], now=1614265330)
    assert signed[SIGNATURE] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
