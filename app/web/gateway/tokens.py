"""Internal tokens for those who call through the gateway, made once for several calls of theirs."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from app.identity import LIFETIME_S, Caller, Issuer

CUSTOMER: Final = "customer"
"""The role of whoever calls through the gateway: a person, never a program and never an operator."""

REUSED_FOR_S: Final = LIFETIME_S / 3
"""Signing costs as much as the rest of the hop; two thirds of its life are left when a token is sent last."""

_MOST: Final = 4096


class Tokens:
    """Tokens for the service `audience`, one for each account that called lately."""

    def __init__(self, issuer: Issuer, *, audience: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._issuer = issuer
        self._audience = audience
        self._clock = clock
        self._made: OrderedDict[str, tuple[float, str]] = OrderedDict()

    def of(self, account_id: str) -> str:
        """The token that says that this account calls."""
        now = self._clock()
        until, token = self._made.get(account_id, (now, ""))
        if until <= now:
            token = self._issuer.issue(Caller(subject=account_id, role=CUSTOMER), audience=self._audience)
            self._made.pop(account_id, None)
            self._made[account_id] = (now + REUSED_FOR_S, token)
            while len(self._made) > _MOST:
                self._made.popitem(last=False)
        return token
