"""The reviews of a product: everybody reads, who is logged in writes one."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from app.shop.accounts import Account
from app.shop.degradation import Told
from app.shop.errors import NotFound, Unavailable
from app.shop.reviewing import Reviewing
from app.shop.reviews import Review, ReviewsPage
from app.web.degraded import degraded_headers
from app.web.forms import Form, whole_number
from app.web.pages.form import Entry, form_view
from app.web.pages.page import html, page, shown, visitor_of
from app.web.redirects import see_other
from app.web.shopping import known_name, reviewing_of, shop_of
from app.web.visitors import customer_account


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """The visitor's own review; `is_known` is False while the service cannot tell."""

    review: Review | None = None
    is_known: bool = True


async def show(request: Request, entry: Entry) -> Response:
    """A page of what others say, and the form for what the visitor says."""
    slug = _slug(request)
    product = next(iter(await shop_of(request).catalog.summaries([slug])), None)
    if product is None:
        raise NotFound("product")
    reviewing = reviewing_of(request)
    number = max(1, whole_number("page", request.query_params.get("page", "1")))
    found: Told[ReviewsPage] = await reviewing.page(slug, number)
    visitor = await visitor_of(request)
    own = Own() if visitor.account is None else await _own(reviewing, slug, visitor.account)
    response = await html(
        request,
        "reviews.html",
        status=entry.status,
        product=product,
        reviews=found,
        own=own,
        entry=entry,
        done=request.query_params.get("done", ""),
        page_url=lambda page: f"{quote(request.url.path)}?page={page}",
    )
    response.headers.update(degraded_headers(["reviews"] if found.is_degraded else []))
    return response


async def write(request: Request, form: Form) -> Response:
    """Keep what the visitor says, or take it back."""
    slug, account = _slug(request), await customer_account(request)
    form.nonce()
    if form.text("what") == "remove":
        await reviewing_of(request).remove(slug, account)
        return see_other(request.url.path, done="removed")
    rating = whole_number("rating", form.text("rating") or "0")
    review = await reviewing_of(request).write(slug, account, rating=rating, text=form.text("text"))
    return see_other(request.url.path, done=review.status)


async def _own(reviewing: Reviewing, slug: str, account: Account) -> Own:
    try:
        return Own(review=await reviewing.reviews.mine(slug, account))
    except Unavailable:
        return Own(is_known=False)


def _slug(request: Request) -> str:
    return known_name("product", request.path_params["slug"])


routes = [page("/san-pham/{slug}/danh-gia", form_view(show, write), access=shown, methods=("GET", "POST"))]
