"""The stock on hand, for display: whoever sells asks the shop's database, which owns it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final

from sqlalchemy import ColumnElement, Text, any_, func, literal, select, true
from sqlalchemy.dialects.postgresql import ARRAY
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from app.services.application import Surroundings, surround
from app.services.requests import named
from app.shop.errors import Invalid
from app.shop.text import storable
from app.stores.catalog import sellable
from app.stores.database import AnyRow, Database, DatabaseConfig
from app.stores.tables import products, variants

SKUS_MOST: Final = 100


async def of_product(request: Request) -> Response:
    """The stock of every variant of the product in the path."""
    return await _told(request, products.c.slug == named(request, "product"))


async def of_skus(request: Request) -> Response:
    """The stock of the SKUs in the query, ``?sku=…&sku=…``; those that the shop does not sell are absent."""
    skus = request.query_params.getlist("sku")
    if not 1 <= len(skus) <= SKUS_MOST or not all(storable(sku) for sku in skus):
        raise Invalid("sku", f"wants 1 to {SKUS_MOST} SKUs, as sku=…&sku=…")
    return await _told(request, variants.c.sku == any_(literal(sorted(set(skus)), ARRAY(Text))))


async def _told(request: Request, which: ColumnElement[bool]) -> Response:
    """`as_of` is the database's clock at the reading."""
    database: Database = request.app.state.database
    now = select(func.statement_timestamp().label("as_of")).subquery("now")
    found = (
        select(variants.c.sku, sellable.label("stock"))
        .join(products)
        .where(which, products.c.visible)
        .subquery("found")
    )
    rows = await database.rows(
        select(now, found).select_from(now.outerjoin(found, true())).order_by(found.c.sku)
    )
    return JSONResponse({**_list(rows), "as_of": rows[0].as_of.isoformat()})


def _list(rows: Sequence[AnyRow]) -> dict[str, object]:
    items = [{"sku": row.sku, "stock": row.stock} for row in rows if row.sku is not None]
    return {"items": items, "total": len(items), "page": 1, "page_size": max(len(items), 1)}


_routes: Final = [
    Route("/v1/products/{product}/stock", of_product, methods=["GET"]),
    Route("/v1/stock", of_skus, methods=["GET"]),
]


def create_app(database: DatabaseConfig, around: Surroundings) -> Starlette:
    """The application; its connections cannot write."""
    store = Database(replace(database, read_only=True))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await store.close()

    app = Starlette(routes=_routes, lifespan=lifespan)
    app.state.database = store
    surround(app, around)
    return app
