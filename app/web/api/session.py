"""Logging in and out, and who is logged in."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from app.sessions import session_of
from app.web.api.accounts import as_json
from app.web.api.answers import HotRoute, nothing, private
from app.web.api.models.sessions import Credentials, SessionOut
from app.web.shopping import shop_of
from app.web.visitors import account_id_of, admit

router = APIRouter(tags=["session"])


@router.post("/session", response_model=SessionOut)
async def log_in(request: Request, credentials: Credentials) -> Response:
    """Log in; the cart that was filled before stays."""
    account = await admit(request, email=credentials.email, password=credentials.password)
    return private({"account": as_json(account)})


@router.delete("/session", status_code=204)
async def log_out(request: Request) -> Response:
    """Log out; also done for those who are not logged in."""
    await shop_of(request).end_session(session_of(request).logout)
    return nothing()


async def who(request: Request) -> Response:
    """Who is logged in."""
    account_id = await account_id_of(session_of(request))
    account = None if account_id is None else await shop_of(request).accounts.by_id(account_id)
    return private({"account": None if account is None else as_json(account)})


hot_routes = [HotRoute("/api/v1/session", who, response_model=SessionOut, tags=["session"])]
