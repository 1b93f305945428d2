"""The recommendations as an application: read by everybody, computed in the background."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from typing import Final

from pydantic import Field
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from app.services import schema
from app.services.application import Surroundings, surround
from app.services.recommendations.refresher import KEPT, Refresher
from app.services.recommendations.store import SqlRecommendations
from app.services.recommendations.tables import metadata
from app.services.requests import Asked, named, query_of
from app.stores.database import Database, DatabaseConfig

_log = logging.getLogger(__name__)


class Wish(Asked):
    """How many."""

    most: int = Field(6, ge=1, le=KEPT)


async def beside(request: Request) -> Response:
    """What goes with the product of the path, and when that was computed."""
    asked = query_of(request, Wish)
    store: SqlRecommendations = request.app.state.recommendations
    found = await store.beside(named(request, "product"), most=asked.most)
    at = await store.refreshed_at()
    items = [{"product": one.product, "reason": one.reason} for one in found]
    told = {"items": items, "total": len(items), "page": 1, "page_size": asked.most}
    return JSONResponse({**told, "refreshed_at": at and at.isoformat()})


_routes: Final = [Route("/v1/products/{product}/recommendations", beside, methods=["GET"])]


def create_app(database: DatabaseConfig, around: Surroundings, *, every: timedelta) -> Starlette:
    """The application; the recommendations are computed every so often, first when it starts."""
    store, slow = Database(database), Database(_unhurried(database))

    def ended(refreshing: asyncio.Task[None]) -> None:
        """A process that cannot compute any more makes room for one that can."""
        if not refreshing.cancelled():
            _log.critical("the refresher broke down; stopping", exc_info=refreshing.exception())
            around.lifecycle.drain()

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await asyncio.to_thread(schema.migrate, database.url, metadata)
        refreshing = asyncio.create_task(Refresher(database=slow, every=every).run())
        refreshing.add_done_callback(ended)
        yield
        refreshing.cancel()
        with suppress(asyncio.CancelledError):
            await refreshing
        await slow.close()
        await store.close()

    app = Starlette(routes=_routes, lifespan=lifespan)
    app.state.recommendations = SqlRecommendations(database=store)
    surround(app, around)
    return app


def _unhurried(database: DatabaseConfig) -> DatabaseConfig:
    """For work that nobody waits for, on a connection that no reader needs."""
    return replace(
        database,
        pool_size=1,
        pool_wait_s=30,
        statement_timeout_s=120,
        idle_in_transaction_timeout_s=120,
        answer_within_s=300,
        application_name=f"{database.application_name} refresher",
    )
