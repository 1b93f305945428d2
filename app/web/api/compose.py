"""A product composed of what the services say of it, in one call instead of one for each service."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.shop.errors import Invalid
from app.web.api.answers import public
from app.web.api.products import product_as_json
from app.web.degraded import degraded_headers
from app.web.rates import count_call
from app.web.shopping import known_name, shop_of

PATH: Final = "/api/compose/product/{slug}"

_AT_ONCE: Final = {"parallel": True, "sequential": False}


async def compose(request: Request) -> Response:
    """The services are asked side by side; ``?mode=sequential`` asks one after the other, for comparison.

    Each part has its own policy: what a service cannot say is in `degraded`, and the rest comes all the same.
    """
    count_call(request.app.state.rates, request.scope)
    mode = request.query_params.get("mode", "parallel")
    if mode not in _AT_ONCE:
        raise Invalid("mode", "wants parallel or sequential")
    slug = known_name("product", request.path_params["slug"])
    view = await shop_of(request).show_product(slug, at_once=_AT_ONCE[mode])
    return public(product_as_json(view), degraded_headers(view.degraded))


routes: Final = [Route(PATH, compose, methods=["GET"])]
