"""The acquirer's pages: where a cardholder's bank asks, and how the browser goes back to the shop.

The way back is a form of this site, posted to the shop's: a cross-site POST, which brings no `Lax` cookie
along. What it says is a hint; the shop asks the acquirer what is true.
"""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

from fastapi import APIRouter, Form
from jinja2 import Environment, FileSystemLoader
from starlette.responses import HTMLResponse

from app.services.payments.payment import Payment, Status
from app.services.payments.routes import Bank
from app.shop.money import written

router: Final = APIRouter()

_templates: Final = Environment(loader=FileSystemLoader(Path(__file__).parent / "templates"), autoescape=True)
_templates.filters["written"] = written


@router.get("/pay/{secret}", response_class=HTMLResponse)
async def ask(bank: Bank, secret: str) -> HTMLResponse:
    """The bank's question, or the way back when it was answered."""
    return _page(await bank.waiting(secret))


@router.post("/pay/{secret}", response_class=HTMLResponse)
async def answer(
    bank: Bank, secret: str, decision: Annotated[Literal["agree", "cancel"], Form()]
) -> HTMLResponse:
    """The cardholder's answer, then the way back."""
    return _page(await bank.confirm(secret, agreed=decision == "agree"))


def _page(payment: Payment) -> HTMLResponse:
    name = "ask.html" if payment.status is Status.REQUIRES_ACTION else "back.html"
    nonce = secrets.token_urlsafe(16)
    shop = urlsplit(payment.return_url or "")
    policy = (
        f"default-src 'none'; style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'; base-uri 'none'; "
        f"frame-ancestors 'none'; form-action 'self' {shop.scheme}://{shop.netloc}"
    )
    return HTMLResponse(
        _templates.get_template(name).render(payment=payment, nonce=nonce),
        headers={
            "Content-Security-Policy": policy,
            "Cache-Control": "private, no-store",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
        },
    )
