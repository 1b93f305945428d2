"""Telling a replica that an operator wants it out of rotation, or back: on the control board, where it looks."""

from __future__ import annotations

from dataclasses import dataclass

from app.control import ControlBoard, ControlUnavailable
from app.fleet.events import Report, Untold


@dataclass(frozen=True, slots=True)
class Wishes:
    """Writes them; while Redis is away HAProxy alone knows, and the operator is told so."""

    redis_url: str
    report: Report

    async def drain(self, name: str, *, by: str, reason: str) -> None:
        """Want it held out, over its restarts."""
        await self._want(name, by, reason, drained=True)

    async def undrain(self, name: str, *, by: str, reason: str) -> None:
        """Want it back."""
        await self._want(name, by, reason, drained=False)

    async def _want(self, name: str, by: str, reason: str, *, drained: bool) -> None:
        board = ControlBoard(self.redis_url, timeout_s=2.0)
        try:
            await (board.drain if drained else board.undrain)(name, by=by, reason=reason)
        except ControlUnavailable as away:
            self.report(Untold(name, str(away)))
        finally:
            await board.close()
