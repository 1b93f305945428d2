"""How a file's prices become whole đồng."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from babel.numbers import get_currency_precision, list_currencies

from app.shop.errors import Invalid
from app.shop.money import CURRENCY

RATE_MOST: Final = Decimal(10) ** 9
"""No currency is worth more đồng than this; it keeps a mistyped rate from overflowing prices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The file's currency and its rate: đồng for one unit. Half a đồng and more is rounded up."""

    currency: str = CURRENCY
    rate: Decimal = Decimal(1)

    @property
    def decimals(self) -> int:
        """How many decimals the currency has: 0 for đồng, 2 for dollars."""
        return get_currency_precision(self.currency)


def checked_terms(currency: str | None, rate: Decimal | None) -> Terms:
    """The terms, or `Invalid` for an unknown currency, a missing rate or one that makes no sense."""
    code = (currency or CURRENCY).strip().upper()
    if code not in list_currencies():
        raise Invalid("currency", f"{code} is no ISO 4217 currency such as USD", code="currency_unknown")
    if code == CURRENCY:
        if rate not in {None, Decimal(1)}:
            raise Invalid("rate", "the shop sells in đồng already; leave the rate out", code="rate_invalid")
        return Terms()
    if rate is None:
        raise Invalid("rate", f"say how many đồng one {code} is, such as --rate 25400", code="rate_missing")
    if not rate.is_finite() or not 0 < rate <= RATE_MOST:
        raise Invalid("rate", f"must be more than 0 and at most {RATE_MOST:f}", code="rate_invalid")
    return Terms(currency=code, rate=rate)
