"""What the shop charges besides its prices, read from a table that its owner may replace."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.shop.money import MOST
from app.shop.pricing.provinces import PROVINCES, Province

_STANDARD: Final = Path(__file__).with_name("charges.toml")

_Amount = Annotated[int, Field(ge=0, le=MOST)]
_Grams = Annotated[int, Field(ge=1, le=10**9)]


class ChargesRefused(ValueError):
    """The table cannot be used, and why, in one line."""


class _Table(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class _Zone(_Table):
    name: str
    base: _Amount
    step: _Amount
    provinces: list[str]


class _Shipping(_Table):
    free_from: _Amount
    first_grams: _Grams
    step_grams: _Grams
    zones: list[_Zone]


class _Vat(_Table):
    percent: Annotated[int, Field(ge=0, le=100)]


class _File(_Table):
    vat: _Vat
    shipping: _Shipping


@dataclass(frozen=True, slots=True, kw_only=True)
class Tariff:
    """What a parcel costs to a zone: `base` for the first grams, `step` for every further part."""

    base: int
    step: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Charges:
    """The charges of a shop; goods of `free_from` and more travel free, 0: none do."""

    vat_percent: int
    free_from: int
    first_grams: int
    step_grams: int
    tariffs: Mapping[str, Tariff]

    def shipping_fee(self, province: Province, *, grams: int, goods: int) -> int:
        """What a parcel of that weight costs, whose goods are worth so much after the voucher."""
        if self.free_from and goods >= self.free_from:
            return 0
        tariff = self.tariffs[province.code]
        further = max(0, grams - self.first_grams)
        return tariff.base + tariff.step * -(-further // self.step_grams)


def parsed_charges(text: str) -> Charges:
    """The charges that a file says; raises `ChargesRefused`."""
    try:
        file = _File.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as unreadable:
        raise ChargesRefused(f"is no TOML: {unreadable}") from unreadable
    except ValidationError as unusable:
        raise ChargesRefused(_first(unusable)) from unusable
    return Charges(
        vat_percent=file.vat.percent,
        free_from=file.shipping.free_from,
        first_grams=file.shipping.first_grams,
        step_grams=file.shipping.step_grams,
        tariffs=_tariffs(file.shipping.zones),
    )


@cache
def standard_charges() -> Charges:
    """The charges that the shop ships with."""
    return parsed_charges(_STANDARD.read_text(encoding="utf-8"))


def _tariffs(zones: Sequence[_Zone]) -> Mapping[str, Tariff]:
    """By province; each in one zone."""
    tariffs: dict[str, Tariff] = {}
    known = {province.code for province in PROVINCES}
    for zone in zones:
        for code in zone.provinces:
            if code not in known:
                raise ChargesRefused(f"zone {zone.name!r} names {code!r}, which is the code of no province")
            if code in tariffs:
                raise ChargesRefused(f"zone {zone.name!r} names {code!r}, which another zone has already")
            tariffs[code] = Tariff(base=zone.base, step=zone.step)
    if missing := sorted(known - tariffs.keys()):
        raise ChargesRefused(f"no zone has {', '.join(missing)}")
    return tariffs


def _first(unusable: ValidationError) -> str:
    error: Any = unusable.errors(include_url=False)[0]
    return f"{'.'.join(map(str, error['loc']))}: {error['msg']}"
