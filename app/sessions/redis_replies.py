"""Reading what Redis answers; what is no answer to the command becomes `StoreUnavailable`."""

from __future__ import annotations

from collections.abc import Sequence

from .errors import StoreUnavailable
from .records import Unreadable
from .redis_link import Reply, ReplyError


def checked(replies: Sequence[Reply]) -> Sequence[Reply]:
    """The replies; raises when one of them is an error."""
    for reply in replies:
        if isinstance(reply, ReplyError):
            raise StoreUnavailable(f"the server answers {reply.code}") from reply
    return replies


def hash_of_reply(reply: Reply) -> dict[bytes, bytes]:
    """The hash; raises `Unreadable` when another type lies under the key."""
    if reply.__class__ is list:
        return dict(zip(reply[::2], reply[1::2], strict=True))
    if isinstance(reply, ReplyError) and reply.code == "WRONGTYPE":
        raise Unreadable("not a hash")
    checked([reply])
    raise Unreadable("not a hash")


def number(reply: Reply) -> int:
    """The number stored, 0 for none; raises `StoreUnavailable` for anything else, so as to fail closed."""
    if reply is None:
        return 0
    checked([reply])
    try:
        return int(reply)
    except (TypeError, ValueError) as broken:
        raise StoreUnavailable("an epoch is unreadable") from broken
