"""What the list of devices shows of sessions that travel in cookies."""

from __future__ import annotations

from .changes import Changes
from .config import SessionConfig
from .records import Draft, Record, hash_of
from .redis_keys import Keys
from .redis_replies import checked
from .redis_scripts import COMMIT, CREATE, limits_of, words_of
from .redis_server import Wire, pack
from .redis_users import Users
from .tickets import user_ref


class Listed:
    """The sessions of users by their handles. Nothing here decides whether a session lives."""

    def __init__(self, wire: Wire, config: SessionConfig, keys: Keys, users: Users) -> None:
        self._wire = wire
        self._config = config
        self._keys = keys
        self._users = users
        self._limits = limits_of(config)

    async def show(self, record: Record, handle: str) -> None:
        """Put a new session into its user's list; a visitor has none."""
        if record.user is None:
            return
        draft = Draft(fields={}, user=record.user, device=record.device, address=record.address)
        raw = hash_of(draft, created_ms=record.created_ms, seen_ms=record.seen_ms, epoch=record.epoch)
        words = [word for pair in raw.items() for word in pair]
        living = str(record.ends_ms(self._config) - self._config.now_ms())
        listing = self._listing(record, record.user, handle)
        checked(await CREATE.run(self._wire, self._keys.session(handle), living, *words, also=listing))

    async def note(self, record: Record, handle: str) -> None:
        """Note in the list that the session was used; what is gone from it stays gone."""
        if record.user is None:
            return
        words = str(self._config.now_ms()), *self._limits, *words_of(Changes())
        listing = self._listing(record, record.user, handle)
        checked(await COMMIT.run(self._wire, self._keys.session(handle), *words, also=listing))

    def hiding(self, handle: str, user: str | None) -> list[tuple[bytes, bytes]]:
        """The commands that take a session out of the list; where the user is unknown, it finds out by itself."""
        key = self._keys.session(handle)
        gone = [(key, pack("DEL", key))]
        return gone if user is None else [*gone, self._users.unlisting(self._ref(user), handle)]

    def _listing(self, record: Record, user: str, handle: str) -> tuple[tuple[bytes, bytes], ...]:
        ends_ms = record.created_ms + self._config.absolute_ms
        return self._users.listing(self._ref(user), handle, ends_ms=ends_ms)

    def _ref(self, user: str) -> str:
        return user_ref(self._config.namespace, user)
