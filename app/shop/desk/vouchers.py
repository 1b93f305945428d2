"""Vouchers at the desk: made, watched and ended."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Protocol

from app.shop.desk.audit import Deed
from app.shop.errors import Invalid
from app.shop.orders import VIETNAM
from app.shop.paging import Page
from app.shop.pricing import KnownVoucher, Voucher, bounded, voucher_code


class VoucherBook(Protocol):
    """The vouchers at the desk. Raises `Unavailable`."""

    async def page(self, *, page: int, page_size: int) -> Page[KnownVoucher]:
        """How often each is used, the newest first."""

    async def add(self, voucher: Voucher, deed: Deed) -> None:
        """Keep a new one with its audit entry; raises `AlreadyDone`, and `Invalid` for a code that is taken."""

    async def end(self, code: str, deed: Deed, *, at: datetime) -> None:
        """Let nobody use it from then on; one that has ended stays so. Raises `AlreadyDone`, `NotFound`."""


def checked_terms(  # noqa: PLR0913  # a voucher has that many terms
    *,
    code: str,
    kind: str,
    off: int | None,
    at_most: int | None,
    minimum: int | None,
    since: date | None,
    until: date | None,
    limit: int | None,
    limit_each: int | None,
    now: datetime,
) -> Voucher:
    """The voucher, or `Invalid` that names the field; days are Vietnam's, the last one included."""
    starts_at = now if since is None else datetime.combine(since, time(), VIETNAM)
    ends_at = None if until is None else datetime.combine(until + timedelta(days=1), time(), VIETNAM)
    if ends_at is not None and ends_at <= max(starts_at, now):
        raise Invalid("until", "must not be before the first day, nor before today", code="days_invalid")
    if kind == "amount" and at_most is not None:
        raise Invalid("at_most", "is for percentages alone", code="cap_invalid")
    _positive("at_most", at_most, code="price_invalid")
    _positive("limit", limit, code="quantity_invalid")
    _positive("limit_each", limit_each, code="quantity_invalid")
    return bounded(
        Voucher(
            code=_code(code),
            amount=_amount(off) if kind == "amount" else None,
            percent=None if kind == "amount" else _percent(off),
            at_most=at_most,
            minimum=minimum or 0,
            starts_at=starts_at,
            ends_at=ends_at,
            limit=limit,
            limit_each=limit_each,
        )
    )


def _code(text: str) -> str:
    try:
        return voucher_code(text)
    except Invalid as wrong:
        raise Invalid(
            "code", "must be 3 to 32 of A-Z, 0-9 and - inside", code="voucher_code_invalid"
        ) from wrong


def _amount(off: int | None) -> int:
    if not off:
        raise Invalid("off", "must be at least 1 đồng", code="price_invalid")
    return off


def _percent(off: int | None) -> int:
    if off is None or not 1 <= off <= 100:
        raise Invalid("off", "must be 1 to 100", code="percent_invalid")
    return off


def _positive(name: str, number: int | None, *, code: str) -> None:
    if number is not None and number < 1:
        raise Invalid(name, "must be at least 1", code=code)
