"""The cart, its quantities and its way to the checkout."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from app.web.forms import Form
from app.web.pages.form import UNTOUCHED, Entry, form_view
from app.web.pages.page import html, led_on, needed, page
from app.web.redirects import see_other
from app.web.shopping import cart_of, known_name, shop_of


async def cart(request: Request) -> Response:
    """The lines with today's names and prices."""
    return await _show(request, UNTOUCHED)


async def change(request: Request, form: Form) -> Response:
    """Set a line; 0 removes it."""
    sku = known_name("product", form.text("sku"))
    await shop_of(request).put_in_cart(cart_of(request), sku, form.quantity())
    return see_other("/gio-hang")


async def remove(request: Request, form: Form) -> Response:
    """Remove a line."""
    await shop_of(request).put_in_cart(cart_of(request), known_name("product", form.text("sku")), 0)
    return see_other("/gio-hang")


async def _show(request: Request, entry: Entry) -> Response:
    view = await shop_of(request).show_cart(cart_of(request))
    added = request.query_params.get("added", "")
    return await html(request, "cart.html", status=entry.status, cart=view, entry=entry, added=added)


routes = [
    page("/gio-hang", cart, access=needed),
    page("/gio-hang/sua", form_view(_show, change), access=needed, methods=("POST",)),
    page("/gio-hang/xoa", form_view(_show, remove), access=needed, methods=("POST",)),
    led_on("/gio-hang/sua", to="/gio-hang"),
    led_on("/gio-hang/xoa", to="/gio-hang"),
]
