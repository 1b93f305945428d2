"""Where the parts meet; nothing else does it."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.routing import Route

from app.lifecycle import Probes, serve
from app.observability.logs import logging_to
from app.settings import Settings, SettingsError, read, service_manager
from app.web import WebConfig, bare_app, install
from app.wiring import Parts, build


def create_app(settings: Settings, parts: Parts) -> FastAPI:
    """The app, the same in tests and in production."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with parts.running():
            yield

    app = bare_app(lifespan=lifespan)
    install(
        app,
        shop=parts.shop,
        desk=parts.desk,
        sessions=parts.sessions,
        cart_of=parts.cart_of,
        config=web_config(settings),
        gateway=parts.gateway,
        rates=parts.rates,
    )
    if parts.jwks is not None:
        app.router.routes.append(Route("/.well-known/jwks.json", parts.jwks, methods=["GET"]))
    parts.observability.install(app)
    served_by = (b"x-served-by", (settings.replica_name or "unnamed").encode())
    app.add_middleware(Probes, lifecycle=parts.lifecycle, headers=[served_by])
    return app


def serve_shop(host: str, port: int) -> int:
    """Serve one replica until a signal says stop; its exit code. Raises `SettingsError`, `OSError`."""
    settings = read(Settings)
    if settings.replica_name is None:
        settings = settings.model_copy(update={"replica_name": f"{host}:{port}"})
    with logging_to(sys.stdout.fileno(), replica=settings.replica_name or "unnamed") as writer:
        try:
            parts = build(settings, writer=writer)
        except ValueError as unusable:
            raise SettingsError(str(unusable)) from unusable
        return serve(
            create_app(settings, parts),
            parts.lifecycle,
            host=host,
            port=port,
            watchdog=settings.watchdog(),
            notifier=service_manager(),
        )


def web_config(settings: Settings) -> WebConfig:
    """What the pages and the API are told."""
    return WebConfig(
        public_url=settings.public_url,
        replica_name=settings.replica_name or "unnamed",
        trusted_proxies=settings.trusted_proxies,
        proof_lasts=settings.proof_lasts,
        webhook_secrets=settings.payments_webhook_secrets,
    )
