"""An essential dependency fails the request: the order is refused, the cart is kept, and no money stays taken."""

from __future__ import annotations

import secrets
from typing import Any

import pytest

from tests.conftest import wait_until
from tests.integration.services.conftest import World
from tests.integration.services.processes import Service
from tests.integration.services.shop import Person, Shop
from tests.integration.services.test_degradation import FAULTS, broken


def order(person: Person, total: int) -> Any:
    return person.client.post(
        "/api/v1/orders",
        headers={"Idempotency-Key": secrets.token_hex(8)},
        json={
            "expected_total": total,
            "payment": {"token": "tok_ok"},
            "shipping": {"name": "Ánh", "phone": "0912345678", "address": "12 Hàng Bạc, Hà Nội"},
        },
    )


@pytest.mark.parametrize("fault", FAULTS)
def test_while_payments_fail_no_order_is_placed_the_cart_stays_and_nothing_is_held(
    world: World, shop: Shop, payments: Service, fault: str
) -> None:
    sku: str = world.rows("SELECT sku FROM variants WHERE stock > 5 ORDER BY sku LIMIT 1")[0][0]
    with shop.person("Ánh") as buyer:
        added = buyer.client.post("/api/v1/cart/items", json={"sku": sku, "quantity": 1})
        assert added.status_code < 300, added.text
        cart = buyer.client.get("/api/v1/cart").json()
        with broken(payments, fault, "POST /v1/payments"):
            refused = order(buyer, cart["total"])
        assert refused.status_code == 503, refused.text
        assert int(refused.headers["retry-after"]) > 0
        assert [line["sku"] for line in buyer.client.get("/api/v1/cart").json()["lines"]] == [sku]

    def is_nothing_held() -> bool:
        ledger = world.rows("SELECT status FROM payments.payments WHERE status IN ('authorised', 'captured')")
        return ledger == []

    wait_until(is_nothing_held, within_s=60, what="the money's way back")
