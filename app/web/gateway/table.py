"""What the gateway leads to: a closed table of services and their paths. What is not in it does not exist."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

_READ: Final = frozenset({"GET", "HEAD"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One path of a service, as the public may ask for it.

    A segment in braces stands for any one segment. `name` is its breaker's. `tells_caller`: the service is told
    who asks, which costs a look at the session. `streams`: its answer may last for ever.
    """

    name: str
    path: str
    methods: frozenset[str] = _READ
    tells_caller: bool = False
    streams: bool = False

    def fits(self, segments: Sequence[str]) -> bool:
        """Whether it is the endpoint of a path in these segments."""
        pattern = self.path.strip("/").split("/")
        return len(pattern) == len(segments) and all(
            wanted == segment or wanted.startswith("{")
            for wanted, segment in zip(pattern, segments, strict=True)
        )


ECHO: Final = Endpoint(
    name="echo",
    path="/echo",
    methods=frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}),
    tells_caller=True,
)
"""What a service receives, for labs: it shows the caller the token that was made for them."""

TABLE: Final[Mapping[str, Sequence[Endpoint]]] = {
    "reviews": (
        Endpoint(name="list", path="/v1/products/{product}/reviews"),
        Endpoint(name="mine", path="/v1/products/{product}/reviews/mine", tells_caller=True),
    ),
    "recommendations": (Endpoint(name="beside", path="/v1/products/{product}/recommendations"),),
    "inventory": (
        Endpoint(name="product", path="/v1/products/{product}/stock"),
        Endpoint(name="skus", path="/v1/stock"),
    ),
    "payments": (),
}
"""By the service's name: what the public may read there.

Payments has nothing for the public: whoever pays, pays through the shop. So does whoever writes a review, since
the shop has copies of them to forget.
"""


def table(*, with_echo: bool) -> Mapping[str, Sequence[Endpoint]]:
    """The table, for labs with the echo of every service."""
    return {name: (*endpoints, ECHO) if with_echo else endpoints for name, endpoints in TABLE.items()}
