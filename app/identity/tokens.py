"""Internal tokens: who a call is made for, signed by the shop, good for one service and for a minute at most.

They are JWTs of a type, an issuer and a key of their own, so that no token of a session or of anybody else
can pass for one, nor one for them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import jwt

from .keys import PublicKeys, SigningKey

TYPE: Final = "chopho-internal+jwt"
ISSUER: Final = "chopho-shop"
LIFETIME_S: Final = 60
"""A token is for one call; a minute covers the longest call and clocks that disagree a little."""

LEEWAY_S: Final = 5
"""How far ahead the issuer's clock may be."""

_REQUIRED: Final = ("iss", "aud", "sub", "role", "iat", "exp")
_LONGEST: Final = 4096
"""Characters; ours have about 400, and up to 2,000 with a name of a hundred emoji."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who a call is made for: an account or a program, and what it may do; people have a `name` to be shown."""

    subject: str
    role: str
    name: str = ""


class Issuer:
    """The shop's side."""

    def __init__(self, key: SigningKey, *, clock: Callable[[], float] = time.time) -> None:
        self._key = key
        self._clock = clock

    def issue(self, caller: Caller, *, audience: str) -> str:
        """A token that the service `audience` believes for `LIFETIME_S`, and nobody else."""
        now = int(self._clock())
        claims = {
            "iss": ISSUER,
            "aud": audience,
            "sub": caller.subject,
            "role": caller.role,
            "iat": now,
            "exp": now + LIFETIME_S,
        } | ({"name": caller.name} if caller.name else {})
        header = {"typ": TYPE, "kid": self._key.kid}
        return jwt.encode(claims, self._key.private, algorithm="EdDSA", headers=header)


class Verifier:
    """A service's side: the service `audience` with the keys it believes."""

    def __init__(self, keys: PublicKeys, *, audience: str, clock: Callable[[], float] = time.time) -> None:
        self._keys = keys
        self._audience = audience
        self._clock = clock

    def verify(self, token: str | None) -> Caller | None:
        """Who calls; None for whatever is not a good token: the caller is then anonymous, never trusted."""
        if not token or len(token) > _LONGEST:
            return None
        try:
            claims = self._signed(token)
        except jwt.PyJWTError:
            return None
        return self._caller(claims)

    def _signed(self, token: str) -> dict[str, Any]:
        header = jwt.get_unverified_header(token)
        key = self._keys.by_kid.get(header.get("kid", ""))
        if key is None or header.get("typ") != TYPE:
            raise jwt.InvalidTokenError
        return jwt.decode(
            token,
            key,
            algorithms=["EdDSA"],
            audience=self._audience,
            issuer=ISSUER,
            # The times are checked below, on the injected clock.
            options={
                "require": list(_REQUIRED),
                "strict_aud": True,
                "verify_exp": False,
                "verify_iat": False,
            },
        )

    def _caller(self, claims: dict[str, Any]) -> Caller | None:
        subject, role, issued, expires = (claims[name] for name in ("sub", "role", "iat", "exp"))
        name = claims.get("name", "")
        if not (isinstance(subject, str) and subject and isinstance(role, str) and role):
            return None
        if not isinstance(name, str):
            return None
        if type(issued) is not int or type(expires) is not int:
            return None
        if not issued < expires <= issued + LIFETIME_S:
            return None
        is_now = issued - LEEWAY_S <= self._clock() < expires
        return Caller(subject=subject, role=role, name=name) if is_now else None
