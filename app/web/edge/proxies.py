"""Who really calls: the client's address, read from the right by trusted hops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from app.web.config import Network
from app.web.edge.requests import header_values

_VOUCHED: Final = "chopho.vouched"
_PEER: Final = "chopho.peer"
_MOST_HOPS: Final = 20
_LONGEST: Final = 64
"""Characters of an IPv6 address with brackets, port and whatever else proxies write."""


def is_vouched(scope: Scope) -> bool:
    """Whether the request came straight from a trusted proxy, whose own headers may be believed."""
    return bool(scope.get(_VOUCHED, False))


def forwarded_chain(scope: Scope) -> bytes:
    """X-Forwarded-For for whom the request is passed on to: what a trusted proxy brought, and who brought it.

    What nobody trusted brought is not passed on, nor what is left of anything that is no address.
    """
    peer: str = scope.get(_PEER) or (scope.get("client") or ("unknown",))[0]
    forwarded = header_values(scope, b"x-forwarded-for") if is_vouched(scope) else []
    if not forwarded:
        return peer.encode()
    hops = [peer]
    for hop in reversed(b",".join(forwarded).split(b",")[-_MOST_HOPS:]):
        said = _address(hop.decode("latin-1").strip())
        if said is None:
            break
        hops.append(said)
    return ", ".join(reversed(hops)).encode()


class Proxies:
    """Puts the client's own address into the scope, and says whether a trusted proxy brought the request.

    Nothing else that a proxy may say of the outside (scheme, host, port) is read at all: links and checks
    use the public URL.
    """

    def __init__(self, app: ASGIApp, *, trusted: Sequence[Network]) -> None:
        self.app = app
        self._trusts = _trust(trusted)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its real client."""
        if scope["type"] == "http" and scope.get("client") is not None:
            peer = scope[_PEER] = scope["client"][0]
            scope[_VOUCHED] = self._trusts(peer)
            if scope[_VOUCHED]:
                forwarded = header_values(scope, b"x-forwarded-for")
                scope["client"] = (client_address(peer, forwarded, trusts=self._trusts), 0)
        await self.app(scope, receive, send)


def client_address(peer: str, forwarded: Sequence[bytes], *, trusts: Callable[[str], bool]) -> str:
    """The first address from the right that no trusted proxy has; what makes no sense ends the walk."""
    address = peer
    for hop in reversed(b",".join(forwarded).split(b",")):
        said = _address(hop.decode("latin-1").strip()) if trusts(address) else None
        if said is None:
            break
        address = said
    return address


def _address(text: str) -> str | None:
    """An address in its one spelling, or None; a port is cut off, IPv4 inside IPv6 taken out."""
    return _parsed(text) if len(text) <= _LONGEST else None


@lru_cache(maxsize=4096)  # a client asks more than once, and parsing costs more than the rest of the walk
def _parsed(text: str) -> str | None:
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text)
    except ValueError:
        return None
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(address)


def _trust(networks: Sequence[Network]) -> Callable[[str], bool]:
    @lru_cache(maxsize=1024)  # the same few proxies over and over; parsing an address costs microseconds
    def trusts(peer: str) -> bool:
        said = _address(peer)
        return said is not None and any(ip_address(said) in network for network in networks)

    return trusts
