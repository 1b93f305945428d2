"""Where the web is put together: routes, answers to errors, and what every request passes on its way in."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Receive, Scope, Send

from app.clients.webhooks import SHOP_PATH, WebhookRefused
from app.sessions import SessionEnded, SessionError, SessionMiddleware, Sessions, StoreUnavailable
from app.shop.desk.desk import Desk
from app.shop.errors import ShopError
from app.shop.shop import Shop
from app.web import docs
from app.web.answers import answer, refusal, refuse
from app.web.api import compose, webhooks
from app.web.api.faults import problem_with
from app.web.api.routes import HOT_ROUTES, api_router
from app.web.api.routes import PREFIX as API
from app.web.assets import ASSETS, PREFIX
from app.web.config import WebConfig
from app.web.edge import BodyLimit, HeadAsGet, HostCheck, OriginCheck, OverdueCheck, Proxies, Stamp
from app.web.edge.stamp import stamp_of
from app.web.errors import WebError, problem_of
from app.web.gateway import PATH as GATEWAY_PATH
from app.web.gateway import Gateway, GatewayDoor
from app.web.language import Language
from app.web.pages import ROUTES
from app.web.pages.desk.owner import PATH as DESK_PATH
from app.web.pages.payment import PATH as RETURN_PATH
from app.web.pictures import PATH as PICTURES
from app.web.pictures import kept_picture
from app.web.rates import Rates
from app.web.shopping import CartOf


def bare_app(**options: Any) -> FastAPI:  # noqa: ANN401  # FastAPI's own options
    """A FastAPI whose defaults do not get into the web's way.

    Its documentation pages load scripts from elsewhere, which our CSP forbids; its redirect of a trailing
    slash believes the Host header; its telemetry asks the environment at each request whether it is on.
    """
    return FastAPI(
        title="Chợ Phố",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
        **options,
    )


def install(
    app: FastAPI,
    *,
    shop: Shop,
    desk: Desk,
    sessions: Sessions,
    cart_of: CartOf,
    config: WebConfig,
    gateway: Gateway | None = None,
    rates: Rates | None = None,
) -> None:
    """Make the app the shop's web; `app` comes from `bare_app`. What is added later lies further out."""
    app.state.shop = shop
    app.state.desk = desk
    app.state.cart_of = cart_of
    app.state.rates = rates
    app.state.webhook_secrets = config.webhook_secrets
    app.state.proof_lasts = config.proof_lasts
    _add_routes(app)
    if gateway is not None:
        app.router.routes.append(
            Route(GATEWAY_PATH, gateway)
        )  # for its name in the log: the door takes it before
        app.add_middleware(GatewayDoor, gateway=gateway)
    _add_error_handlers(app)
    _add_middleware(app, sessions, config)


def _add_routes(app: FastAPI) -> None:
    app.router.routes[:0] = HOT_ROUTES
    app.include_router(api_router())
    app.router.routes += [
        *compose.routes,
        *ROUTES,
        *webhooks.routes,
        Route(PREFIX + "{name:path}", ASSETS.serve),
        Route(PICTURES + "{name}", kept_picture),
        Route("/favicon.ico", ASSETS.icon),
        Route(docs.PATH, docs.docs),
    ]


def _add_error_handlers(app: FastAPI) -> None:
    for kind in (ShopError, SessionError, WebError, WebhookRefused, HTTPException, ClientDisconnect):
        app.add_exception_handler(kind, _refused)
    app.add_exception_handler(RequestValidationError, _unusable)
    app.add_exception_handler(Exception, _crashed)


def _add_middleware(app: FastAPI, sessions: Sessions, config: WebConfig) -> None:
    """Innermost first, as Starlette wants it."""
    app.add_middleware(HeadAsGet, below=API)
    app.add_middleware(SessionMiddleware, sessions=sessions, unavailable=_unavailable, ended=_ended)
    app.add_middleware(OverdueCheck, timeout=config.request_timeout)
    app.add_middleware(OriginCheck, origin=config.origin, exempt=(RETURN_PATH, SHOP_PATH))
    app.add_middleware(HostCheck, origin=config.origin, exempt=(SHOP_PATH,))
    app.add_middleware(Language)
    app.add_middleware(BodyLimit, limit=config.body_limit, larger={DESK_PATH: config.desk_body_limit})
    app.add_middleware(Stamp, replica_name=config.replica_name, secure=config.origin.is_secure)
    app.add_middleware(Proxies, trusted=config.trusted_proxies)


async def _refused(request: Request, error: Exception) -> Response:
    response = refusal(request, error)
    if response.status_code == 405:
        response.headers["allow"] = ", ".join(_allowed_methods(request))
    return response


def _allowed_methods(request: Request) -> list[str]:
    """What the path takes; the router alone would name the methods of its first route."""
    taken = [
        method
        for method in ("GET", "POST", "PUT", "DELETE")
        if any(
            route.matches({**request.scope, "method": method})[0] is Match.FULL
            for route in request.app.router.routes
        )
    ]
    return [*taken, "HEAD"] if "GET" in taken else taken


async def _unusable(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101  # the class it is registered for
    return answer(request, problem_with(error))


async def _crashed(request: Request, error: Exception) -> Response:
    """Starlette writes this answer outside of every middleware, so the stamp is put on here."""
    response = answer(request, problem_of(error))
    response.raw_headers.extend(stamp_of(request.scope))
    return response


async def _unavailable(scope: Scope, receive: Receive, send: Send) -> None:
    await refuse(scope, receive, send, StoreUnavailable())


async def _ended(scope: Scope, receive: Receive, send: Send) -> None:
    await refuse(scope, receive, send, SessionEnded())
