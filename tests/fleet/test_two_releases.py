"""The release before this one beside this one, as during a rollout: real processes, one database, one Redis."""

from __future__ import annotations

import os
import re
import secrets
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Final

import httpx
import pytest

from app.fleet.postgres import PostgresServer
from tests.conftest import free_port, listening, running, wait_until

pytestmark = pytest.mark.fleet

ROOT: Final = Path(__file__).parents[2]
BEFORE: Final = "a81d27c"
"""The commit that was released last; a release moves this on."""

PASSWORD: Final = "mật-khẩu-đủ-dài"


@dataclass(frozen=True, kw_only=True)
class Rollout:
    """Both releases serve; the old one migrated the database, then the new one did."""

    old: str
    new: str
    host: str

    def client(self, release: str, cookies: httpx.Cookies | None = None) -> httpx.Client:
        """A browser whose request the balancer gave to that release."""
        return httpx.Client(base_url=release, headers={"Host": self.host}, cookies=cookies, timeout=30)


def earlier(folder: Path) -> Path:
    """The tree of that commit; skips where the history is not there, as in an archive or a shallow clone."""
    archived = subprocess.run(
        ["git", "archive", "--format=tar", BEFORE],  # noqa: S607 -- wherever this system keeps it
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if archived.returncode != 0:
        pytest.skip(f"the history of {BEFORE} is not here")
    with tarfile.open(fileobj=BytesIO(archived.stdout)) as tree:
        tree.extractall(folder, filter="data")
    return folder


@pytest.fixture(scope="module")
def rollout(
    tmp_path_factory: pytest.TempPathFactory, postgres_server: PostgresServer, lasting_redis_url: str
) -> Iterator[Rollout]:
    folder = tmp_path_factory.mktemp("rollout")
    before = earlier(folder / "before")
    old, new = free_port(), free_port()
    told = {
        **{name: value for name, value in os.environ.items() if not name.startswith("CHOPHO_")},
        "CHOPHO_DATABASE_URL": _database(postgres_server),
        "CHOPHO_SESSION_URL": lasting_redis_url,
        "CHOPHO_REDIS_URL": lasting_redis_url,
        "CHOPHO_SESSION_NAMESPACE": f"rollout:{secrets.token_hex(4)}",
        "CHOPHO_SECRET_KEYS": secrets.token_urlsafe(48),
        "CHOPHO_PUBLIC_URL": f"http://127.0.0.1:{old}",
        "CHOPHO_COOKIE_SECURE": "false",
        "CHOPHO_RATE_LIMIT": "off",
        "CHOPHO_DRAIN_DELAY": "0s",
    }
    with ExitStack() as stack:
        _migrate(before, told, "--sample-data")
        for tree, port in ((before, old), (ROOT, new)):
            if tree is ROOT:
                _migrate(ROOT, told)
            # `env -C` is not everywhere; a shell changes the folder.
            words = f'cd "{tree}" && exec "{sys.executable}" -m app serve shop --port {port}'
            stack.enter_context(
                running(
                    ["env", *(f"{name}={value}" for name, value in told.items()), "sh", "-c", words],
                    folder / f"{port}.log",
                )
            )
            wait_until(lambda port=port: listening(port), within_s=60, what=f"{tree}")  # type: ignore[misc]
        yield Rollout(old=f"http://127.0.0.1:{old}", new=f"http://127.0.0.1:{new}", host=f"127.0.0.1:{old}")


def _migrate(tree: Path, told: Mapping[str, str], *options: str) -> None:
    migrated = subprocess.run(
        [sys.executable, "-m", "app", "migrate", *options],
        cwd=tree,
        env=dict(told),
        capture_output=True,
        text=True,
        check=False,
    )
    assert migrated.returncode == 0, migrated.stderr


def _database(server: PostgresServer) -> str:
    import psycopg  # noqa: PLC0415
    from sqlalchemy.engine import make_url  # noqa: PLC0415

    name = f"rollout_{secrets.token_hex(4)}"
    plain = make_url(server.url()).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(plain, autocommit=True) as admin:
        admin.execute(f'CREATE DATABASE "{name}"')
    return server.url(name)


def _in_stock(client: httpx.Client) -> tuple[str, str]:
    """A product and a variant of it that there is enough of."""
    for item in client.get("/api/v1/products", params={"page_size": 20}).json()["items"]:
        product = client.get(f"/api/v1/products/{item['slug']}").json()
        for variant in product["variants"]:
            if variant["stock"] >= 20:
                return item["slug"], variant["sku"]
    pytest.fail("nothing is in stock")


def _opened(client: httpx.Client) -> str:
    email = f"{secrets.token_hex(6)}@chopho.example"
    account = {"email": email, "password": PASSWORD, "name": "Ánh"}
    assert client.post("/api/v1/accounts", json=account).status_code == 201
    assert client.post("/api/v1/session", json={"email": email, "password": PASSWORD}).status_code == 200
    return email


@pytest.mark.parametrize("first", ["old", "new"])
def test_a_session_of_either_release_is_known_to_the_other(rollout: Rollout, first: str) -> None:
    one, other = (rollout.old, rollout.new) if first == "old" else (rollout.new, rollout.old)
    with rollout.client(one) as here:
        email = _opened(here)
        with rollout.client(other, here.cookies) as there:
            assert there.get("/api/v1/session").json()["account"]["email"] == email
            assert there.delete("/api/v1/session").status_code == 204
        assert here.get("/api/v1/session").json()["account"] is None


@pytest.mark.parametrize("first", ["old", "new"])
def test_a_page_of_either_release_finds_its_assets_and_its_form_is_taken_by_the_other(
    rollout: Rollout, first: str
) -> None:
    one, other = (rollout.old, rollout.new) if first == "old" else (rollout.new, rollout.old)
    with rollout.client(one) as here:
        slug, sku = _in_stock(here)
        page = here.get(f"/san-pham/{slug}").text
        assets = re.findall(r'(?:href|src)="(/static/[^"]+)"', page)
        form = re.search(r'<form[^>]*action="/gio-hang/them".*?</form>', page, re.DOTALL)
        assert assets
        assert form is not None
        hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form[0]))
        with rollout.client(other, here.cookies) as there:
            assert {there.get(asset).status_code for asset in assets} == {200}
            added = there.post("/gio-hang/them", data={**hidden, "sku": sku, "quantity": "2"})
            assert added.status_code == 303
            lines = there.get("/api/v1/cart").json()["lines"]
            assert [(line["sku"], line["quantity"]) for line in lines] == [(sku, 2)]


