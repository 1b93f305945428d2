"""A till: the shop's checkout on a real database with a real acquirer, and what can break at each step."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import func, select, text, update

from app.clients.payments import HttpPayments
from app.shop.cancelling import CancelOrder
from app.shop.cart import CartLines
from app.shop.catalog import Offer, Sku
from app.shop.checkout import PlaceOrder, Purchase
from app.shop.orders import Order, Shipping
from app.shop.recovery import Recovery
from app.shop.settlement import Settlement
from app.stores.catalog import SqlCatalog
from app.stores.database import Database
from app.stores.orders import SqlLedger, SqlOrders
from app.stores.tables import variants
from app.stores.tables_orders import order_payments, orders, reservations

SHIPPING = Shipping(name="Nguyễn Thị Ánh", phone="0912345678", address="1 Hàng Đào, Hà Nội")
PRICE = 1000


class Killed(BaseException):
    """The process is gone: nothing that would tidy up runs."""


@dataclass
class Break:
    """Where a process dies: before or after the n-th call of a port's method; never, while `where` is ""."""

    where: str = ""
    side: str = "before"
    nth: int = 1

    def meets(self, where: str, side: str) -> bool:
        """Whether it dies now, once."""
        if (self.where, self.side) != (where, side):
            return False
        self.nth -= 1
        if self.nth == 0:
            self.where = ""
            return True
        return False


class Fragile:
    """A port whose process may die around a call."""

    def __init__(self, name: str, port: Any, point: Break) -> None:
        self._name, self._port, self._point = name, port, point

    def __getattr__(self, method: str) -> Callable[..., Awaitable[Any]]:
        call = getattr(self._port, method)

        async def calling(*told: Any, **more: Any) -> Any:
            where = f"{self._name}.{method}"
            if self._point.meets(where, "before"):
                raise Killed
            answer = await call(*told, **more)
            if self._point.meets(where, "after"):
                raise Killed
            return answer

        return calling


@dataclass
class HeapCart:
    """A cart in the heap."""

    quantities: dict[Sku, int]
    cart_id: str = field(default_factory=lambda: secrets.token_hex(8))
    settled_id: str | None = None

    async def read(self) -> CartLines:
        return CartLines(cart_id=self.cart_id, quantities=dict(self.quantities), settled_id=self.settled_id)

    async def add(self, sku: Sku, quantity: int, *, at_most: int, once: str | None = None) -> int:
        raise NotImplementedError

    async def put(self, sku: Sku, quantity: int, *, at_most: int) -> None:
        raise NotImplementedError

    async def settle(self, ordered: CartLines) -> bool:
        if ordered.cart_id != self.cart_id:
            return False
        left = {sku: number - ordered.quantities.get(sku, 0) for sku, number in self.quantities.items()}
        self.quantities = {sku: number for sku, number in left.items() if number > 0}
        self.settled_id, self.cart_id = self.cart_id, secrets.token_hex(8)
        return True


@dataclass(frozen=True)
class Prices:
    """The catalogue without a snapshot."""

    catalog: SqlCatalog

    async def __call__(self, skus: Iterable[Sku]) -> Mapping[Sku, Offer]:
        return await self.catalog.offers(skus)

    def forget(self, skus: Iterable[Sku]) -> None:
        pass


@dataclass
class Till:
    """One replica's checkout for one buyer; `point` is where its process dies."""

    database: Database
    payments: HttpPayments
    account_id: str
    point: Break = field(default_factory=Break)
    cart: HeapCart = field(default_factory=lambda: HeapCart({"A": 2}))

    @property
    def orders(self) -> SqlOrders:
        return SqlOrders(database=self.database)

    @property
    def settlement(self) -> Settlement:
        fragile: dict[str, Any] = {
            "orders": Fragile("orders", self.orders, self.point),
            "ledger": Fragile("ledger", SqlLedger(database=self.database), self.point),
            "payments": Fragile("payments", self.payments, self.point),
        }
        return Settlement(return_url="http://chopho.example/thanh-toan/ket-qua", **fragile)

    async def buy(self, token: str, key: str = "key", *, total: int | None = None) -> Order:
        """Send the checkout."""
        settlement = self.settlement
        place = PlaceOrder(
            orders=settlement.orders,
            offers=Prices(SqlCatalog(database=self.database)),
            settlement=settlement,
        )
        units = sum(self.cart.quantities.values())
        purchase = Purchase(
            account_id=self.account_id,
            key=key,
            shipping=SHIPPING,
            payment=token,
            expected_total=2 * PRICE if total is None and not units else total or units * PRICE,
        )
        return await place(self.cart, purchase)

    async def cancel(self, order_id: str) -> Order:
        settlement = self.settlement
        return await CancelOrder(orders=settlement.orders, settlement=settlement)(
            account_id=self.account_id, order_id=order_id
        )

    async def recover(self, *, late: bool = False) -> None:
        """Let time pass, until nothing is due any more; `late`: more than any reservation has."""
        settlement = self.settlement
        recovery = Recovery(ledger=settlement.ledger, settlement=settlement)
        for _ in range(10):
            await self._time_passes(late=late)
            if not await recovery.once():
                return

    async def _time_passes(self, *, late: bool) -> None:
        values = {"due_at": func.now()} | ({"expires_at": func.now()} if late else {})
        due = update(order_payments).where(order_payments.c.due_at.is_not(None)).values(values)
        async with self.database.engine.begin() as connection:
            await connection.execute(due)

    async def told(self) -> dict[str, Any]:
        """What there is when all is said and done."""
        statuses = await self.database.rows(select(orders.c.status).order_by(orders.c.sequence))
        held = await self.database.rows(
            text("SELECT status, amount FROM payments.payments WHERE status IN ('authorised', 'captured')")
        )
        reserved = await self.database.row(select(func.count()).select_from(reservations))
        return {
            "orders": [row.status for row in statuses if row.status != "failed"],
            "held": [row.amount for row in held],
            "stock": await self.stock("A"),
            "reserved": reserved[0] if reserved else None,
        }

    async def stock(self, sku: Sku) -> int:
        row = await self.database.row(select(variants.c.stock).where(variants.c.sku == sku))
        assert row is not None
        return int(row.stock)
