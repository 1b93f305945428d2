"""The 34 provinces and cities of Vietnam since 1 July 2025, and the 63 names before that."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from app.shop.errors import Invalid
from app.shop.vietnamese import collation_key, folded, slugged

_MOST: Final = 100

_RANK: Final = re.compile(r"^(?:tinh|thanh pho|tp)\b[. ]*")
"""What people write before the name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Province:
    """One of them; `code` is its name without marks, for programs."""

    code: str
    name: str


MERGED: Final[Mapping[str, Sequence[str]]] = {
    "An Giang": ("Kiên Giang",),
    "Bắc Ninh": ("Bắc Giang",),
    "Cà Mau": ("Bạc Liêu",),
    "Cao Bằng": (),
    "Cần Thơ": ("Sóc Trăng", "Hậu Giang"),
    "Đà Nẵng": ("Quảng Nam",),
    "Đắk Lắk": ("Phú Yên",),
    "Điện Biên": (),
    "Đồng Nai": ("Bình Phước",),
    "Đồng Tháp": ("Tiền Giang",),
    "Gia Lai": ("Bình Định",),
    "Hà Nội": (),
    "Hà Tĩnh": (),
    "Hải Phòng": ("Hải Dương",),
    "Hồ Chí Minh": ("Bà Rịa - Vũng Tàu", "Bình Dương"),
    "Huế": ("Thừa Thiên Huế",),
    "Hưng Yên": ("Thái Bình",),
    "Khánh Hòa": ("Ninh Thuận",),
    "Lai Châu": (),
    "Lạng Sơn": (),
    "Lào Cai": ("Yên Bái",),
    "Lâm Đồng": ("Đắk Nông", "Bình Thuận"),
    "Nghệ An": (),
    "Ninh Bình": ("Hà Nam", "Nam Định"),
    "Phú Thọ": ("Vĩnh Phúc", "Hòa Bình"),
    "Quảng Ngãi": ("Kon Tum",),
    "Quảng Ninh": (),
    "Quảng Trị": ("Quảng Bình",),
    "Sơn La": (),
    "Tây Ninh": ("Long An",),
    "Thái Nguyên": ("Bắc Kạn",),
    "Thanh Hóa": (),
    "Tuyên Quang": ("Hà Giang",),
    "Vĩnh Long": ("Bến Tre", "Trà Vinh"),
}
"""Today's provinces, and those that were merged into them (Resolution 202/2025/QH15)."""

_ALSO: Final[Mapping[str, Sequence[str]]] = {
    "Hồ Chí Minh": ("Sài Gòn", "TPHCM", "HCM", "HCMC", "Ho Chi Minh City"),
    "Hà Nội": ("HN", "Hanoi"),
    "Đà Nẵng": ("Danang",),
    "Hải Phòng": ("Haiphong",),
    "Đắk Lắk": ("Đắc Lắc", "Daklak"),
    "Lâm Đồng": ("Đắc Nông",),
}
"""What else people call them."""

PROVINCES: Final = tuple(
    sorted(
        (Province(code=slugged(name), name=name) for name in MERGED),
        key=lambda province: collation_key(province.name),
    )
)
"""Today's, in the order of the Vietnamese alphabet."""


def _plain(text: str) -> str:
    """A name as far as people agree on its spelling: ``TP. Hồ Chí Minh`` and ``ho chi minh`` are one."""
    return slugged(_RANK.sub("", folded(text), count=1) or text).replace("-", "")


_BY_NAME: Final = {
    _plain(called): province
    for province in PROVINCES
    for called in (province.name, *MERGED[province.name], *_ALSO.get(province.name, ()))
}


def province_of(text: str, *, field: str = "shipping.province") -> Province:
    """The province of that code or name, an old name too; raises `Invalid`."""
    found = _BY_NAME.get(_plain(text)) if len(text) <= _MOST else None
    if found is None:
        raise Invalid(field, "is not a province of Vietnam", code="province_unknown")
    return found
