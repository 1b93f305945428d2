"""Which route answered a request: its template, never its path, so that labels stay few."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from fastapi.routing import iter_route_contexts
from starlette.routing import BaseRoute, Mount, compile_path
from starlette.types import Scope

UNMATCHED: Final = "unmatched"
"""Every request that no route took: not found, redirected to its slash, refused at the edge."""

_Candidate: TypeAlias = tuple[re.Pattern[str], str]


class RouteTemplates:
    """Knows the templates of one application's routes, by the endpoint that the router chose."""

    def __init__(self, routes: Sequence[BaseRoute]) -> None:
        self._by_endpoint: dict[int, list[_Candidate]] = defaultdict(list)
        for path, endpoint in _paths(routes, prefix=""):
            regex, template, _ = compile_path(path)
            # By identity: endpoints live as long as their routes, and not all of them can be hashed.
            self._by_endpoint[id(endpoint)].append((regex, template))

    def template_of(self, scope: Scope) -> str:
        """The template of the route that answered."""
        candidates = self._by_endpoint.get(id(scope.get("endpoint")), ())
        if len(candidates) == 1:
            return candidates[0][1]
        path = scope["path"]
        return next((template for regex, template in candidates if regex.match(path)), UNMATCHED)


def _paths(routes: Sequence[BaseRoute], *, prefix: str) -> Iterator[tuple[str, object]]:
    for found in iter_route_contexts(routes):
        if found.path is None:
            continue
        if isinstance(found.original_route, Mount):
            yield from _paths(found.routes, prefix=prefix + found.path)
            yield prefix + found.path + "/{path:path}", found.app
        elif found.endpoint is not None:
            yield prefix + found.path, found.endpoint
