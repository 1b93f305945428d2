"""The reviews as an application: built without I/O, its schema made in the lifespan."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette

from app.services import schema
from app.services.application import Surroundings, surround
from app.services.reviews.routes import routes
from app.services.reviews.store import SqlReviews
from app.services.reviews.tables import metadata
from app.shop.reviews import ReviewStatus
from app.stores.database import Database, DatabaseConfig


def create_app(database: DatabaseConfig, around: Surroundings, *, first: ReviewStatus) -> Starlette:
    """The application; `first` is the status of a new review."""
    store = Database(database)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await asyncio.to_thread(schema.migrate, database.url, metadata)
        yield
        await store.close()

    app = Starlette(routes=routes, lifespan=lifespan)
    app.state.reviews = SqlReviews(database=store, first=first)
    surround(app, around)
    return app
