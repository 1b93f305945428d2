"""Every route of the API under its prefix."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from app.web.answers import PROBLEM_JSON
from app.web.api import (
    account,
    accounts,
    cart,
    devices,
    guests,
    orders,
    password,
    personal,
    products,
    reviews,
    session,
)
from app.web.api.models.problems import ProblemOut

PREFIX: Final = "/api/v1"

_PROBLEM: Final = {
    "description": "A problem (RFC 9457) with a stable `code`",
    "content": {PROBLEM_JSON: {"schema": ProblemOut.model_json_schema()}},
}

HOT_ROUTES: Final = [*session.hot_routes, *cart.hot_routes]
"""Tried before all others."""


def api_router() -> APIRouter:
    """The routes that are not hot."""
    router = APIRouter(prefix=PREFIX, responses={"4XX": _PROBLEM, "5XX": _PROBLEM})
    for part in (
        accounts,
        account,
        personal,
        session,
        password,
        devices,
        products,
        reviews,
        cart,
        orders,
        guests,
    ):
        router.include_router(part.router)
    return router
