"""haproxy.cfg and its error pages, without a fleet."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from app.fleet.haproxy import ROOT
from app.fleet.programs import Programs

PAGES = sorted((ROOT / "deploy" / "haproxy").glob("*.http"))


def every_haproxy() -> list[Path]:
    """The wheel's, and the system's where there is one."""
    system = shutil.which("haproxy", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    return [Programs().find_haproxy(), *([Path(system)] if system else [])]


@pytest.mark.parametrize("program", every_haproxy(), ids=str)
@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"LB_BALANCE": "leastconn"},
        {"LB_STICKY": "a key of its own"},
        {"LB_TCP_CHECK": "1"},
        {"LB_LOCAL": "1", "LB_RETRIES": "0"},
        {"LB_RATE_LIMIT": "200"},
        {"LB_CHECKOUT": "1"},
        {"LB_CHECKOUT": "1", "LB_CHECKOUT_REPLICAS": "pay:8000", "LB_REPLICAS": "app:8000"},
        {"LB_REPLICAS": "app:8000", "LB_BIND": ":8080", "LB_STATS": ":8404", "LB_STICKY": "key"},
        {"LB_SERVER_MAXCONN": "50", "LB_MAX_BODY": "1048576", "LB_SOCKET": "/tmp/lb.sock"},  # noqa: S108 -- only checked
    ],
    ids=lambda environment: " ".join(environment) or "as it is",
)
def test_every_variant_is_valid_and_without_a_warning(program: Path, environment: dict[str, str]) -> None:
    checked = subprocess.run(
        [program, "-c", "-f", ROOT / "haproxy.cfg"],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stderr
    assert "WARNING" not in checked.stderr + checked.stdout


def test_there_is_a_page_for_everything_haproxy_itself_says() -> None:
    assert [int(page.stem) for page in PAGES] == [400, 403, 404, 408, 413, 429, 500, 502, 503, 504]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_of_haproxy_is_ours(page: Path) -> None:
    head, _, body = page.read_bytes().decode().partition("\r\n\r\n")
    assert head.startswith(f"HTTP/1.1 {page.stem} ")
    assert '<html lang="vi">' in body
    assert "Chợ Phố" in body
    assert "Cache-Control: no-store" in head
    assert ("Retry-After: " in head) == (int(page.stem) in {429, 502, 503, 504})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_policy_of_a_page_allows_its_style_and_nothing_else(page: Path) -> None:
    head, _, body = page.read_bytes().decode().partition("\r\n\r\n")
    style = re.search(r"<style>(.*)</style>", body, re.DOTALL)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in head
    assert "unsafe" not in head
    assert "<script" not in body
