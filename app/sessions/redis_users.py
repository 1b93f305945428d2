"""What Redis knows of a user: the epoch, which is the truth, and the index, which is a view."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .config import SessionConfig
from .records import Device, Record, Unreadable, record_of
from .redis_keys import Keys
from .redis_link import Reply
from .redis_replies import checked, hash_of_reply, number
from .redis_scripts import EPOCH, REVOKE
from .redis_server import Wire, pack


class Users:
    """Epochs and indexes, by the user's reference; `ending` is the way that revocations go."""

    def __init__(self, wire: Wire, config: SessionConfig, keys: Keys, *, ending: Wire) -> None:
        self._wire = wire
        self._ending = ending
        self._config = config
        self._keys = keys
        self._kept_ms = config.kept_ms

    async def epoch(self, ref: str) -> int:
        """The epoch for a session that begins now."""
        return number(checked(await EPOCH.run(self._wire, self._keys.epoch(ref)))[0])

    async def end_all(self, ref: str, *, epoch: int | None = None, own: int = 0) -> int:
        """Raise the epoch, so that every session from before it is dead, listed or not.

        Returns 0, and nothing happened, when the asker's `own` epoch is over already.
        """
        key = self._keys.epoch(ref)
        words = str(self._kept_ms), str(epoch or 0), str(own)
        (raised,) = checked(await REVOKE.run(self._ending, key, *words))
        if epoch is None and number(raised):
            await self._delete_listed(ref)
        return number(raised)

    def listing(self, ref: str, session_id: str, *, ends_ms: int) -> tuple[tuple[bytes, bytes], ...]:
        """The commands that put a session into its user's index and prune what is over."""
        index = self._keys.index(ref)
        return (
            (index, pack("ZADD", index, ends_ms, session_id)),
            (index, pack("ZREMRANGEBYSCORE", index, "-inf", self._config.now_ms())),
            (index, pack("PEXPIRE", index, self._kept_ms)),
        )

    def unlisting(self, ref: str, *session_ids: str) -> tuple[bytes, bytes]:
        """The command that takes sessions out of the index."""
        index = self._keys.index(ref)
        return index, pack("ZREM", index, *session_ids)

    async def listed(self, ref: str) -> list[str]:
        """The ids in the index, dead ones too."""
        index = self._keys.index(ref)
        (members,) = checked(await self._wire.call((index, pack("ZRANGE", index, 0, -1))))
        return [member.decode() for member in members]

    async def _delete_listed(self, ref: str) -> None:
        """Delete the sessions that the index knows; the epoch has ended them already."""
        ids = await self.listed(ref)
        if ids:
            keys = [self._keys.session(one) for one in ids]
            await self._wire.call(*((key, pack("UNLINK", key)) for key in keys), self.unlisting(ref, *ids))

    async def devices(self, user: str, ref: str, *, current: str | None) -> Sequence[Device]:
        """The live sessions of the index, the latest seen first; the rest is pruned from it."""
        ids = await self.listed(ref)
        if not ids:
            return []
        epoch_key = self._keys.epoch(ref)
        keys = [self._keys.session(one) for one in ids]
        *replies, epoch = await self._wire.call(
            *((key, pack("HGETALL", key)) for key in keys), (epoch_key, pack("GET", epoch_key))
        )
        checked([epoch])
        records = [_readable(reply) for reply in replies]
        live = {
            one: record
            for one, record in zip(ids, records, strict=True)
            if record is not None and record.user == user and self._lives(record, number(epoch))
        }
        await self._prune(ref, set(ids) - live.keys())
        return sorted(
            (record.seen_by_owner(one, current=current) for one, record in live.items()),
            key=lambda device: device.last_seen_at,
            reverse=True,
        )

    def _lives(self, record: Record, epoch: int) -> bool:
        return record.epoch >= epoch and record.ends_ms(self._config) > self._config.now_ms()

    async def _prune(self, ref: str, dead: Iterable[str]) -> None:
        if dead:
            await self._wire.call(self.unlisting(ref, *dead))


def _readable(reply: Reply) -> Record | None:
    try:
        return record_of("", hash_of_reply(reply))
    except Unreadable:
        return None
