"""The acquirer as an application: built without I/O, its schema and queues opened in the lifespan."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError

from app.services import schema
from app.services.application import Surroundings, surround
from app.services.payments import pages, routes
from app.services.payments.acquirer import Acquirer
from app.services.payments.config import AcquirerConfig
from app.services.payments.delivery import Queue
from app.services.payments.errors import AcquirerError, KeyInProgress, KeyReused, NoSuchPayment, TooLate
from app.services.payments.events import Outbox
from app.services.payments.requests import Requests
from app.services.payments.tables import metadata
from app.services.problems import Problem
from app.stores.database import Database, DatabaseConfig

_log = logging.getLogger(__name__)

_STATUS: Final = {KeyInProgress: 409, KeyReused: 422, NoSuchPayment: 404, TooLate: 504}


def create_app(config: AcquirerConfig, database: DatabaseConfig, around: Surroundings) -> FastAPI:
    """The application."""
    store = Database(database)

    def ended(queue: asyncio.Task[None]) -> None:
        """A process that cannot deliver any more makes room for one that can."""
        if not queue.cancelled():
            _log.critical("a queue of webhooks broke down; stopping", exc_info=queue.exception())
            around.lifecycle.drain()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await asyncio.to_thread(schema.migrate, database.url, metadata)
        queues = [Queue(store, consumer, config.delivery) for consumer in config.consumers]
        running = [asyncio.create_task(queue.run()) for queue in queues]
        for task in running:
            task.add_done_callback(ended)
        yield
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await store.close()

    app = FastAPI(title="Chợ Phố: payments", lifespan=lifespan, docs_url=None, redoc_url=None)
    app.state.acquirer = Acquirer(
        database=store,
        requests=Requests(store),
        outbox=Outbox(consumers=tuple(consumer.name for consumer in config.consumers)),
        config=config,
    )
    app.include_router(routes.router)
    app.include_router(pages.router)
    surround(app, around)
    app.add_exception_handler(AcquirerError, _refused)
    app.add_exception_handler(RequestValidationError, _unreadable)
    return app


def _refused(_: Request, error: Exception) -> Problem:
    assert isinstance(error, AcquirerError)  # noqa: S101 -- Starlette hands over what it was registered for
    retry = {"Retry-After": str(error.retry_after_s)} if isinstance(error, KeyInProgress) else {}
    return Problem(_STATUS[type(error)], error.code, str(error), retry)


def _unreadable(_: Request, error: Exception) -> Problem:
    assert isinstance(error, RequestValidationError)  # noqa: S101 -- likewise
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"])
    return Problem(422, "invalid", f"{field}: {first['msg']}")
