"""Telling a replica that an operator wants it out of rotation, or back: on the control board, where it looks."""

from __future__ import annotations

from dataclasses import dataclass

from app.control import ControlBoard, ControlUnavailable, UnusableWish, checked_words
from app.fleet.errors import FleetError
from app.fleet.events import Report, Untold


def usable(reason: str) -> str:
    """The reason as a replica takes it; raises `FleetError`."""
    try:
        return checked_words("reason", reason)
    except UnusableWish as unusable:
        raise FleetError(str(unusable)) from unusable


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

    def usable(self, reason: str) -> str:
        """The reason as a replica takes it; raises `FleetError`."""
        return usable(reason)

    async def _want(self, name: str, by: str, reason: str, *, drained: bool) -> None:
        try:
            board = ControlBoard(self.redis_url, timeout_s=2.0)
        except ValueError as unusable:
            raise FleetError(f"no replica can be told through that Redis: {unusable}") from unusable
        try:
            await (board.drain if drained else board.undrain)(name, by=by, reason=reason)
        except ControlUnavailable as away:
            self.report(Untold(name, str(away)))
        finally:
            await board.close()
