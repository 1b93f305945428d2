"""HTTP/1.1 to one service, streamed both ways: what the gateway forwards on (ADR 0022)."""

from __future__ import annotations

from app.clients.wire.connection import Connection, Headers
from app.clients.wire.exchange import Exchange
from app.clients.wire.pool import WirePool

__all__ = ["Connection", "Exchange", "Headers", "WirePool"]
