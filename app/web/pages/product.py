"""A product with its variants, reviews and what goes with it, and the form that puts it into the cart."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from app.shop.errors import NotFound
from app.web.degraded import degraded_headers
from app.web.forms import Form
from app.web.pages.form import UNTOUCHED, Entry, form_view
from app.web.pages.page import html, led_on, needed, page, shown
from app.web.redirects import see_other
from app.web.shopping import cart_of, known_name, shop_of


async def product(request: Request) -> Response:
    """The product of the path."""
    return await _show(request, UNTOUCHED, slug=request.path_params["slug"])


async def add(request: Request, form: Form) -> Response:
    """Put what was chosen into the cart, then show it there."""
    sku = known_name("product", form.text("sku"))
    once = form.text("nonce") and form.nonce()
    await shop_of(request).add_to_cart(cart_of(request), sku, form.quantity(), once=once or None)
    return see_other("/gio-hang", added=sku)


async def show_again(request: Request, entry: Entry) -> Response:
    """The product whose form was sent."""
    sku = known_name("product", entry.value("sku"))
    offer = (await shop_of(request).catalog.offers([sku])).get(sku)
    if offer is None:
        raise NotFound("product")
    return await _show(request, entry, slug=offer.slug)


async def _show(request: Request, entry: Entry, *, slug: str) -> Response:
    view = await shop_of(request).show_product(known_name("product", slug))
    response = await html(
        request,
        "product.html",
        status=entry.status,
        view=view,
        product=view.product,
        entry=entry,
        can_review=shop_of(request).reviewing is not None,
    )
    response.headers.update(degraded_headers(view.degraded))
    return response


routes = [
    page("/san-pham/{slug}", product, access=shown),
    page("/gio-hang/them", form_view(show_again, add), access=needed, methods=("POST",)),
    led_on("/gio-hang/them", to="/gio-hang"),
]
