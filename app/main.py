"""Where the parts meet; nothing else does it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from app.lifecycle import Probes, serve
from app.observability import logging_to
from app.settings import Settings, SettingsError, read
from app.stores.migrations import migrate
from app.stores.sample.accounts import load_demo_accounts
from app.stores.sample.catalog import load_sample
from app.stores.session_cart import SessionCart
from app.web import WebConfig, bare_app, install
from app.wiring import Parts, build


def create_app(settings: Settings, parts: Parts) -> FastAPI:
    """The app, the same in tests and in production."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with parts.running():
            yield

    app = bare_app(lifespan=lifespan)
    install(app, shop=parts.shop, sessions=parts.sessions, cart_of=SessionCart, config=_web_config(settings))
    parts.observability.install(app)
    app.add_middleware(Probes, lifecycle=parts.lifecycle)
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
        return serve(create_app(settings, parts), parts.lifecycle, host=host, port=port)


def migrate_shop(*, sample_data: bool) -> int:
    """Bring the database to this version's schema; several may try at once. The exit code.

    `sample_data` adds the sample catalogue and the demo accounts, which only a local fleet has.
    Raises `SettingsError`.
    """
    settings = read(Settings)
    migrate(settings.database_url)
    if sample_data:
        asyncio.run(_load_sample_data(build(settings)))
    return 0


async def _load_sample_data(parts: Parts) -> None:
    async with parts.running():
        await load_sample(parts.database)
        await load_demo_accounts(parts.shop.accounts, parts.shop.register.passwords)


def _web_config(settings: Settings) -> WebConfig:
    return WebConfig(
        public_url=settings.public_url,
        replica_name=settings.replica_name or "unnamed",
        trusted_proxies=settings.trusted_proxies,
    )
