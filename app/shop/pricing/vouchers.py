"""Vouchers: what they take off, for whom, and when."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from app.shop.errors import Invalid
from app.shop.money import payable

USES_MOST: Final = 999_999
"""Six digits, as the desk's form takes them."""

_CODE: Final = re.compile(r"[A-Z0-9][A-Z0-9-]{1,30}[A-Z0-9]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Voucher:
    """Takes `amount` đồng off, or `percent` but no more than `at_most`; exactly one of both is given.

    For orders whose goods are worth `minimum`, from `starts_at` until before `ends_at`; used `limit` times
    by all together and `limit_each` times by one customer, None: without end.
    """

    code: str
    amount: int | None = None
    percent: int | None = None
    at_most: int | None = None
    minimum: int = 0
    starts_at: datetime
    ends_at: datetime | None = None
    limit: int | None = None
    limit_each: int | None = None

    def __post_init__(self) -> None:
        """Refuse what is no voucher."""
        if (self.amount is None) == (self.percent is None):
            raise ValueError("a voucher takes off either an amount or a percentage")
        if self.percent is not None and not 1 <= self.percent <= 100:
            raise ValueError("a percentage is a whole number from 1 to 100")
        if self.at_most is not None and self.percent is None:
            raise ValueError("only a percentage has a cap")
        if any(number is not None and number < 1 for number in (self.amount, self.at_most)):
            raise ValueError("what a voucher takes off is at least 1 đồng")
        if self.minimum < 0:
            raise ValueError("a minimum is not negative")
        if any(limit is not None and limit < 1 for limit in (self.limit, self.limit_each)):
            raise ValueError("a limit is at least 1")
        if self.ends_at is not None and self.ends_at <= self.starts_at:
            raise ValueError("a voucher ends after it starts")


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownVoucher:
    """A voucher, how often it is used, and how often by the customer who asks."""

    voucher: Voucher
    used: int = 0
    used_by_customer: int = 0


def bounded(voucher: Voucher) -> Voucher:
    """A new voucher, or `Invalid` naming what is larger than anything of this shop; older ones stay as they are."""
    for name in ("amount", "at_most", "minimum"):
        payable(name, getattr(voucher, name) or 0)
    for name in ("limit", "limit_each"):
        if (getattr(voucher, name) or 0) > USES_MOST:
            raise Invalid(name, f"must be at most {USES_MOST}", code="quantity_invalid")
    return voucher


def voucher_code(text: str) -> str:
    """The code as it is kept, however it is typed; raises `Invalid`."""
    code = text.strip().upper()
    if not _CODE.fullmatch(code):
        raise Invalid("voucher", "is not a voucher of this shop", code="voucher_unknown")
    return code


def checked_voucher(known: KnownVoucher | None, *, goods: int, now: datetime) -> Voucher:
    """The voucher, if it is good for goods of that worth now; raises `Invalid`."""
    if known is None:
        raise Invalid("voucher", "is not a voucher of this shop", code="voucher_unknown")
    voucher = known.voucher
    if now < voucher.starts_at:
        raise Invalid("voucher", f"is good from {voucher.starts_at.isoformat()}", code="voucher_early")
    if voucher.ends_at is not None and now >= voucher.ends_at:
        raise Invalid("voucher", f"was good until {voucher.ends_at.isoformat()}", code="voucher_ended")
    if goods < voucher.minimum:
        raise Invalid("voucher", f"wants goods worth {voucher.minimum} đồng", code="voucher_minimum")
    if voucher.limit is not None and known.used >= voucher.limit:
        raise Invalid("voucher", "was used as often as it can be", code="voucher_used_up")
    if voucher.limit_each is not None and known.used_by_customer >= voucher.limit_each:
        raise Invalid("voucher", "was used by this customer as often as it can be", code="voucher_used")
    return voucher


def discount_of(voucher: Voucher, goods: int) -> int:
    """What it takes off goods of that worth: no more than they are worth, a part of a đồng never."""
    if voucher.amount is not None:
        return min(voucher.amount, goods)
    off = goods * (voucher.percent or 0) // 100
    return off if voucher.at_most is None else min(off, voucher.at_most)
