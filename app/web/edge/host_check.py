"""Host: the shop answers to its own name only."""

from __future__ import annotations

from collections.abc import Collection

from starlette.types import ASGIApp, Receive, Scope, Send

from app.web.answers import refuse
from app.web.edge.requests import header_values
from app.web.errors import WrongHost
from app.web.origins import Origin


class HostCheck:
    """Answers 421 to a request for any other host, to two hosts at once, and to none.

    `exempt` are the paths that programs of ours call by whatever name they know us, and that believe signatures alone.
    """

    def __init__(self, app: ASGIApp, *, origin: Origin, exempt: Collection[str] = ()) -> None:
        self.app = app
        self._exempt = frozenset(exempt)
        self._authorities = origin.authorities
        self._home = str(origin)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass what was meant for us."""
        if scope["type"] == "http" and not self._is_ours(scope):
            await refuse(scope, receive, send, WrongHost(self._home))
        else:
            await self.app(scope, receive, send)

    def _is_ours(self, scope: Scope) -> bool:
        hosts = header_values(scope, b"host")
        if len(hosts) != 1:
            return False
        return (
            hosts[0] in self._authorities
            or hosts[0].lower() in self._authorities
            or scope["path"] in self._exempt
        )
