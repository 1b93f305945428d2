"""HEAD is GET without a body."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send


class HeadAsGet:
    """Asks the routes below a path for the answer to GET; the server leaves out its body.

    FastAPI's routes answer HEAD only when told one by one, and would describe each of them twice.
    """

    def __init__(self, app: ASGIApp, *, below: str) -> None:
        self.app = app
        self._below = f"{below}/"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, as a GET if it was a HEAD."""
        if scope["type"] == "http" and scope["method"] == "HEAD" and scope["path"].startswith(self._below):
            scope = {**scope, "method": "GET"}
        await self.app(scope, receive, send)
