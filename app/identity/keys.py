"""Ed25519 keys in PEM files: the shop holds the private one, a service only public ones.

A key's id is its RFC 7638 thumbprint, so the two sides need not agree on names. To rotate, append the new
public key to the services' file, then give the shop its new private key, then remove the old public one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Self

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from jwt.utils import base64url_encode

_PUBLIC_PEM = re.compile(rb"-----BEGIN PUBLIC KEY-----.+?-----END PUBLIC KEY-----", re.DOTALL)


class KeyUnusable(ValueError):
    """A key file that cannot be used; says which file and why in one line, and nothing of its content."""


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private key and its id."""

    kid: str
    private: Ed25519PrivateKey = field(repr=False)

    @classmethod
    def read(cls, path: Path) -> Self:
        """The key of a PEM file that is readable by its owner only."""
        if path.stat().st_mode & 0o077:
            raise KeyUnusable(f"{path} must be readable by its owner only (chmod 600)")
        try:
            key = serialization.load_pem_private_key(path.read_bytes(), password=None)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            key = None
        if not isinstance(key, Ed25519PrivateKey):
            raise KeyUnusable(f"{path} must hold one unencrypted Ed25519 private key in PEM")
        return cls(thumbprint(key.public_key()), key)

    def public_pem(self) -> bytes:
        """What the services get."""
        return self.private.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )


@dataclass(frozen=True, slots=True)
class PublicKeys:
    """The keys a service believes, by id."""

    by_kid: Mapping[str, Ed25519PublicKey]

    @classmethod
    def read(cls, path: Path) -> Self:
        """Every public key of a PEM file, at least one."""
        return cls.of(_public(path, pem) for pem in _PUBLIC_PEM.findall(path.read_bytes()) or [b""])

    @classmethod
    def of(cls, keys: Iterable[Ed25519PublicKey]) -> Self:
        """Those keys."""
        return cls(MappingProxyType({thumbprint(key): key for key in keys}))


def new_key() -> bytes:
    """A new private key in PEM, for a file of mode 600."""
    return Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def thumbprint(key: Ed25519PublicKey) -> str:
    """The RFC 7638 thumbprint of a key (RFC 8037, appendix A.3)."""
    x = base64url_encode(key.public_bytes_raw()).decode()
    return base64url_encode(sha256(f'{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}'.encode()).digest()).decode()


def _public(path: Path, pem: bytes) -> Ed25519PublicKey:
    try:
        key = serialization.load_pem_public_key(pem)
    except (ValueError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PublicKey):
        raise KeyUnusable(f"{path} must hold Ed25519 public keys in PEM")
    return key
