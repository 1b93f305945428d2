"""starsessions under Starlette, as its own documentation sets it up: Redis store, rolling cookie, autoload."""

from __future__ import annotations

import asyncio
import os

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import JSONResponse
from starlette.routing import Route
from starsessions import SessionAutoloadMiddleware, SessionMiddleware, regenerate_session_id
from starsessions.stores.redis import RedisStore


async def fill(request):
    request.session["user"] = request.query_params.get("user", "user:48213")
    regenerate_session_id(request)
    for number in range(int(request.query_params["n"])):
        request.session[f"line:SKU-{number:05}"] = number + 1
    return JSONResponse({})


async def cart(request):
    lines = request.session.items()
    return JSONResponse([{"sku": n, "quantity": q} for n, q in lines if n.startswith("line:")])


async def put(request):
    request.session[f"line:{request.query_params['key']}"] = 1
    return JSONResponse({})


async def login(request):
    request.session["user"] = request.query_params["user"]
    return JSONResponse({})


async def me(request):
    return JSONResponse({"user": request.session.get("user")})


async def slow(request):
    user = request.session.get("user")
    await asyncio.sleep(0.3)
    return JSONResponse({"user": user})


async def logout(request):
    request.session.clear()
    return JSONResponse({})


app = Starlette(
    routes=[Route(f"/{route.__name__}", route) for route in (fill, cart, put, login, me, slow, logout)],
    middleware=[
        Middleware(
            SessionMiddleware,
            store=RedisStore(os.environ["BENCH_REDIS"], prefix="starsessions."),
            cookie_name="sid",
            cookie_https_only=False,
            lifetime=1800,
            rolling=True,
        ),
        Middleware(SessionAutoloadMiddleware),
    ],
)
