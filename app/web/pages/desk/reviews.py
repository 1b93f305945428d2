"""The owner's look at reviews: what waits, what is shown, what is hidden."""

from __future__ import annotations

from typing import Final, get_args
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from app.shop.errors import Invalid
from app.shop.reviews import ReviewStatus
from app.web.forms import Form, whole_number
from app.web.pages.desk.owner import PATH, deed_of, desk_form
from app.web.pages.form import Entry
from app.web.pages.page import html
from app.web.redirects import see_other
from app.web.shopping import desk_of, known_name, reviewing_of
from app.web.visitors import customer_account

REVIEWS: Final = f"{PATH}/danh-gia"
PAGE_SIZE: Final = 20


async def show(request: Request, entry: Entry) -> Response:
    """One page of the reviews of a status, oldest first."""
    owner = await customer_account(request)
    status = _status(request.query_params.get("status", "pending"))
    number = max(1, whole_number("page", request.query_params.get("page", "1")))
    found = await reviewing_of(request).reviews.waiting(
        owner, status=status, page=number, page_size=PAGE_SIZE
    )

    def url(page: int) -> str:
        return f"{REVIEWS}?{urlencode({'status': status, 'page': page})}"

    return await html(
        request, "desk/reviews.html", status=entry.status, found=found, shown=status, url=url, entry=entry
    )


async def judge(request: Request, form: Form) -> Response:
    """Show or hide the one that the button belongs to; the entry in the log comes first, as it is kept elsewhere."""
    owner, deed = await customer_account(request), deed_of(request, form)
    review = known_name("review", form.text("review"))
    verdict, back = _status(form.text("verdict")), _status(form.text("back") or "pending")
    await desk_of(request).audit.note(
        deed, action="review.judge", subject=f"review {review}", after={"status": verdict}
    )
    await reviewing_of(request).judge(owner, review, verdict)
    return see_other(REVIEWS, status=back)


def _status(text: str) -> ReviewStatus:
    for known in get_args(ReviewStatus):
        if text == known:
            status: ReviewStatus = known
            return status
    raise Invalid("status", f"must be one of {', '.join(get_args(ReviewStatus))}")


routes = [desk_form("/danh-gia", show, judge)]
