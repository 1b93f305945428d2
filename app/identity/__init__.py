"""Who calls, told between the shop and its services: short-lived signed tokens for one audience each."""

from __future__ import annotations

from .keys import KeyUnusable, PublicKeys, SigningKey, new_key
from .tokens import ISSUER, LIFETIME_S, TYPE, Caller, Issuer, Verifier

__all__ = [
    "ISSUER",
    "LIFETIME_S",
    "TYPE",
    "Caller",
    "Issuer",
    "KeyUnusable",
    "PublicKeys",
    "SigningKey",
    "Verifier",
    "new_key",
]
