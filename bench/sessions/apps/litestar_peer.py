"""Litestar with its server-side sessions in its Redis store, renewed on access."""

from __future__ import annotations

import asyncio
import os

from litestar import Litestar, Request, get
from litestar.middleware.session.server_side import ServerSideSessionConfig
from litestar.stores.redis import RedisStore


@get("/fill")
async def fill(request: Request, n: int, user: str = "user:48213") -> dict:
    lines = {f"line:SKU-{number:05}": number + 1 for number in range(n)}
    request.set_session({"user": user, **lines})
    return {}


@get("/cart")
async def cart(request: Request) -> list:
    lines = request.session.items()
    return [{"sku": n, "quantity": q} for n, q in lines if n.startswith("line:")]


@get("/put")
async def put(request: Request, key: str) -> dict:
    request.session[f"line:{key}"] = 1
    return {}


@get("/login")
async def login(request: Request, user: str) -> dict:
    request.session["user"] = user
    return {}


@get("/me")
async def me(request: Request) -> dict:
    return {"user": request.session.get("user")}


@get("/slow")
async def slow(request: Request) -> dict:
    user = request.session.get("user")
    await asyncio.sleep(0.3)
    return {"user": user}


@get("/logout")
async def logout(request: Request) -> dict:
    request.clear_session()
    return {}


app = Litestar(
    route_handlers=[fill, cart, put, login, me, slow, logout],
    stores={"sessions": RedisStore.with_client(os.environ["BENCH_REDIS"])},
    middleware=[ServerSideSessionConfig(key="sid", renew_on_access=True, max_age=1800).middleware],
)
