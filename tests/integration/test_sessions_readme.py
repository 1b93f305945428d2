"""The example in the README runs as printed."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest

import app.sessions
from app.sessions import Sessions


async def test_the_ten_lines_run_as_printed(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = _readme()
    (example,) = [code for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "from_url" in code]
    monkeypatch.setenv("SESSION_URL", redis_url)
    monkeypatch.setenv("SECRET_KEY", "a secret of thirty-two bytes or so")
    made: dict[str, object] = {}
    exec(example, made)  # noqa: S102 - our own page
    sessions = made["sessions"]
    assert isinstance(sessions, Sessions)
    shop = httpx.AsyncClient(transport=httpx.ASGITransport(made["app"]), base_url="https://shop.example")  # type: ignore[arg-type]  # an app
    async with shop:
        assert [(await shop.post("/add")).json() for _ in range(2)] == [{"in_cart": 1}, {"in_cart": 2}]
    await sessions.close()


def test_every_kind_of_key_and_url_is_documented() -> None:
    text = _readme()
    for word in (
        "redis://",
        "rediss://",
        "unix://",
        "redis+sentinel://",
        "redis+cluster://",
        "jwt+redis://",
        "memory://",
    ):
        assert word in text
    for key in ("sessions:", "ended:", "epochs:", "index:", "tokens:"):
        assert f"<namespace>:{key}" in text


def _readme() -> str:
    return (Path(app.sessions.__file__).parent / "README.md").read_text()
