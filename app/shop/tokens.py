"""Tokens in links of mails: known to the mail's reader alone; the shop keeps a digest."""

from __future__ import annotations

import hashlib
import secrets
from typing import Final

TOKEN_MOST: Final = 100
"""Characters; ours have 43, and what is longer is nobody's."""


def new_token() -> str:
    """256 random bits that fit into a link."""
    return secrets.token_urlsafe(32)


def digest_of(token: str) -> str:
    """What is kept of a token; so many random bits need no slow hash."""
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()
