"""The keys of a JWT backend: the first signs, all verify, and each says by itself which algorithm it is for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric import ed25519, rsa
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key
from jwt.algorithms import OKPAlgorithm, RSAAlgorithm

from .tickets import derived_keys

_RSA_BITS: Final = 2048

_Private = ed25519.Ed25519PrivateKey | rsa.RSAPrivateKey
_Public = ed25519.Ed25519PublicKey | rsa.RSAPublicKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One key; `signing` is None for a public one, which can only verify."""

    kid: str
    algorithm: str
    verifying: Any = field(repr=False)
    signing: Any = field(repr=False)
    public: dict[str, Any] | None


class KeyRing:
    """Keys by their id; a token names the id, never the algorithm."""

    def __init__(self, keys: Sequence[Key]) -> None:
        if not keys or keys[0].signing is None:
            raise ValueError("the first key must be one that can sign")
        self.signing = keys[0]
        self._by_id = {key.kid: key for key in keys}

    @classmethod
    def from_secrets(cls, secrets: Sequence[str]) -> KeyRing:
        """HS256 with keys derived for this purpose alone."""
        return cls([_secret(key) for key in derived_keys(secrets, "session jwt")])

    @classmethod
    def from_files(cls, paths: Sequence[str]) -> KeyRing:
        """EdDSA or RS256 from PEM files, private to sign, public to verify; raises `ValueError`."""
        return cls([_from_pem(path) for path in paths])

    def __iter__(self) -> Iterator[Key]:
        """Every key once, the one that signs first."""
        return iter(self._by_id.values())

    def find(self, kid: object) -> Key | None:
        """The key of that id."""
        return self._by_id.get(kid) if isinstance(kid, str) else None

    def jwks(self) -> list[dict[str, Any]]:
        """The public keys as RFC 7517 has them; secrets are never among them."""
        return [key.public for key in self if key.public]


def _secret(key: bytes) -> Key:
    kid = hashlib.sha256(b"kid" + key).hexdigest()[:16]
    return Key(kid=kid, algorithm="HS256", verifying=key, signing=key, public=None)


def _from_pem(path: str) -> Key:
    try:
        pem = Path(path).read_bytes()
    except OSError as missing:
        raise ValueError(f"{path}: {missing.strerror}") from missing
    if b"PRIVATE KEY" in pem:
        private = load_pem_private_key(pem, None)
        if isinstance(private, _Private):
            return _pair(path, private.public_key(), private)
    else:
        public = load_pem_public_key(pem)
        if isinstance(public, _Public):
            return _pair(path, public, None)
    raise ValueError(f"{path}: wants an Ed25519 or RSA key")


def _pair(path: str, public: _Public, private: _Private | None) -> Key:
    if isinstance(public, ed25519.Ed25519PublicKey):
        algorithm, jwk = "EdDSA", OKPAlgorithm.to_jwk(public, as_dict=True)
    else:
        if public.key_size < _RSA_BITS:
            raise ValueError(f"{path}: wants an RSA key of {_RSA_BITS} bits or more")
        algorithm, jwk = "RS256", RSAAlgorithm.to_jwk(public, as_dict=True)
    # RFC 7638: the id is a hash of what the key is, so that every replica finds the same one.
    members = {name: jwk[name] for name in sorted(jwk) if name in {"crv", "e", "kty", "n", "x"}}
    kid = hashlib.sha256(json.dumps(members, separators=(",", ":")).encode()).hexdigest()[:16]
    shown = {**members, "kid": kid, "alg": algorithm, "use": "sig"}
    return Key(kid=kid, algorithm=algorithm, verifying=public, signing=private, public=shown)
