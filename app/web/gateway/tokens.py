"""Internal tokens for those who call through the gateway, made once for several calls of theirs."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Final

from app.identity import LIFETIME_S, Caller, Issuer
from app.shop.accounts import Account

CUSTOMER: Final = "customer"
"""The role of whoever calls through the gateway: a person, never a program and never an operator."""

REUSED_FOR_S: Final = LIFETIME_S / 3
"""Signing costs as much as the rest of the hop; two thirds of its life are left when a token is sent last."""

_MOST: Final = 4096


class Tokens:
    """Tokens for the service `audience`, one for each account that called lately; `find` knows the accounts."""

    def __init__(
        self,
        issuer: Issuer,
        *,
        audience: str,
        find: Callable[[str], Awaitable[Account | None]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._issuer = issuer
        self._audience = audience
        self._find = find
        self._clock = clock
        self._made: OrderedDict[str, tuple[float, str]] = OrderedDict()

    async def of(self, account_id: str) -> str | None:
        """The token that says that this account calls, None if there is none; raises `Unavailable`."""
        until, token = self._made.get(account_id, (0.0, ""))
        if until > self._clock():
            return token
        account = await self._find(account_id)
        return None if account is None else self._keep(account)

    def _keep(self, account: Account) -> str:
        caller = Caller(subject=account.id, role=CUSTOMER, name=account.name)
        token = self._issuer.issue(caller, audience=self._audience)
        self._made.pop(account.id, None)
        self._made[account.id] = (self._clock() + REUSED_FOR_S, token)
        while len(self._made) > _MOST:
            self._made.popitem(last=False)
        return token
