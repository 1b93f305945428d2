from __future__ import annotations

from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key

from app.identity import Caller, Issuer, KeyUnusable, PublicKeys, SigningKey, Verifier, new_key
from app.identity.keys import thumbprint

CALLER = Caller(subject="shop", role="service")


def private_file(folder: Path, content: bytes, *, mode: int = 0o600) -> Path:
    path = folder / "internal.pem"
    path.write_bytes(content)
    path.chmod(mode)
    return path


def test_what_one_side_signs_with_its_file_the_other_verifies_with_its_own(tmp_path: Path) -> None:
    key = SigningKey.read(private_file(tmp_path, new_key()))
    (tmp_path / "public.pem").write_bytes(key.public_pem())
    verifier = Verifier(PublicKeys.read(tmp_path / "public.pem"), audience="payments")
    assert verifier.verify(Issuer(key).issue(CALLER, audience="payments")) == CALLER


def test_keys_rotate_without_a_refused_call(tmp_path: Path) -> None:
    old, new = (SigningKey.read(private_file(tmp_path, new_key())) for _ in range(2))
    (tmp_path / "public.pem").write_bytes(old.public_pem() + new.public_pem())
    verifier = Verifier(PublicKeys.read(tmp_path / "public.pem"), audience="payments")
    for key in (old, new):
        assert verifier.verify(Issuer(key).issue(CALLER, audience="payments")) == CALLER


def test_the_key_id_is_the_thumbprint_of_the_standard() -> None:
    x = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
    assert thumbprint(Ed25519PublicKey.from_public_bytes(x)) == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"


def test_a_key_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KeyUnusable, match=r"internal\.pem must be readable by its owner only"):
        SigningKey.read(private_file(tmp_path, new_key(), mode=0o640))


def rsa_pem() -> bytes:
    return generate_private_key(65537, 2048).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


@pytest.mark.parametrize("content", [b"", b"secret stuff", new_key()[:60], rsa_pem()], ids=range(4))
def test_an_unusable_private_key_is_refused_without_showing_it(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(KeyUnusable) as refused:
        SigningKey.read(private_file(tmp_path, content))
    assert str(refused.value).endswith("internal.pem must hold one unencrypted Ed25519 private key in PEM")


@pytest.mark.parametrize(
    "content", [b"", b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----", new_key()], ids=range(3)
)
def test_a_file_without_usable_public_keys_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "public.pem").write_bytes(content)
    with pytest.raises(KeyUnusable, match=r"public\.pem must hold Ed25519 public keys in PEM"):
        PublicKeys.read(tmp_path / "public.pem")


def test_a_private_key_does_not_show_itself(tmp_path: Path) -> None:
    key = SigningKey.read(private_file(tmp_path, new_key()))
    assert repr(key) == f"SigningKey(kid={key.kid!r})"
