"""The first step of a checkout: key, cart, stock and order change together or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import uuid4

from sqlalchemy import insert, select, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncConnection

from app.shop.accounts import email_key
from app.shop.errors import CartOrdered, NotFound, PaymentRefused, TotalChanged
from app.shop.guests import is_guest
from app.shop.orders import COD, Order, OrderRequest, OrderStatus, Totals, order_number
from app.shop.pricing import Charges, Goods, Voucher, checked_voucher, province_of, quoted
from app.stores import ordered_carts, vouchers
from app.stores.orders import history, keys, ledger, mail, stock
from app.stores.orders.owners import columns_of, owned
from app.stores.orders.rows import orders_of, with_lines
from app.stores.orders.stock import Taken
from app.stores.tables_orders import order_lines, orders


async def place(
    connection: AsyncConnection,
    request: OrderRequest,
    at: datetime,
    *,
    charges: Charges,
    guest_path: mail.GuestPath | None = None,
) -> Order:
    """One transaction. Locks are taken in one order: key, cart id, SKUs sorted, voucher, an account's cart."""
    await keys.lock(connection, request)
    kept = (await connection.execute(keys.kept(request.account_id, request.key))).first()
    if kept is not None:
        keys.check(kept, request.fingerprint)
        before = await connection.execute(with_lines(orders.c.id == kept.order_id))
        return keys.answer(kept, orders_of(before.all())[0])
    claim = await _claim_cart(connection, request, at)
    taken = await stock.take(connection, request.quantities)
    voucher = await _voucher(connection, request, taken, at)
    totals = _checked_totals(request, taken, _quote(request, taken, charges, voucher))
    if voucher is not None:
        await vouchers.spend(
            connection,
            claim.order_id,
            voucher.code,
            customer=_customer(request),
            discount=totals.discount,
            at=at,
        )
    await _insert_lines(connection, claim, taken, totals)
    await keys.claim(connection, request, claim.order_id, None if claim.is_reserving else claim.status)
    await history.note(
        connection,
        claim.order_id,
        happened_at=at,
        actor=request.account_id,
        before=None,
        after=claim.status,
    )
    if claim.is_reserving:
        await stock.reserve(connection, claim.order_id, taken, request.reserve_for)
        await ledger.open_book(connection, request, claim.order_id, totals.total)
    order = _placed(request, claim, taken, totals)
    if order.status == "confirmed":
        await ordered_carts.empty(connection, order)
    await mail.tell(connection, order, guest_path)
    return order


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claim:
    """The row that claims the cart for one order."""

    order_id: str
    sequence: int
    status: OrderStatus
    at: datetime

    @property
    def is_reserving(self) -> bool:
        return self.status == "placing"


async def _claim_cart(connection: AsyncConnection, request: OrderRequest, at: datetime) -> _Claim:
    """Claim the cart, before any stock is locked; a second order of one cart waits here for the first."""
    order_id, status = str(uuid4()), _first_status(request)
    sequence = await connection.scalar(
        upsert(orders)
        .values(
            id=order_id,
            **columns_of(request.account_id),
            contact_email=request.contact_email,
            contact_phone=request.shipping.phone if request.contact_email else None,
            cart_id=request.cart_id,
            status=status,
            payment=request.payment,
            shipping=asdict(request.shipping),
            total=request.expected_total,
            placed_at=at,
        )
        .on_conflict_do_nothing(index_elements=[orders.c.cart_id])
        .returning(orders.c.sequence)
    )
    if sequence is None:
        raise await _cart_ordered(connection, request)
    return _Claim(order_id=order_id, sequence=sequence, status=status, at=at)


def _first_status(request: OrderRequest) -> OrderStatus:
    return "confirmed" if request.payment == COD else "placing"


async def _cart_ordered(connection: AsyncConnection, request: OrderRequest) -> CartOrdered | NotFound:
    """What the cart became; a cart that somebody else ordered does not exist for whoever asks."""
    order_id = await connection.scalar(
        select(orders.c.id).where(orders.c.cart_id == request.cart_id, owned(orders, request.account_id))
    )
    return NotFound("cart") if order_id is None else CartOrdered(order_id)


async def _voucher(
    connection: AsyncConnection, request: OrderRequest, taken: Sequence[Taken], at: datetime
) -> Voucher | None:
    """The order's voucher, which nobody else can use meanwhile; raises `Invalid`."""
    if request.voucher is None:
        return None
    known = await vouchers.locked(connection, request.voucher, customer=_customer(request))
    return checked_voucher(known, goods=sum(each.line.total for each in taken), now=at)


def _customer(request: OrderRequest) -> str:
    """Whose uses of a voucher count together: an account's, or those of one e-mail of a guest."""
    return f"mail:{email_key(request.contact_email)}" if request.contact_email else request.account_id


def _quote(
    request: OrderRequest, taken: Sequence[Taken], charges: Charges, voucher: Voucher | None
) -> Totals:
    """What the order costs at the prices that are locked."""
    goods = [
        Goods(
            sku=each.line.sku,
            quantity=each.line.quantity,
            unit_price=each.line.unit_price,
            grams=each.grams,
        )
        for each in taken
    ]
    sent_to = request.shipping.province
    province = None if sent_to is None else province_of(sent_to)
    quote = quoted(goods, charges, province=province, voucher=voucher)
    return Totals(
        subtotal=quote.subtotal,
        shipping_fee=quote.shipping_fee,
        discount=quote.discount,
        vat_included=quote.vat_included,
    )


def _checked_totals(request: OrderRequest, taken: Sequence[Taken], totals: Totals) -> Totals:
    """The totals, if they are what the shopper saw; raises `TotalChanged`."""
    seen = all(
        request.prices.get(each.line.sku, each.line.unit_price) == each.line.unit_price for each in taken
    )
    if not seen or totals.total != request.expected_total:
        raise TotalChanged(expected=request.expected_total, actual=totals.total)
    if request.payment != COD and totals.total == 0:
        raise PaymentRefused("there is nothing to be paid by card")
    return totals


async def _insert_lines(
    connection: AsyncConnection, claim: _Claim, taken: Sequence[Taken], totals: Totals
) -> None:
    await connection.execute(
        update(orders)
        .where(orders.c.id == claim.order_id)
        .values(
            subtotal=totals.subtotal,
            shipping_fee=totals.shipping_fee,
            discount=totals.discount,
            vat_included=totals.vat_included,
            total=totals.total,
        )
    )
    rows = [
        {
            "order_id": claim.order_id,
            "position": position,
            "counted": each.counted,
            **asdict(each.line),
        }
        for position, each in enumerate(taken)
    ]
    await connection.execute(insert(order_lines), rows)


def _placed(request: OrderRequest, claim: _Claim, taken: Sequence[Taken], totals: Totals) -> Order:
    return Order(
        id=claim.order_id,
        number=order_number(claim.at, claim.sequence),
        cart_id=request.cart_id,
        account_id=None if is_guest(request.account_id) else request.account_id,
        guest=request.account_id if is_guest(request.account_id) else None,
        status=claim.status,
        payment=request.payment,
        shipping=request.shipping,
        lines=[each.line for each in taken],
        totals=totals,
        placed_at=claim.at,
    )
