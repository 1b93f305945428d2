"""The way back from the bank: what the browser brings along is only a hint to ask the acquirer."""

from __future__ import annotations

from contextlib import suppress
from typing import Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.shop.errors import Unavailable
from app.web.forms import read_form
from app.web.pages.page import led_on
from app.web.redirects import see_other
from app.web.shopping import known_name, shop_of

PATH: Final = "/thanh-toan/ket-qua"


async def returned(request: Request) -> Response:
    """Ask what became of the payment, then lead to the order, which only its owner can see.

    The form comes from the bank's site, so it brings no session along.
    """
    order_id = known_name("order", (await read_form(request)).text("merchant_reference"))
    settlement = shop_of(request).settlement
    if settlement is not None:
        with suppress(Unavailable):  # the order's page says that it waits, and it is asked again
            await settlement.look(order_id)
    return see_other(f"/don-hang/{quote(order_id, safe='')}")


routes = [
    Route(PATH, returned, methods=["POST"], name=PATH),
    led_on(PATH, to="/don-hang"),
]
