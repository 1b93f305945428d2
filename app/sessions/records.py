"""A stored session as the layer sees it, and how it lies in a hash of bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .changes import RESERVED
from .config import SessionConfig
from .user_ids import checked_user

CREATED, SEEN, USER, EPOCH, DEVICE, ADDRESS, CLAIM = (RESERVED + letter for letter in "csuedam")

_RESERVED_BYTE = ord(RESERVED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One live session of a user, as its owner may see it; `handle` revokes it and reads nothing."""

    handle: str
    current: bool
    created_at: float
    last_seen_at: float
    ip: str
    device: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A session to be created; without `created_ms` and `epoch` it begins now. Raises `BadUser`."""

    fields: Mapping[str, bytes]
    user: str | None = None
    device: str = ""
    address: str = ""
    created_ms: int | None = None
    epoch: int | None = None

    def __post_init__(self) -> None:
        """No session is ever stored for what can be no user."""
        if self.user is not None:
            checked_user(self.user)


@dataclass(slots=True, kw_only=True)
class Record:
    """A live session; `ticket` is the one to present from now on."""

    ticket: str = field(repr=False)
    created_ms: int
    seen_ms: int
    user: str | None
    epoch: int
    fields: dict[str, bytes]
    device: str = ""
    address: str = ""

    def ends_ms(self, config: SessionConfig) -> int:
        """When it ends if it is not used again."""
        return min(self.seen_ms + config.idle_ms, self.created_ms + config.absolute_ms)

    def seen_by_owner(self, handle: str, *, current: str | None) -> Device:
        """The session in its user's list; `current` is the handle of the asker's."""
        return Device(
            handle=handle,
            current=handle == current,
            created_at=self.created_ms / 1000,
            last_seen_at=self.seen_ms / 1000,
            ip=self.address,
            device=self.device,
        )


@dataclass(frozen=True, slots=True)
class Committed:
    """The change is stored; `ticket` is the one to present from now on."""

    ticket: str = field(repr=False)
    numbers: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Ended:
    """There is no such session (any more).

    `at_ms` is when it was ended on purpose, if that was not long ago; `rotated` if another took its place.
    """

    at_ms: int | None = None
    rotated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The one right to replace a session: its last state, frozen for the holder of `stamp`."""

    record: Record
    stamp: str


class Unreadable(Exception):
    """What is stored under the key is no session of ours."""


def record_of(ticket: str, raw: dict[bytes, bytes]) -> Record:
    """The record in a hash; raises `Unreadable` for anything else."""
    try:
        return Record(
            ticket=ticket,
            created_ms=int(raw[b"~c"]),
            seen_ms=int(raw[b"~s"]),
            user=checked_user(raw[b"~u"].decode()) if b"~u" in raw else None,
            epoch=int(raw.get(b"~e", b"0")),
            fields={name.decode(): value for name, value in raw.items() if name[0] != _RESERVED_BYTE},
            device=raw.get(b"~d", b"").decode(),
            address=raw.get(b"~a", b"").decode(),
        )
    except (LookupError, ValueError) as broken:
        raise Unreadable(str(broken)) from broken


def hash_of(draft: Draft, *, created_ms: int, seen_ms: int, epoch: int) -> dict[str, bytes]:
    """The hash of a new session."""
    own = {CREATED: b"%d" % created_ms, SEEN: b"%d" % seen_ms}
    if draft.user is not None:
        own |= {USER: draft.user.encode(), EPOCH: b"%d" % epoch}
        own |= {DEVICE: draft.device.encode(), ADDRESS: draft.address.encode()}
    return {**own, **draft.fields}
