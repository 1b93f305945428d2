"""The key pair of a fleet's internal tokens."""

from __future__ import annotations

from app.fleet.errors import StateUnusable
from app.fleet.state import StateDirectory, write_privately
from app.identity import KeyUnusable, SigningKey, new_key


def make_key_pair(state: StateDirectory) -> None:
    """Make the key where there is none yet, and write down its public half; raises `StateUnusable`."""
    if not state.identity_key.exists():
        write_privately(state.identity_key, new_key().decode())
    try:
        key = SigningKey.read(state.identity_key)
    except (OSError, KeyUnusable) as unusable:
        raise StateUnusable(f"the fleet's key cannot be used: {unusable}") from unusable
    write_privately(state.identity_public_key, key.public_pem().decode())
