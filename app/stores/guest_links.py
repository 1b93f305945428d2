"""Links to guests' orders, signed with keys that are for nothing else; they do not expire."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

from itsdangerous import BadSignature, Signer

from app.sessions.tickets import derived_keys

PATH: Final = "/don-hang/theo-doi/"

_LONGEST: Final = 200


class SignedGuestLinks:
    """Signs with the first key and accepts those of every key."""

    def __init__(self, keys: Sequence[str]) -> None:
        derived = derived_keys(keys, "guest order link")
        # itsdangerous signs with the last key of its list.
        self._signer = Signer(derived[::-1], key_derivation="none", digest_method=hashlib.sha256)

    def path(self, order_id: str) -> str:
        """Where the order is followed."""
        return PATH + self._signer.sign(order_id).decode()

    def order_id(self, token: str) -> str | None:
        """The order of a link that was signed here; None for any other."""
        if len(token) > _LONGEST or not token.isascii():
            return None
        try:
            return self._signer.unsign(token).decode()
        except BadSignature:
            return None
