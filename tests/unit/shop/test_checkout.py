"""A cart becomes an order once, whatever breaks in between."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import pytest

from app.shop.cart import CartLines
from app.shop.catalog import Offer, Sku
from app.shop.checkout import PlaceOrder, Purchase, checked_shipping
from app.shop.errors import (
    CartEmpty,
    CartOrdered,
    Invalid,
    KeyReused,
    PaymentRefused,
    ShopError,
    TotalChanged,
    Unavailable,
)
from app.shop.orders import Move, Order, OrderEvent, OrderLine, OrderQuery, OrderRequest, Shipping, Totals
from app.shop.paging import Page

SHIPPING = Shipping(name="Nguyễn Thị Ánh", phone="0912 345 678", address="1 Hàng Đào, Hà Nội")


@dataclass
class HeapCart:
    """A cart in the heap, whose store may be away when it is settled."""

    quantities: dict[Sku, int]
    filling: int = 1
    settled: int = 0
    away: bool = False

    async def read(self) -> CartLines:
        settled = f"cart-{self.settled}" if self.settled else None
        return CartLines(cart_id=f"cart-{self.filling}", quantities=dict(self.quantities), settled_id=settled)

    async def add(self, sku: Sku, quantity: int, *, at_most: int, once: str | None = None) -> int:
        if once is not None:
            raise NotImplementedError
        self.quantities[sku] = min(at_most, self.quantities.get(sku, 0) + quantity)
        return self.quantities[sku]

    async def put(self, sku: Sku, quantity: int, *, at_most: int) -> None:
        raise NotImplementedError

    async def settle(self, ordered: CartLines) -> bool:
        if self.away:
            raise Unavailable("the cart")
        if ordered.cart_id != f"cart-{self.filling}":
            return False
        left = {sku: quantity - ordered.quantities.get(sku, 0) for sku, quantity in self.quantities.items()}
        self.quantities = {sku: quantity for sku, quantity in left.items() if quantity > 0}
        self.settled, self.filling = self.filling, self.filling + 1
        return True


@dataclass
class HeapOrders:
    """Orders in the heap; everything costs 1000."""

    made: list[Order] = field(default_factory=list)
    keys: dict[tuple[str, str], tuple[str, Order]] = field(default_factory=dict)
    away: bool = False

    async def replay(self, account_id: str, key: str, fingerprint: str) -> Order | None:
        kept = self.keys.get((account_id, key))
        if kept is not None and kept[0] != fingerprint:
            raise KeyReused
        return kept[1] if kept else None

    async def place(self, request: OrderRequest) -> Order:
        if self.away:
            raise Unavailable("the database")
        ordered = await self.by_cart(request.account_id, request.cart_id)
        if ordered is not None:
            raise CartOrdered(ordered.id)
        if request.expected_total != 1000 * sum(request.quantities.values()):
            raise TotalChanged(
                expected=request.expected_total, actual=1000 * sum(request.quantities.values())
            )
        order = made_of(request, f"order-{len(self.made)}")
        self.made.append(order)
        self.keys[request.account_id, request.key] = (request.fingerprint, order)
        return order

    async def by_id(self, account_id: str, order_id: str) -> Order | None:
        return next((one for one in self.made if (one.account_id, one.id) == (account_id, order_id)), None)

    async def of_guest(self, order_id: str) -> Order | None:
        raise NotImplementedError

    async def by_cart(self, account_id: str, cart_id: str) -> Order | None:
        return next((o for o in self.made if (o.account_id, o.cart_id) == (account_id, cart_id)), None)

    async def page(self, account_id: str, query: OrderQuery) -> Page[Order]:
        raise NotImplementedError

    async def move(self, order_id: str, move: Move) -> Order:
        raise NotImplementedError

    async def history(self, order_id: str) -> Sequence[OrderEvent]:
        raise NotImplementedError


@dataclass
class HeapPrices:
    """A price list that knows all but what was withdrawn."""

    withdrawn: set[Sku] = field(default_factory=set)
    forgotten: list[Sku] = field(default_factory=list)

    async def __call__(self, skus: Iterable[Sku]) -> Mapping[Sku, Offer]:
        return {
            sku: Offer(sku=sku, slug=sku, name=sku, price=1000, stock=9)
            for sku in skus
            if sku not in self.withdrawn
        }

    def forget(self, skus: Iterable[Sku]) -> None:
        self.forgotten += skus


def made_of(request: OrderRequest, order_id: str) -> Order:
    return Order(
        id=order_id,
        number="1",
        cart_id=request.cart_id,
        account_id=request.account_id,
        status="confirmed",
        payment=request.payment,
        shipping=request.shipping,
        lines=[
            OrderLine(sku=sku, name=sku, quantity=quantity, unit_price=1000)
            for sku, quantity in request.quantities.items()
        ],
        totals=Totals(subtotal=request.expected_total),
        placed_at=datetime.now(UTC),
    )


@pytest.fixture
def orders() -> HeapOrders:
    return HeapOrders()


@pytest.fixture
def cart() -> HeapCart:
    return HeapCart({"A": 2})


async def buy(
    orders: HeapOrders, cart: HeapCart, prices: HeapPrices | None = None, /, **other: str | int
) -> Order:
    told: Mapping[str, str | int] = {"key": "k", "payment": "cod", "total": 2000, **other}
    purchase = Purchase(
        account_id="me",
        key=str(told["key"]),
        shipping=SHIPPING,
        payment=str(told["payment"]),
        expected_total=int(told["total"]),
    )
    return await PlaceOrder(orders=orders, offers=prices or HeapPrices())(cart, purchase)


async def test_the_cart_loses_what_was_ordered(orders: HeapOrders, cart: HeapCart) -> None:
    order = await buy(orders, cart)
    assert [(line.sku, line.quantity) for line in order.lines] == [("A", 2)]
    assert order.shipping.phone == "0912345678"
    assert cart.quantities == {}


async def test_the_same_key_is_the_same_order(orders: HeapOrders, cart: HeapCart) -> None:
    order = await buy(orders, cart)
    assert await buy(orders, cart) == order
    assert len(orders.made) == 1


async def test_the_same_key_with_another_total_is_refused(orders: HeapOrders, cart: HeapCart) -> None:
    await buy(orders, cart)
    with pytest.raises(KeyReused):
        await buy(orders, cart, total=9000)


async def test_a_refilled_cart_is_another_order_and_a_late_replay_leaves_it_alone(
    orders: HeapOrders, cart: HeapCart
) -> None:
    first = await buy(orders, cart, key="one")
    await cart.add("A", 2, at_most=9)
    assert await buy(orders, cart, key="one") == first
    assert cart.quantities == {"A": 2}
    second = await buy(orders, cart, key="two")
    assert second.id != first.id


async def test_an_empty_cart_that_was_just_ordered_leads_to_its_order(
    orders: HeapOrders, cart: HeapCart
) -> None:
    order = await buy(orders, cart, key="one")
    with pytest.raises(CartOrdered) as refused:
        await buy(orders, cart, key="two")
    assert refused.value.order_id == order.id


async def test_an_empty_cart_is_no_order(orders: HeapOrders) -> None:
    with pytest.raises(CartEmpty):
        await buy(orders, HeapCart({}))


async def test_an_order_stands_although_the_cart_could_not_be_told(
    orders: HeapOrders, cart: HeapCart
) -> None:
    cart.away = True
    order = await buy(orders, cart, key="one")
    cart.away = False
    assert cart.quantities == {"A": 2}
    assert await buy(orders, cart, key="one") == order
    assert cart.quantities == {}


async def test_a_cart_that_was_never_told_is_mended_by_the_next_try_with_another_key(
    orders: HeapOrders, cart: HeapCart
) -> None:
    cart.away = True
    order = await buy(orders, cart, key="one")
    cart.away = False
    await cart.add("B", 1, at_most=9)
    with pytest.raises(CartOrdered) as refused:
        await buy(orders, cart, key="two")
    assert refused.value.order_id == order.id
    assert cart.quantities == {"B": 1}
    assert (await buy(orders, cart, key="three", total=1000)).lines[0].sku == "B"


async def test_without_the_database_nothing_happens_to_the_cart(orders: HeapOrders, cart: HeapCart) -> None:
    orders.away = True
    with pytest.raises(Unavailable):
        await buy(orders, cart)
    assert cart.quantities == {"A": 2}


@pytest.mark.parametrize(
    ("other", "refusal"),
    [
        ({"payment": "tok_ok"}, PaymentRefused),
        ({"total": -1}, Invalid),
        ({"total": 10**30}, Invalid),
        ({"key": ""}, Invalid),
        ({"key": "ờ"}, Invalid),
        ({"key": "x\0"}, Invalid),
        ({"key": "x" * 201}, Invalid),
    ],
)
async def test_what_cannot_be_is_refused_before_anything_happens(
    orders: HeapOrders, cart: HeapCart, other: dict[str, str | int], refusal: type[ShopError]
) -> None:
    with pytest.raises(refusal):
        await buy(orders, cart, **other)
    assert orders.made == []
    assert cart.quantities == {"A": 2}


@pytest.mark.parametrize(
    ("typed", "kept"),
    [("0912 345 678", "0912345678"), ("+84 (28) 3822-1234", "+842838221234"), ("0912.345.678", "0912345678")],
)
def test_a_phone_number_is_kept_as_digits(typed: str, kept: str) -> None:
    assert checked_shipping(replace(SHIPPING, phone=typed)).phone == kept


@pytest.mark.parametrize(
    "phone",
    [
        "",
        "1234567",
        "0-------1",
        "1" * 16,
        "٠٩١٢٣٤٥٦٧٨",
        "０９１２３４５６７８",
        "09+12345678",
        "x" * 9,
        "\0",
    ],
)
def test_what_is_no_phone_number_is_refused(phone: str) -> None:
    with pytest.raises(Invalid) as refused:
        checked_shipping(replace(SHIPPING, phone=phone))
    assert refused.value.field == "shipping.phone"


@pytest.mark.parametrize("what", ["name", "address"])
@pytest.mark.parametrize("text", ["", "\0", "\ud800", "x" * 10_000])
def test_a_parcel_needs_a_name_and_an_address(what: str, text: str) -> None:
    with pytest.raises(Invalid) as refused:
        checked_shipping(replace(SHIPPING, **{what: text}))
    assert refused.value.field == f"shipping.{what}"


async def test_what_the_shop_no_longer_sells_is_left_out_of_the_order(orders: HeapOrders) -> None:
    cart = HeapCart({"A": 2, "GONE": 1})
    order = await buy(orders, cart, HeapPrices(withdrawn={"GONE"}))
    assert [line.sku for line in order.lines] == ["A"]
    with pytest.raises(CartEmpty):
        await buy(orders, HeapCart({"GONE": 1}, filling=9), HeapPrices(withdrawn={"GONE"}), key="other")


async def test_after_a_changed_total_prices_are_looked_up_anew(orders: HeapOrders, cart: HeapCart) -> None:
    prices = HeapPrices()
    with pytest.raises(TotalChanged):
        await buy(orders, cart, prices, total=1)
    assert prices.forgotten == ["A"]
