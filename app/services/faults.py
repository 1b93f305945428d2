"""Fault switches: a service that fails on purpose, for a while, and heals by itself.

The switches are part of an application only when it is given an operator's token; without one there is
nothing to find. They stand before the application, so a fault is what the caller's network would see, and
behind the probes, so that a service with a fault is still a service that runs.

    GET    /faults              the switches that are on
    PUT    /faults   {fault}    turn one on, for `for_s` seconds; one for each endpoint
    DELETE /faults?endpoint=…   turn it off; all of them without `endpoint`
"""

from __future__ import annotations

import asyncio
import hmac
import os
import random
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Annotated, Final, Literal

import psutil
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.datastructures import Headers, QueryParams
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.services.problems import Problem

PATH: Final = "/faults"

Mode = Literal["hang", "refuse", "garbage", "slow_body", "partial_body"]

LONGEST_S: Final = 3600
"""A switch that somebody forgot is off after this long."""

_BODY_MOST: Final = 4096
_PIECES: Final = 20

Seconds = Annotated[float, Field(ge=0, le=LONGEST_S, allow_inf_nan=False)]


class Fault(BaseModel):
    """What goes wrong at an endpoint, in this order: a delay, then an error, then the mode.

    `endpoint` is a path or ``METHOD path`` with ``*`` for anything; the longest one that fits counts.
    A delay is `latency_s` ± `jitter_s`. `error_rate` of the requests get `error_status` and are not done.
    Of the modes, `hang` never answers, `refuse` closes the connection without a word and `garbage` answers
    200 with what nobody can read, all without doing anything; `slow_body` and `partial_body` do what was
    asked, and let the answer trickle over `body_s`, or cut it in the middle.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    endpoint: str = Field("*", pattern=r"^([A-Z]+ )?(/[!-~]*|\*)$", max_length=200)
    latency_s: Seconds = 0
    jitter_s: Seconds = 0
    error_rate: float = Field(0, ge=0, le=1, allow_inf_nan=False)
    error_status: int = Field(500, ge=400, le=599)
    mode: Mode | None = None
    body_s: Seconds = 30
    for_s: float = Field(60, gt=0, le=LONGEST_S, allow_inf_nan=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """A fault that is on until then, or until it is turned off."""

    fault: Fault
    until: float
    off: asyncio.Event = field(default_factory=asyncio.Event)


class Switches:
    """The switches of one process."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._on: dict[str, Switch] = {}

    def turn_on(self, fault: Fault) -> None:
        """Turn it on, in place of the one at the same endpoint."""
        self.turn_off(fault.endpoint)
        self._on[fault.endpoint] = Switch(fault=fault, until=self._clock() + fault.for_s)

    def turn_off(self, endpoint: str | None = None) -> None:
        """Turn one off, or all."""
        for name in list(self._on) if endpoint is None else [endpoint]:
            switch = self._on.pop(name, None)
            if switch is not None:
                switch.off.set()

    def on(self) -> Mapping[str, Switch]:
        """The switches that are on, by endpoint."""
        now = self._clock()
        self._on = {name: switch for name, switch in self._on.items() if switch.until > now}
        return self._on

    def at(self, method: str, path: str) -> Switch | None:
        """The switch for this request, or None."""
        fitting = [name for name in self.on() if _fits(name, method, path)]
        return self._on[max(fitting, key=len)] if fitting else None

    def left_s(self, switch: Switch) -> float:
        """How long the switch stays on."""
        return max(switch.until - self._clock(), 0)


def _fits(endpoint: str, method: str, path: str) -> bool:
    wanted, _, pattern = endpoint.rpartition(" ")
    return wanted in ("", method) and fnmatchcase(path, pattern)


