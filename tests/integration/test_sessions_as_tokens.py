"""JWT sessions: forged, malformed, rotated, revoked, and what the store's absence means."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest
import redis
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from app.sessions import Sessions, jwks_of
from app.sessions.contract import Clock
from tests.apps.session_app import CONFIG, KEYS, serving
from tests.redis_servers import own_redis

NAME = CONFIG.cookie


def new_key(folder: Path, name: str, *, rsa: bool = False) -> Path:
    """A PEM file with a new private key, and one beside it with the public one."""
    private = generate_private_key(65537, 2048) if rsa else Ed25519PrivateKey.generate()
    (folder / name).write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    public = private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    (folder / f"{name}.pub").write_bytes(public)
    return folder / name


@pytest.fixture(params=["EdDSA", "RS256"])
def key_file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return new_key(tmp_path, "key.pem", rsa=request.param == "RS256")


@pytest.fixture
def url(redis_url: str, key_file: Path) -> str:
    return f"jwt+{redis_url}?key_files={key_file}"


@pytest.fixture
async def shopper(url: str) -> AsyncIterator[httpx.AsyncClient]:
    """Somebody logged in."""
    async with serving(url) as browser, browser() as shopper:
        await shopper.get("/login")
        yield shopper


def private_key(path: Path) -> Any:
    return load_pem_private_key(path.read_bytes(), None)


def public_bytes(path: Path) -> bytes:
    return path.with_name(f"{path.name}.pub").read_bytes()


def token_of(shopper: httpx.AsyncClient) -> str:
    return str(shopper.cookies.get(NAME)).removeprefix("j1.")


async def user_of(shopper: httpx.AsyncClient, token: str | bytes) -> str | None:
    """Who a token logs in, asked by somebody without another cookie."""
    shopper.cookies.clear()
    value = token if isinstance(token, bytes) else token.encode()
    answer = await shopper.get("/cart", headers={b"cookie": f"{NAME}=j1.".encode() + value})
    assert answer.status_code == 200
    user: str | None = answer.json()["user"]
    return user


def part(content: Any) -> str:
    encoded = content if isinstance(content, bytes) else json.dumps(content).encode()
    return urlsafe_b64encode(encoded).rstrip(b"=").decode()


async def test_a_token_carries_no_personal_data_and_all_claims(shopper: httpx.AsyncClient) -> None:
    claims = jwt.decode(token_of(shopper), options={"verify_signature": False})
    assert claims["sub"] == "user:1"
    assert claims["exp"] - claims["iat"] <= 15 * 60 + 1
    assert set(claims) == {"iss", "sub", "iat", "exp", "jti", "c", "s", "e", "f"}
    assert await user_of(shopper, token_of(shopper)) == "user:1"


async def test_forged_tokens_are_nobodys(shopper: httpx.AsyncClient, key_file: Path, tmp_path: Path) -> None:
    real = token_of(shopper)
    claims = jwt.decode(real, options={"verify_signature": False})
    header = jwt.get_unverified_header(real)
    algorithm = header.pop("alg")
    own, other = private_key(key_file), private_key(new_key(tmp_path, "other.pem"))
    public = public_bytes(key_file)
    # PyJWT refuses to sign with a public key as a secret, so that attack is made by hand.
    as_secret = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256)
    confused = f"{part({**header, 'alg': 'HS256'})}.{part(claims)}"

    def signed(key: Any, algorithm: str, **headers: Any) -> str:
        return jwt.encode(claims, key, algorithm, {**header, **headers})

    forged = {
        "alg none": f"{part({**header, 'alg': 'none'})}.{part(claims)}.",
        "public key as secret": f"{confused}.{part(as_secret.sign(confused.encode(), public))}",
        "another key": signed(other, "EdDSA"),
        "another key, its kid": signed(other, "EdDSA", kid="other"),
        "a path as kid": signed(own, algorithm, kid="../../key.pem"),
        "no kid": jwt.encode(claims, own, algorithm, {"typ": header["typ"]}),
        "unknown crit": signed(own, algorithm, crit=["exp"], exp=1),
        "another type": signed(own, algorithm, typ="at+jwt"),
        "jku": signed(other, "EdDSA", jku="https://evil.example/jwks", jwk={"kty": "OKP"}),
    }
    assert {name: await user_of(shopper, token) for name, token in forged.items()} == dict.fromkeys(forged)
    assert await user_of(shopper, real) == "user:1"


@pytest.mark.parametrize("missing", ["iss", "sub", "iat", "exp", "jti", "c", "s", "e", "f"])
async def test_a_token_without_a_claim_is_nobodys(
    shopper: httpx.AsyncClient, key_file: Path, missing: str
) -> None:
    own = private_key(key_file)
    assert (
        await user_of(shopper, _resigned(token_of(shopper), own, lambda claims: claims.pop(missing))) is None
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("exp", "abc"), ("exp", 1), ("exp", None), ("exp", True), ("exp", 1e400), ("iat", "abc"),
        ("sub", 5), ("sub", " "), ("sub", None), ("sub", ["user:1"]), ("jti", 5), ("iss", "other"), ("c", "x"), ("s", None), ("s", 2**53),
        ("e", 1.5), ("f", []), ("f", {"a": 1}), ("f", None), ("nbf", "abc"),
    ],
)  # fmt: skip
async def test_a_token_with_a_strange_claim_is_nobodys(
    shopper: httpx.AsyncClient, key_file: Path, name: str, value: Any
) -> None:
    own = private_key(key_file)
    token = _resigned(token_of(shopper), own, lambda claims: claims.update({name: value}))
    assert await user_of(shopper, token) == ("user:1" if name in {"nbf", "iat"} else None)


def _resigned(token: str, key: Any, change: Callable[[dict[str, Any]], Any]) -> str:
    header = jwt.get_unverified_header(token)
    claims = jwt.decode(token, options={"verify_signature": False})
    change(claims)
    return jwt.PyJWS().encode(json.dumps(claims).encode(), key, header["alg"], header)


@pytest.mark.parametrize(
    "token",
    [
        b"", b"a", b"....", "é.é.é".encode(), b"\xff.\xff.\xff", b"x" * 100_000, b"a.b.c", b"..",
        f"{part(b'[' * 2000)}.{part({})}.AA".encode(), f"{part([])}.{part([])}.AA".encode(),
        f"{part({'alg': 'EdDSA', 'kid': {}})}.{part({})}.AA".encode(),
        f"{part({'alg': 5, 'kid': 5})}.{part(5)}.AA".encode(),
    ],
)  # fmt: skip
async def test_a_malformed_token_is_nobodys(shopper: httpx.AsyncClient, token: bytes) -> None:
    assert await user_of(shopper, token) is None


async def test_a_replica_whose_clock_is_behind_accepts_a_new_token(url: str) -> None:
    behind = Clock()
    behind.advance(timedelta(seconds=-3))
    async with serving(url) as ahead, ahead() as shopper:
        await shopper.get("/login")
        async with serving(url, replace(CONFIG, clock=behind)) as browser, browser() as other:
            assert await user_of(other, token_of(shopper)) == "user:1"


async def test_keys_rotate_without_a_logout(redis_url: str, tmp_path: Path) -> None:
    first, second = new_key(tmp_path, "first.pem"), new_key(tmp_path, "second.pem")
    async with serving(f"jwt+{redis_url}?key_files={first}") as browser, browser() as shopper:
        await shopper.get("/login")
        before = token_of(shopper)
    both = f"jwt+{redis_url}?key_files={second},{first}.pub"
    async with serving(both) as browser, browser() as shopper:
        assert await user_of(shopper, before) == "user:1"
        await shopper.get("/add", headers={"cookie": f"{NAME}=j1.{before}"})
        after = token_of(shopper)
        assert jwt.get_unverified_header(after)["kid"] != jwt.get_unverified_header(before)["kid"]
    async with serving(f"jwt+{redis_url}?key_files={second}") as browser, browser() as shopper:
        assert await user_of(shopper, after) == "user:1"
        assert await user_of(shopper, before) is None


async def test_others_verify_a_token_with_the_published_keys(shopper: httpx.AsyncClient, url: str) -> None:
    app = jwks_of(Sessions.from_url(url, keys=KEYS, config=CONFIG))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://shop.example") as other:
        published = (await other.get("/")).json()
    assert all(not set(key) & {"d", "p", "q", "k"} for key in published["keys"])
    token = token_of(shopper)
    kid = jwt.get_unverified_header(token)["kid"]
    (key,) = [key for key in jwt.PyJWKSet.from_dict(published).keys if key.key_id == kid]
    claims = jwt.decode(token, key, algorithms=["EdDSA", "RS256"], issuer=CONFIG.namespace)
    assert claims["sub"] == "user:1"


def test_secrets_are_never_published(redis_url: str) -> None:
    sessions = Sessions.from_url(f"jwt+{redis_url}", keys=KEYS, config=CONFIG)
    (store,) = sessions.stores
    assert store.tokens.keys.jwks() == []  # type: ignore[attr-defined]  # this store is the JWT one


@pytest.mark.parametrize("content", [b"", b"no key", None])
def test_a_file_that_holds_no_key_is_refused(redis_url: str, tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "key").write_bytes(content)
    with pytest.raises(ValueError, match=r"."):
        Sessions.from_url(f"jwt+{redis_url}?key_files={tmp_path / 'key'}", keys=KEYS)


async def test_two_tabs_that_renew_together_both_stay_logged_in(url: str) -> None:
    clock = Clock()
    async with serving(url, replace(CONFIG, clock=clock)) as browser, browser() as shopper:
        await shopper.get("/login")
        old = token_of(shopper)
        clock.advance(timedelta(minutes=5))
        answers = await asyncio.gather(*(shopper.get("/cart") for _ in range(10)))
        assert {answer.json()["user"] for answer in answers} == {"user:1"}
        assert token_of(shopper) != old
        renewed = token_of(shopper)
        assert await user_of(shopper, old) == "user:1"
        clock.advance(timedelta(minutes=11))
        assert await user_of(shopper, old) is None
        assert await user_of(shopper, renewed) == "user:1"


async def test_a_renewal_under_way_never_survives_a_logout(url: str) -> None:
    clock = Clock()
    async with serving(url, replace(CONFIG, clock=clock)) as browser, browser() as shopper:
        await shopper.get("/login")
        before = token_of(shopper)
        clock.advance(timedelta(minutes=5))
        await shopper.get("/cart")
        renewed = token_of(shopper)
        await shopper.get("/logout")
        clock.advance(timedelta(minutes=5))
        assert [await user_of(shopper, token) for token in (before, renewed)] == [None, None]


async def test_a_cart_that_no_cookie_can_hold_is_refused_and_the_rest_stays(
    shopper: httpx.AsyncClient,
) -> None:
    statuses = [(await shopper.get(f"/add?sku=AO-DAI-LUA-HONG-{n:03}")).status_code for n in range(60)]
    assert statuses == [200] * 60
    assert max(len(line) for line in (await shopper.get("/add?sku=X")).headers.get_list("set-cookie")) < 4096
    answers = [await shopper.get(f"/add?sku=AO-DAI-LUA-XANH-{n:03}") for n in range(60)]
    assert {answer.status_code for answer in answers} == {200, 422}
    assert "fit into a cookie" in answers[-1].text
    assert len((await shopper.get("/cart")).json()["lines"]) >= 60


async def test_whoever_filled_a_cookie_as_a_visitor_can_still_log_in(url: str) -> None:
    async with serving(url) as browser, browser() as visitor:
        added = 0
        while (await visitor.get(f"/add?sku=AO-{added:03}")).status_code == 200:
            added += 1
        assert (await visitor.get(f"/login?user=user:{'x' * 95}")).status_code == 200
        assert len((await visitor.get("/cart")).json()["lines"]) == added


@pytest.mark.parametrize("junk", [b"junk", b"\xff", b"", b"1e3:ended", b"x:claimed:y"])
async def test_an_unreadable_entry_of_the_block_list_blocks(
    shopper: httpx.AsyncClient, redis_url: str, junk: bytes
) -> None:
    body = token_of(shopper).split(".")[1]
    jti = json.loads(urlsafe_b64decode(body + "=="))["jti"]
    with redis.Redis.from_url(redis_url) as server:
        server.set(f"{CONFIG.namespace}:ended:{hashlib.sha256(jti.encode()).hexdigest()}", junk)
    assert (await shopper.get("/cart")).json()["user"] is None
    assert (await shopper.get("/add")).status_code == 200


async def test_without_the_block_list_nobody_is_believed(tmp_path: Path) -> None:
    with own_redis(tmp_path) as server:
        async with serving(f"jwt+{server.url}") as browser, browser() as shopper:
            await shopper.get("/login")
            server.stop()
            begun = time.monotonic()
            assert (await shopper.get("/cart")).status_code == 503
            assert (await shopper.get("/plain")).json() == {"presented": True}
            assert time.monotonic() - begun < 5
            server.start()
            assert (await shopper.get("/cart")).json()["user"] == "user:1"
