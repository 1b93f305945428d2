"""The language of a request: Vietnamese, or English for those who chose it."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from gettext import GNUTranslations
from io import BytesIO
from pathlib import Path
from typing import Final

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from starlette.types import ASGIApp, Receive, Scope, Send

from app.shop.mail import Language as Spoken

COOKIE: Final = "chopho_lang"
VIETNAMESE: Final = "vi"
ENGLISH: Final = "en"
NAMES: Final[Mapping[str, str]] = {VIETNAMESE: "Tiếng Việt", ENGLISH: "English"}
"""Each in its own words, as its switch says it."""

CATALOGUES: Final = Path(__file__).parent / "locale"
"""A ``.po`` for each language but Vietnamese, read as it was written: nothing is compiled that could be stale."""

_CHOSEN: Final = f"{COOKIE}={ENGLISH}".encode()
_language: Final[ContextVar[Spoken]] = ContextVar("language", default=VIETNAMESE)


class Language:
    """Lets everything inside speak the language that the visitor's cookie names; no cookie is Vietnamese."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer in that language."""
        if scope["type"] == "http":
            _language.set(ENGLISH if _has_chosen_english(scope) else VIETNAMESE)
        await self.app(scope, receive, send)


def _has_chosen_english(scope: Scope) -> bool:
    return any(
        part.strip() == _CHOSEN
        for name, cookies in scope["headers"]
        if name == b"cookie" and _CHOSEN in cookies
        for part in cookies.split(b";")
    )


def language() -> Spoken:
    """The language of the request that is being answered."""
    return _language.get()


def translated(message: str) -> str:
    """The message in that language; messages are written in Vietnamese."""
    return message if language() == VIETNAMESE else _ENGLISH.gettext(message)


def translated_number(one: str, many: str, number: int) -> str:
    """The same of a message with a number in it; Vietnamese says both alike."""
    return many if language() == VIETNAMESE else _ENGLISH.ngettext(one, many, number)


def _catalogue(name: str) -> GNUTranslations:
    """Compiled in memory in some 20 ms of a start; a file that cannot be read whole stops it."""
    with (CATALOGUES / f"{name}.po").open("rb") as written:
        catalogue = read_po(written, locale=name, abort_invalid=True)
    compiled = BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    return GNUTranslations(compiled)


_ENGLISH: Final = _catalogue(ENGLISH)