class Faults:
    """The middleware: does what the switches say, and lets an operator turn them."""

    def __init__(self, app: ASGIApp, *, token: str, chance: Callable[[], float] = random.random) -> None:
        self._app = app
        self._token = token.encode()
        self._chance = chance
        self._switches = Switches()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, rightly or wrongly."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif scope["path"] == PATH:
            await (await self._turn(scope, receive))(scope, receive, send)
        elif (switch := self._switches.at(scope["method"], scope["path"])) is not None:
            await self._fail(switch, scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _turn(self, scope: Scope, receive: Receive) -> Response:
        given = Headers(scope=scope).get("authorization", "").removeprefix("Bearer ").encode()
        if not hmac.compare_digest(given, self._token):
            return Problem(
                401, "unauthorized", "the operator's token is needed", {"WWW-Authenticate": "Bearer"}
            )
        match scope["method"]:
            case "GET":
                pass
            case "PUT":
                try:
                    self._switches.turn_on(Fault.model_validate_json(await _body(Request(scope, receive))))
                except ValidationError as wrong:
                    first = wrong.errors(include_url=False, include_context=False)[0]
                    where = ".".join(str(part) for part in first["loc"])
                    return Problem(422, "invalid", f"{where}: {first['msg']}".removeprefix(": "))
            case "DELETE":
                self._switches.turn_off(QueryParams(scope["query_string"]).get("endpoint"))
            case _:
                return Problem(405, "method_not_allowed", "GET, PUT or DELETE", {"Allow": "GET, PUT, DELETE"})
        return self._list()

    def _list(self) -> Response:
        items = [
            {**switch.fault.model_dump(), "left_s": round(self._switches.left_s(switch), 3)}
            for switch in self._switches.on().values()
        ]
        return JSONResponse({"items": items, "total": len(items), "page": 1, "page_size": max(len(items), 1)})

    async def _fail(self, switch: Switch, scope: Scope, receive: Receive, send: Send) -> None:
        fault = switch.fault
        delay_s = fault.latency_s + fault.jitter_s * (2 * self._chance() - 1)
        if delay_s > 0 and await self._is_off_within(switch, delay_s):
            await self._app(scope, receive, send)
            return
        if self._chance() < fault.error_rate:
            await Problem(fault.error_status, "fault", "a fault switch is on")(scope, receive, send)
            return
        match fault.mode:
            case None:
                await self._app(scope, receive, send)
            case "hang":
                await self._hang(switch, scope, receive)
            case "refuse":
                await _hang_up(scope, receive)
            case "garbage":
                await Response(_GARBAGE, media_type="application/json")(scope, receive, send)
            case "slow_body":
                await self._app(scope, receive, self._trickling(switch, send))
            case "partial_body":
                await self._app(scope, receive, _cutting(send, scope))

    async def _is_off_within(self, switch: Switch, seconds: float) -> bool:
        """Wait that long, or until the fault is over; whether it is."""
        left_s = self._switches.left_s(switch)
        try:
            async with asyncio.timeout(min(seconds, left_s)):
                await switch.off.wait()
        except TimeoutError:
            return left_s <= seconds
        return True

    def _trickling(self, switch: Switch, send: Send) -> Send:
        """The body in small pieces that never stop for long, so that no wait between two of them is a timeout."""

        async def trickling(message: Message) -> None:
            body = message.get("body", b"")
            if message["type"] != "http.response.body" or not body:
                await send(message)
                return
            size = -(-len(body) // _PIECES)
            for start in range(0, len(body), size):
                await self._is_off_within(switch, switch.fault.body_s / _PIECES)
                last = start + size >= len(body)
                more = message.get("more_body", False) or not last
                await send({**message, "body": body[start : start + size], "more_body": more})

        return trickling

    async def _hang(self, switch: Switch, scope: Scope, receive: Receive) -> None:
        """Say nothing until the caller leaves or the fault is over; whoever still waits then is cut off."""
        leaving = asyncio.ensure_future(_gone(receive))
        over = asyncio.ensure_future(switch.off.wait())
        try:
            await asyncio.wait(
                {leaving, over},
                timeout=self._switches.left_s(switch),
                return_when=asyncio.FIRST_COMPLETED,
            )
        finally:
            over.cancel()
            leaving.cancel()
        if not leaving.done() or leaving.cancelled():
            await _hang_up(scope, receive)


_GARBAGE: Final = b'{"items": [\x00\xff\xfe<!doctype html>'


async def _body(request: Request) -> bytes:
    """The body as far as anybody needs it; what is longer fails to be read as JSON."""
    body = b""
    try:
        async for chunk in request.stream():
            body += chunk[: _BODY_MOST + 1 - len(body)]
    except ClientDisconnect:
        pass
    return body if len(body) <= _BODY_MOST else b""


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _hang_up(scope: Scope, receive: Receive) -> None:
    """Close the connection under the server, which notices and expects no answer any more."""
    _close(scope)
    await _gone(receive)


def _close(scope: Scope) -> None:
    """End the request's TCP connection. ASGI has no word for it, so the socket is looked up."""
    for connection in psutil.Process().net_connections("tcp"):
        if len(connection.raddr) and _ends(connection.laddr, connection.raddr) == _ends(
            scope["server"], scope["client"]
        ):
            with socket.socket(fileno=os.dup(connection.fd)) as ours:
                ours.shutdown(socket.SHUT_RDWR)


def _ends(server: object, client: object) -> tuple[object, ...]:
    return (*tuple(server)[:2], *tuple(client)[:2])  # type: ignore[arg-type]  # pairs, named or not


def _cutting(send: Send, scope: Scope) -> Send:
    """The head as it should be and half of the first piece of the body; then the connection ends."""
    is_cut = False

    async def cutting(message: Message) -> None:
        nonlocal is_cut
        if is_cut:
            return
        if message["type"] == "http.response.body":
            is_cut = True
            body = message.get("body", b"")
            await send({**message, "body": body[: len(body) // 2], "more_body": True})
            # What is written leaves with the end of this turn of the loop, and must not be cut off itself.
            await asyncio.sleep(0)
            _close(scope)
            return
        await send(message)

    return cutting
