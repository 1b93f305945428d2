"""Who called: the address read from the right, by trusted hops only."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_network

import pytest
from starlette.types import Receive, Scope, Send

from app.web.edge.proxies import Proxies, client_address

PROXY = "127.0.0.1"


def trusts(address: str) -> bool:
    return address in {PROXY, "10.0.0.1"}


@pytest.mark.parametrize(
    ("forwarded", "client"),
    [
        ([], PROXY),
        ([b"203.0.113.7"], "203.0.113.7"),
        ([b"1.2.3.4, 203.0.113.7"], "203.0.113.7"),
        ([b"1.2.3.4", b"203.0.113.7"], "203.0.113.7"),
        ([b"203.0.113.7, 10.0.0.1"], "203.0.113.7"),
        ([b"127.0.0.1"], PROXY),
        ([b"203.0.113.7, 127.0.0.1, 127.0.0.1"], "203.0.113.7"),
        ([b"203.0.113.7:51234"], "203.0.113.7"),
        ([b"[2001:db8::7]:443"], "2001:db8::7"),
        ([b"2001:DB8:0::7"], "2001:db8::7"),
        ([b"::ffff:203.0.113.7"], "203.0.113.7"),
        ([b"unknown"], PROXY),
        ([b"203.0.113.7, _hidden"], PROXY),
        ([b"203.0.113.7,,"], PROXY),
        ([b"\xff\xfe"], PROXY),
        ([b"1.2.3.4\r\nX: y"], PROXY),
        ([b"1" * 60_000], PROXY),
        ([b"127.0.0.1," * 5_000 + b"127.0.0.1"], PROXY),
    ],
    ids=repr,
)
def test_the_client_is_the_first_untrusted_hop_from_the_right(
    forwarded: Sequence[bytes], client: str
) -> None:
    assert client_address(PROXY, forwarded, trusts=trusts) == client


@pytest.mark.parametrize(("peer", "client"), [("127.0.0.1", "203.0.113.7"), ("198.51.100.9", "198.51.100.9")])
async def test_only_a_trusted_peer_is_believed(peer: str, client: str) -> None:
    seen: list[Scope] = []

    async def app(scope: Scope, _receive: Receive, _send: Send) -> None:
        seen.append(scope)

    scope = {"type": "http", "client": (peer, 1), "headers": [(b"x-forwarded-for", b"203.0.113.7")]}
    proxies = Proxies(app, trusted=[ip_network("127.0.0.0/8"), ip_network("::1/128")])
    await proxies(scope, _nothing, _nowhere)
    assert seen[0]["client"][0] == client


async def _nothing() -> dict[str, str]:
    return {}


async def _nowhere(_message: object) -> None:
    return
