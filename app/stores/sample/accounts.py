"""The accounts of the local fleet."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from app.shop.accounts import Accounts, Passwords, Role, checked_registration
from app.shop.errors import EmailTaken

DEMO_PASSWORD: Final = "chopho-demo-2026"  # noqa: S105 -- told to everyone who starts a local fleet
DEMO_ACCOUNTS: Final[tuple[tuple[str, str, Role], ...]] = (
    ("khach@chopho.example", "Khách Quen", "customer"),
    ("chu@chopho.example", "Chủ Cửa Hàng", "owner"),
    ("vanhanh@chopho.example", "Người Vận Hành", "operator"),
)


async def load_demo_accounts(accounts: Accounts, passwords: Passwords) -> None:
    """Open those accounts that are missing; any number may do so at once. For a local fleet only."""
    for email, name, role in DEMO_ACCOUNTS:
        registration = checked_registration(email=email, password=DEMO_PASSWORD, name=name)
        if await accounts.credentials(registration.email_key) is not None:
            continue
        hashed = await passwords.hash(registration.password)
        with suppress(EmailTaken):
            await accounts.add(registration, password_hash=hashed, role=role)