def test_an_order_of_the_old_release_is_seen_by_the_new_one(rollout: Rollout) -> None:
    shipping = {
        "name": "Nguyễn Thị Ánh",
        "phone": "0912345678",
        "address": "12 Hàng Bạc, phường Hàng Bạc, quận Hoàn Kiếm, Hà Nội",
    }
    with rollout.client(rollout.old) as here:
        _opened(here)
        _, sku = _in_stock(here)
        here.post("/api/v1/cart/items", json={"sku": sku, "quantity": 1}).raise_for_status()
        total = here.get("/api/v1/cart").json()["total"]
        order = {"shipping": shipping, "payment": {"token": "cod"}, "expected_total": total}
        key = {"Idempotency-Key": secrets.token_hex(8)}
        placed = here.post("/api/v1/orders", json=order, headers=key)
        assert placed.status_code == 201, placed.text
        with rollout.client(rollout.new, here.cookies) as there:
            seen = there.get(f"/api/v1/orders/{placed.json()['id']}")
            assert (seen.status_code, seen.json()["total"]) == (200, total)
            # The answer was lost, and the balancer gives the second try to the other release.
            again = there.post("/api/v1/orders", json=order, headers=key)
            assert (again.status_code, again.json()["id"]) == (201, placed.json()["id"]), again.text


def test_the_old_release_still_takes_orders_on_the_new_schema(rollout: Rollout) -> None:
    """Migrations only expand: what the release before writes is still whole."""
    with rollout.client(rollout.old) as here:
        assert here.get("/").status_code == 200
        assert here.get("/health/readiness").status_code == 200
        assert here.get("/api/v1/products").json()["total"] > 0
