"""Pages from templates: escaped always, undefined never."""

from __future__ import annotations

import secrets
from datetime import datetime
from pathlib import Path
from typing import Final
from zlib import crc32

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from app.shop.money import written
from app.shop.orders import VIETNAM
from app.web.assets import ASSETS
from app.web.degraded import age_minutes
from app.web.language import NAMES, language, translated, translated_number
from app.web.pictures import elsewhere, picture_url


def vietnam_time(moment: datetime) -> str:
    """A moment as people in Vietnam write it: ``09:05 30/04/2026``."""
    return moment.astimezone(VIETNAM).strftime("%H:%M %d/%m/%Y")


def tint(name: str) -> int:
    """One of six tints, always the same for the same name."""
    return crc32(name.encode()) % 6 + 1


def new_nonce() -> str:
    """What makes one shown form different from every other."""
    return secrets.token_urlsafe(16)


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )
    environment.policies["ext.i18n.trimmed"] = True
    environment.install_gettext_callables(translated, translated_number, newstyle=True)  # type: ignore[attr-defined] # what the extension adds
    environment.filters.update(
        money=written,
        moment=vietnam_time,
        minutes=age_minutes,
        tint=tint,
        picture=picture_url,
        elsewhere=elsewhere,
    )
    environment.tests.update(shipped=lambda picture: picture_url(picture) is not None)
    environment.globals.update(
        asset=ASSETS.url, nonce=new_nonce, language=language, languages=NAMES, here="/"
    )
    return environment


_ENVIRONMENT: Final = _environment()


def render(template: str, **context: object) -> str:
    """The page; raises where the template needs what the context lacks."""
    return _ENVIRONMENT.get_template(template).render(context)
