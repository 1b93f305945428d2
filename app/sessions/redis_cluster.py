"""A Redis Cluster: each command goes to the node that holds its key's slot."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from redis.crc import REDIS_CLUSTER_HASH_SLOTS, key_slot

from .errors import StoreUnavailable
from .redis_link import Reply, ReplyError
from .redis_server import Address, Server, pack
from .redis_urls import ClusterUrl

_REDIRECTS: Final = 3
"""A slot on the move redirects once or twice; more means that the cluster does not know itself."""

_ASKING: Final = pack("ASKING")

Command = tuple[bytes, bytes]


class Cluster:
    """The nodes behind one `call`; the map of slots is learnt from them and from their redirections."""

    def __init__(self, url: ClusterUrl, timeout_s: float) -> None:
        self._options = url.options
        self._seeds: Sequence[Address] = tuple(url.seeds)
        self._timeout_s = timeout_s
        self._servers: dict[Address, Server] = {}
        self._slots: list[Address] = []
        self._learning: asyncio.Task[None] | None = None
        self.redirected = 0

    @property
    def dialled(self) -> int:
        """Of all nodes together."""
        return sum(server.dialled for server in self._servers.values())

    async def open(self) -> None:
        """Begin to learn the map; a cluster that is away is nobody's error yet."""
        self._learn()

    async def close(self) -> None:
        """Hang up on every node."""
        if self._learning is not None:
            self._learning.cancel()
            await asyncio.wait({self._learning})
        for server in self._servers.values():
            await server.close()

    async def call(self, *commands: Command) -> list[Reply]:
        """The replies in order; a redirected command did not run, so following is no second time."""
        if not commands:
            return []
        if not self._slots:
            await self._learned()
        replies: list[Reply] = [None] * len(commands)
        pending: dict[int, tuple[Address, bool]] = {
            at: (self._slots[key_slot(key)], False) for at, (key, _) in enumerate(commands)
        }
        for _ in range(_REDIRECTS + 1):
            await self._round(commands, pending, replies)
            pending = {at: self._redirected(replies[at]) for at in pending if _is_redirection(replies[at])}
            if not pending:
                return replies
            self.redirected += len(pending)
        raise StoreUnavailable("redirected too often")

    async def count(self, pattern: str) -> int:
        """How many keys match, on every node that holds slots."""
        if not self._slots:
            await self._learned()
        return sum([await self._server(address).count(pattern) for address in dict.fromkeys(self._slots)])

    async def _round(
        self, commands: Sequence[Command], pending: dict[int, tuple[Address, bool]], replies: list[Reply]
    ) -> None:
        by_node: defaultdict[Address, list[int]] = defaultdict(list)
        for at, (address, _) in pending.items():
            by_node[address].append(at)
        asked = {at for at, (_, asking) in pending.items() if asking}
        batches = [
            self._ask(address, [(at, commands[at], at in asked) for at in ats])
            for address, ats in by_node.items()
        ]
        try:
            # One node needs no task of its own.
            found = [await batches[0]] if len(batches) == 1 else await asyncio.gather(*batches)
        except StoreUnavailable:
            # The node may have lost its slots to another; who asks next, learns first.
            self._slots = []
            raise
        for batch in found:
            for at, reply in batch:
                replies[at] = reply

    async def _ask(
        self, address: Address, batch: Sequence[tuple[int, Command, bool]]
    ) -> list[tuple[int, Reply]]:
        words: list[Command] = []
        wanted: list[int | None] = []
        for at, (key, packed), asking in batch:
            if asking:
                words.append((key, _ASKING))
                wanted.append(None)
            words.append((key, packed))
            wanted.append(at)
        replies = await self._server(address).call(*words)
        return [(at, reply) for at, reply in zip(wanted, replies, strict=True) if at is not None]

    def _redirected(self, reply: ReplyError) -> tuple[Address, bool]:
        code, slot, where = str(reply).split(" ")[:3]
        host, _, port = where.rpartition(":")
        address = (host, int(port))
        if code == "MOVED":
            if self._slots:
                self._slots[int(slot)] = address
            self._learn()
        return address, code == "ASK"

    def _server(self, address: Address) -> Server:
        server = self._servers.get(address)
        if server is None:
            server = self._servers[address] = Server(self._options, self._timeout_s, address=address)
        return server

    def _learn(self) -> asyncio.Task[None]:
        if self._learning is None or self._learning.done():
            self._learning = asyncio.create_task(self._relearn())
        return self._learning

    async def _learned(self) -> None:
        await asyncio.wait({self._learn()}, timeout=self._timeout_s)
        if not self._slots:
            raise StoreUnavailable("the cluster's nodes are unknown")

    async def _relearn(self) -> None:
        for address in dict.fromkeys((*self._servers, *self._seeds)):
            try:
                (ranges,) = await self._server(address).call((b"", pack("CLUSTER", "SLOTS")))
            except StoreUnavailable:
                continue
            slots = _slots(ranges, address)
            if len(slots) == REDIS_CLUSTER_HASH_SLOTS:
                self._slots = slots
                return


def _is_redirection(reply: Reply) -> bool:
    return isinstance(reply, ReplyError) and reply.code in {"MOVED", "ASK"}


def _slots(ranges: Reply, asked: Address) -> list[Address]:
    """The address of every slot; shorter where the cluster is not whole."""
    slots: list[Address] = []
    if isinstance(ranges, ReplyError):
        return slots
    for first, last, (host, port, *_), *_ in sorted(ranges, key=lambda one: int(one[0])):
        if first != len(slots):
            break
        # A node that does not know its own name means the one it was asked under.
        name = host.decode() if host else asked[0]
        slots += [(name, int(port))] * (last - first + 1)
    return slots
