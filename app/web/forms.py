"""Forms as browsers send them: each field once, text that is text, numbers that are numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Final
from urllib.parse import parse_qsl

from starlette.requests import Request

from app.shop.errors import Invalid
from app.web.errors import Malformed, UnsupportedForm

FIELDS_MOST: Final = 50
"""No form of this shop has a third of it."""

_URLENCODED: Final = "application/x-www-form-urlencoded"
_DIGITS: Final = re.compile(r"[0-9]{1,6}")
_NONCE: Final = re.compile(r"[A-Za-z0-9_-]{16,64}")
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
DAYS: Final = (date(2000, 1, 1), date(2199, 12, 31))
"""No order is from before or after."""

_SECRETS: Final = frozenset({"password", "current", "new", "proof"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """One file of a form."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What was typed. A field that came twice is refused when it is asked for."""

    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    files: Mapping[str, Upload] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """The field as typed, "" when it was not sent; raises `Invalid`."""
        values = self.values.get(name, ("",))
        if len(values) > 1:
            raise Invalid(name, "was sent more than once", code="repeated")
        return values[0]

    def quantity(self, name: str = "quantity") -> int:
        """A number of 1 to 6 ASCII digits and nothing else; raises `Invalid`."""
        return whole_number(name, self.text(name), code="quantity_invalid")

    def nonce(self) -> str:
        """What makes this shown form different from every other; raises `Invalid`."""
        nonce = self.text("nonce")
        if not _NONCE.fullmatch(nonce):
            raise Invalid("nonce", "is not one of ours", code="key_invalid")
        return nonce

    def file(self, name: str) -> bytes:
        """What the file field brought, b"" when nothing was chosen."""
        upload = self.files.get(name)
        return upload.content if upload else b""

    def file_name(self, name: str) -> str:
        """How the browser calls that file, without the folder that some put before it."""
        upload = self.files.get(name)
        return re.split(r"[/\\]", upload.name)[-1] if upload else ""

    def shown(self, name: str) -> str:
        """What the field of a page that is shown again holds; never a password."""
        return "" if name in _SECRETS else self.values.get(name, ("",))[0]

    def open(self) -> list[tuple[str, str]]:
        """Every field with each of its values, without the secrets."""
        return [
            (name, value) for name, values in self.values.items() if name not in _SECRETS for value in values
        ]


NOTHING_TYPED: Final = Form()


async def read_form(request: Request) -> Form:
    """The form of the request's body; raises `Malformed`, `UnsupportedForm`, `BodyTooLarge`."""
    media_type = request.headers.get("content-type", _URLENCODED).partition(";")[0].strip().lower()
    if media_type != _URLENCODED:
        raise UnsupportedForm
    return parsed(await request.body())


def parsed(body: bytes) -> Form:
    """The fields of an urlencoded form; raises `Malformed` for what is no UTF-8 or has too many fields."""
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, errors="strict", max_num_fields=FIELDS_MOST)
    except ValueError as unreadable:
        raise Malformed("the form cannot be read") from unreadable
    values: dict[str, tuple[str, ...]] = {}
    for name, value in pairs:
        values[name] = (*values.get(name, ()), value)
    return Form(values=values)


def day(name: str, text: str) -> date | None:
    """A day as browsers send it, ``2026-11-30``; None for nothing; raises `Invalid`."""
    if not text:
        return None
    try:
        typed = date.fromisoformat(text) if _DAY.fullmatch(text) else None
    except ValueError:
        typed = None
    if typed is None or not DAYS[0] <= typed <= DAYS[1]:
        raise Invalid(name, "must be a day such as 2026-11-30", code="day_invalid")
    return typed


def whole_number(name: str, text: str, *, code: str = "number_invalid") -> int:
    """ASCII digits, one to six of them: no sign, blank, point, underscore or digit of another script."""
    if not _DIGITS.fullmatch(text):
        raise Invalid(name, "must be a whole number of 1 to 6 digits", code=code)
    return int(text)
