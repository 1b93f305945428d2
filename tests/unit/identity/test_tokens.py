"""Only a token of the shop, for this service, of this minute, is believed."""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from jwt.utils import base64url_encode

from app.identity import ISSUER, LIFETIME_S, TYPE, Caller, Issuer, PublicKeys, SigningKey, Verifier
from app.identity.keys import thumbprint

NOW = 1_800_000_000
CALLER = Caller(subject="account:7", role="customer")
PRIVATE = Ed25519PrivateKey.generate()
KEY = SigningKey(thumbprint(PRIVATE.public_key()), PRIVATE)
KEYS = PublicKeys.of([PRIVATE.public_key()])


def at(now: float) -> Verifier:
    return Verifier(KEYS, audience="payments", clock=lambda: now)


def issued(audience: str = "payments") -> str:
    return Issuer(KEY, clock=lambda: NOW + 0.9).issue(CALLER, audience=audience)


def raw(header: dict[str, Any], claims: dict[str, Any], sign: Callable[[bytes], bytes]) -> str:
    """Any header and claims, signed by hand; None takes one away."""
    told = [{name: value for name, value in part.items() if value is not None} for part in (header, claims)]
    unsigned = b".".join(base64url_encode(json.dumps(part).encode()) for part in told)
    return (unsigned + b"." + base64url_encode(sign(unsigned))).decode()


def forged(
    *,
    sign: Callable[[bytes], bytes] = PRIVATE.sign,
    header: dict[str, Any] | None = None,
    **claims: Any,
) -> str:
    """A token like ours, except for what is said."""
    good = {
        "iss": ISSUER,
        "aud": "payments",
        "sub": "account:7",
        "role": "owner",
        "iat": NOW,
        "exp": NOW + 60,
    }
    return raw({"alg": "EdDSA", "typ": TYPE, "kid": KEY.kid, **(header or {})}, {**good, **claims}, sign)


def test_the_service_learns_who_calls() -> None:
    assert at(NOW).verify(issued()) == CALLER


def test_a_token_says_what_it_is_and_nothing_more() -> None:
    token = issued()
    assert jwt.get_unverified_header(token) == {"alg": "EdDSA", "typ": TYPE, "kid": KEY.kid}
    claims = jwt.decode(token, options={"verify_signature": False})
    assert claims == {
        "iss": ISSUER,
        "aud": "payments",
        "sub": "account:7",
        "role": "customer",
        "iat": NOW,
        "exp": NOW + LIFETIME_S,
    }


@pytest.mark.parametrize(("now", "believed"), [(-6, False), (-5, True), (0, True), (59.9, True), (60, False)])
def test_it_is_believed_for_its_minute_only(now: float, believed: bool) -> None:  # noqa: FBT001  a table
    assert (at(NOW + now).verify(issued()) is not None) is believed


def test_a_token_for_another_service_is_not_believed() -> None:
    assert at(NOW).verify(issued("reviews")) is None


def test_the_forgery_of_these_tests_would_be_believed_without_its_fault() -> None:
    assert at(NOW).verify(forged()) == Caller(subject="account:7", role="owner")


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": ["payments"]},
        {"aud": ["payments", "reviews"]},
        {"aud": "payments2"},
        {"aud": None},
        {"iss": "chopho"},
        {"iss": None},
        {"sub": None},
        {"sub": ""},
        {"role": None},
        {"role": ["owner"]},
        {"exp": None},
        {"iat": None},
        {"exp": NOW + 61},
        {"exp": NOW + 10**9, "iat": NOW + 10**9 - 60},
        {"exp": NOW},
        {"exp": NOW - 1, "iat": NOW - 61},
        {"exp": NOW + 30.5},
        {"exp": str(NOW + 60)},
        {"more": "x" * 3000},
        {"iat": True},
        {"nbf": NOW + 10**9},
    ],
    ids=str,
)
def test_missing_or_wrong_claims_are_not_believed(claims: dict[str, Any]) -> None:
    assert at(NOW).verify(forged(**claims)) is None


@pytest.mark.parametrize(
    "header", [{"typ": "JWT"}, {"typ": None}, {"kid": None}, {"kid": "other"}, {"kid": ""}]
)
def test_another_type_or_an_unknown_key_is_not_believed(header: dict[str, Any]) -> None:
    assert at(NOW).verify(forged(header=header)) is None


def test_a_strangers_signature_is_not_believed() -> None:
    assert at(NOW).verify(forged(sign=Ed25519PrivateKey.generate().sign)) is None


@pytest.mark.parametrize("alg", ["none", "None", "NONE", "EdDSA", None])
def test_a_token_without_a_signature_is_not_believed(alg: str | None) -> None:
    assert at(NOW).verify(forged(sign=lambda _: b"", header={"alg": alg})) is None


@pytest.mark.parametrize(
    "secret", [KEY.public_pem(), PRIVATE.public_key().public_bytes_raw()], ids=["pem", "raw"]
)
def test_the_public_key_as_a_shared_secret_is_not_believed(secret: bytes) -> None:
    def sign(unsigned: bytes) -> bytes:
        return hmac.new(secret, unsigned, sha256).digest()

    assert at(NOW).verify(forged(sign=sign, header={"alg": "HS256"})) is None


def test_another_algorithm_is_not_believed() -> None:
    rsa = generate_private_key(65537, 2048)
    token = jwt.encode({"aud": "payments"}, rsa, algorithm="RS256", headers={"typ": TYPE, "kid": KEY.kid})
    assert at(NOW).verify(token) is None


def test_a_changed_token_is_not_believed() -> None:
    head, _, signature = issued().split(".")
    _, body, _ = forged().split(".")
    assert at(NOW).verify(f"{head}.{body}.{signature}") is None


@pytest.mark.parametrize("token", [None, "", "x", "a.b.c", "..", "é", "a." * 5000, "\x00"])
def test_no_token_is_nobody(token: str | None) -> None:
    assert at(NOW).verify(token) is None


@pytest.mark.parametrize("name", ["Nguyễn Thị Ánh", "🧧" * 100])
def test_a_persons_name_travels_in_the_token_alone(name: str) -> None:
    caller = Caller(subject="account:7", role="customer", name=name)
    token = Issuer(KEY, clock=lambda: NOW).issue(caller, audience="payments")
    assert at(NOW).verify(token) == caller


def test_a_name_that_is_no_text_is_nobodys() -> None:
    assert at(NOW).verify(forged(name=["Ánh"])) is None
