"""An owner's browser, and ways to read the desk's pages."""

from __future__ import annotations

import re
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from html import unescape

import httpx
from sqlalchemy import text

from app.shop.accounts import Role
from tests.web.conftest import BROWSER, World


@asynccontextmanager
async def browser_of(world: World, role: Role) -> AsyncIterator[httpx.AsyncClient]:
    """The browser of somebody new with that role, logged in."""
    email, password = f"{secrets.token_hex(6)}@chopho.example", "mat-khau-dai"
    account = await world.shop.register(email=email, password=password, name="Chị Chủ")
    await world.database.maintain(
        text("UPDATE accounts SET role = :role WHERE id::text = :id").bindparams(role=role, id=account.id)
    )
    async with world.client(headers=BROWSER) as browser:
        answer = await browser.post("/dang-nhap", data={"email": email, "password": password})
        assert answer.status_code == 303, answer.text
        yield browser


def form(page: str, do: str) -> dict[str, str]:
    """The hidden fields of the form that does that."""
    part = next(part for part in re.findall(r"<form.*?</form>", page, re.DOTALL) if f'value="{do}"' in part)
    return {
        name: unescape(value)
        for name, value in re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', part)
    }
