"""Signed webhooks: what their sender and their receiver agree on, in the form of standardwebhooks.com.

The signature covers the event's id, the time of this attempt and the body, so none of them can be
exchanged. A secret is replaced without a gap: the sender signs with every secret it holds, the receiver
accepts every secret it holds, and the two change one after the other.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

ID: Final = "webhook-id"
TIMESTAMP: Final = "webhook-timestamp"
SIGNATURE: Final = "webhook-signature"

SHOP_PATH: Final = "/api/v1/webhooks/payments"
"""Where the shop hears of its payments."""

TOLERANCE: Final = timedelta(minutes=5)
"""How far the sender's clock may be from ours; what is older may be a recording."""


class WebhookRefused(Exception):
    """The call is not from whom it says, or not from now; whoever sent it is told nothing more."""


def sign(event_id: str, body: bytes, *, secrets: Sequence[str], now: float) -> dict[str, str]:
    """The headers of one attempt to deliver `body` at `now` (Unix seconds)."""
    timestamp = str(int(now))
    signed = _signed(event_id, timestamp, body)
    return {
        ID: event_id,
        TIMESTAMP: timestamp,
        SIGNATURE: " ".join(f"v1,{_signature(secret, signed)}" for secret in secrets),
    }


def verify(
    headers: Mapping[str, str], body: bytes, *, secrets: Sequence[str], now: float | None = None
) -> str:
    """The id of the event, or `WebhookRefused`. `headers` are asked in lower case.

    An event may come more than once (its acknowledgement got lost) and a recording may be played again
    within the tolerance: the receiver remembers the ids it has seen and acknowledges them again.
    """
    event_id, timestamp = headers.get(ID, ""), headers.get(TIMESTAMP, "")
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12 and event_id):
        raise WebhookRefused(f"a webhook carries {ID}, {TIMESTAMP} and {SIGNATURE}")
    if abs((time.time() if now is None else now) - int(timestamp)) > TOLERANCE.total_seconds():
        raise WebhookRefused("its time is too far from ours")
    given = [word.removeprefix("v1,").encode() for word in headers.get(SIGNATURE, "").split()]
    signed = _signed(event_id, timestamp, body)
    wanted = [_signature(secret, signed).encode() for secret in secrets]
    if not any([hmac.compare_digest(one, other) for one in given[:_MOST] for other in wanted]):  # noqa: C419 -- every pair, so that time tells nothing
        raise WebhookRefused("its signature is of no secret we hold")
    return event_id


_MOST: Final = 8
"""Signatures looked at; a rotation needs two."""


def key_of(secret: str) -> bytes:
    """The key that a secret stands for: its bytes, or what ``whsec_…`` says in Base64. Raises `ValueError`."""
    if not secret.startswith("whsec_"):
        return secret.encode()
    try:
        return base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error as unreadable:
        raise ValueError("wants Base64 after whsec_") from unreadable


def _signed(event_id: str, timestamp: str, body: bytes) -> bytes:
    return b".".join((event_id.encode("utf-8", "surrogateescape"), timestamp.encode(), body))


def _signature(secret: str, signed: bytes) -> str:
    return base64.b64encode(hmac.new(key_of(secret), signed, hashlib.sha256).digest()).decode()
