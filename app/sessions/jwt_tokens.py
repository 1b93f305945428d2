"""A session as a signed token. Whoever holds a key of ours may verify it; only we make it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import jwt
import orjson

from .config import SessionConfig
from .jwt_keys import KeyRing
from .records import Record
from .tickets import LONG, REMEMBERED
from .user_ids import checked_user

KIND: Final = "j1"

LEEWAY_MS: Final = 10_000
"""Clocks of replicas may differ by this much."""

LIFETIME_MS: Final = 15 * 60_000
"""How long a token lives at most, since others may verify it without asking who was revoked."""

LONGEST: Final = 3800
"""Browsers drop a cookie of more than 4,096 bytes, name and attributes included."""

_JWS: Final = jwt.PyJWS()
_TYPE: Final = "session+jwt"
_REQUIRED: Final = ["iss", "sub", "iat", "exp", "jti", "c", "s", "e", "f"]


class Unverified(Exception):
    """Not a token of ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """What a verified token says."""

    jti: str
    exp_ms: int
    record: Record


class Tokens:
    """Makes tokens and reads them; the seal of the JWT backend."""

    def __init__(self, keys: KeyRing, config: SessionConfig) -> None:
        self.keys = keys
        self._config = config
        self.lifetime_ms = min(LIFETIME_MS, config.idle_ms)
        # A shopper comes back with the same token; one that does not verify raises and is not remembered.
        self._remembered = lru_cache(REMEMBERED)(self._verified)
        # One of 200 fields takes 20 kB; enough of them for the requests of a moment.
        self._long = lru_cache(REMEMBERED // 8)(self._verified)

    def close(self, ticket: str) -> str:
        """The token is its own seal."""
        return ticket

    def open(self, value: bytes) -> str | None:
        """The token when it is signed by us; whether it still counts, the store says."""
        try:
            ticket = value.decode("ascii")
            self.read(ticket)
        except (Unverified, UnicodeDecodeError):
            return None
        return ticket

    def read(self, ticket: str) -> Token:
        """What the token says; raises `Unverified`."""
        return self._remembered(ticket) if len(ticket) <= LONG else self._long(ticket)

    def write(self, record: Record, jti: str) -> str:
        """A token for the record as it is now."""
        now = self._config.now_ms()
        ends = min(now + self.lifetime_ms, record.created_ms + self._config.absolute_ms)
        claims = {
            "iss": self._config.namespace,
            "sub": record.user or "",
            "iat": now // 1000,
            "exp": -(-ends // 1000),
            "jti": jti,
            "c": record.created_ms,
            "s": now,
            "e": record.epoch,
            "f": {name: value.decode() for name, value in record.fields.items()},
        }
        key = self.keys.signing
        headers = {"kid": key.kid, "typ": _TYPE}
        # Vietnamese text would double its size if it were escaped, and a cookie has no room to waste.
        encoded = _JWS.encode(orjson.dumps(claims), key.signing, key.algorithm, headers)
        return f"{KIND}.{encoded}"

    def _verified(self, ticket: str) -> Token:
        kind, _, encoded = ticket.partition(".")
        if kind != KIND or len(ticket) > LONGEST:
            raise Unverified
        try:
            header = jwt.get_unverified_header(encoded)
            key = self.keys.find(header.get("kid"))
            if key is None or header.get("typ") != _TYPE:
                raise Unverified
            claims = jwt.decode(
                encoded,
                key.verifying,
                algorithms=[key.algorithm],
                issuer=self._config.namespace,
                # Times are judged by the injected clock, in `JwtStore`.
                options={"require": _REQUIRED, "verify_exp": False, "verify_iat": False, "verify_nbf": False},
            )
            return _token(ticket, claims)
        except (jwt.PyJWTError, ValueError, TypeError, AttributeError) as broken:
            raise Unverified from broken


def _token(ticket: str, claims: dict[str, Any]) -> Token:
    record = Record(
        ticket=ticket,
        created_ms=_whole(claims["c"]),
        seen_ms=_whole(claims["s"]),
        user=checked_user(claims["sub"]) if claims["sub"] != "" else None,
        epoch=_whole(claims["e"]),
        fields={name: value.encode() for name, value in claims["f"].items()},
    )
    return Token(jti=claims["jti"], exp_ms=_whole(claims["exp"]) * 1000, record=record)


def _whole(number: object) -> int:
    if type(number) is not int:
        raise ValueError("not a whole number")
    return number
