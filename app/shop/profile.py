"""What people tell of themselves: a name, a phone number, the language they are written to in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from app.shop.accounts import NAME_MOST, Account
from app.shop.errors import Invalid, NotFound
from app.shop.mail import LANGUAGES, Language
from app.shop.phones import checked_phone
from app.shop.text import clean


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Checked: see `checked_profile`."""

    name: str
    phone: str
    language: Language


class Profiles(Protocol):
    """The store of profiles. Raises `Unavailable`."""

    async def save(self, account_id: str, profile: Profile) -> Account | None:
        """Replace it; None where there is no such account."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeProfile:
    """Replace the profile."""

    profiles: Profiles

    async def __call__(self, account_id: str, *, name: str, phone: str, language: str) -> Account:
        """The account as it is now; raises `Invalid`. An empty phone number is none."""
        account = await self.profiles.save(account_id, checked_profile(name, phone, language))
        if account is None:
            raise NotFound("account")
        return account


def checked_profile(name: str, phone: str, language: str) -> Profile:
    """The profile as it will be kept, or `Invalid`."""
    known = next((one for one in LANGUAGES if one == language), None)
    if known is None:
        raise Invalid("language", f"must be one of {', '.join(LANGUAGES)}", code="invalid")
    return Profile(
        name=clean("name", name, most=NAME_MOST),
        phone=checked_phone("phone", phone) if phone.strip() else "",
        language=known,
    )
