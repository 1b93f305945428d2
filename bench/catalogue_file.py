"""Writes a large, real-looking Shopify product CSV, the same for the same number of rows."""

from __future__ import annotations

import csv
import random
from collections.abc import Iterator, Mapping
from pathlib import Path

_KINDS = (
    "Áo thun,Áo dài,Quần vải,Nón lá,Cà phê,Trà sen,Bình gốm,Đèn lồng,Khăn lụa,Sổ tay,Ghế mây,Đường thốt nốt"
)
_WORDS = [
    "lụa",
    "cotton",
    "mềm",
    "bền",
    "mát",
    "sáng",
    "thủ",
    "công",
    "truyền",
    "thống",
    "Hà",
    "Nội",
    "Huế",
    "Đà",
    "Lạt",
    "Sài",
    "Gòn",
    "nhẹ",
    "đẹp",
    "xanh",
    "đỏ",
    "vàng",
    "tím",
    "nâu",
    "đen",
    "trắng",
    "nhỏ",
    "lớn",
    "dày",
    "mỏng",
    "thơm",
    "ngọt",
    "đậm",
    "êm",
    "tròn",
    "vuông",
    "dài",
    "ngắn",
    "mới",
    "cổ",
    "quê",
    "phố",
    "chợ",
    "biển",
    "núi",
    "rừng",
]
_SIZES = ("S", "M", "L", "XL")
_COLUMNS = [
    "Handle",
    "Title",
    "Body (HTML)",
    "Vendor",
    "Type",
    "Tags",
    "Published",
    "Option1 Name",
    "Option1 Value",
    "Variant SKU",
    "Variant Grams",
    "Variant Inventory Tracker",
    "Variant Inventory Qty",
    "Variant Inventory Policy",
    "Variant Price",
    "Image Src",
    "Image Position",
    "Image Alt Text",
    "Gift Card",
    "SEO Title",
    "SEO Description",
    "Status",
]


def write_catalogue_file(path: Path, rows: int, *, rows_per_product: int = 4) -> None:
    """A file of exactly `rows` rows; each product has that many variants, every tenth picture a second row."""
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, _COLUMNS, restval="")
        writer.writeheader()
        chance = random.Random(20)  # noqa: S311 -- the same file every time is the point
        for number, row in enumerate(_rows(chance, rows_per_product)):
            if number == rows:
                return
            writer.writerow(row)


def _rows(chance: random.Random, per_product: int) -> Iterator[Mapping[str, str]]:
    product = 0
    while True:
        product += 1
        kind = chance.choice(_KINDS.split(","))
        name = f"{kind} {' '.join(chance.sample(_WORDS, 3))} {product}"
        told = {
            "Title": name,
            "Body (HTML)": f"<p>{' '.join(chance.choices(_WORDS, k=40))}.</p><ul><li>{name}</li></ul>",
            "Vendor": "Chợ Phố",
            "Type": kind,
            "Tags": ", ".join(chance.sample(_WORDS, 3)),
            "Published": "true",
            "Option1 Name": "Cỡ" if per_product > 1 else "Title",
            "Image Src": f"https://cdn.example/{product}.jpg",
            "Image Position": "1",
            "Status": "active",
        }
        for size in _SIZES[:per_product]:
            yield {
                "Handle": f"san-pham-{product}",
                **told,
                "Option1 Value": size if per_product > 1 else "Default Title",
                "Variant SKU": f"SP{product}-{size}",
                "Variant Inventory Tracker": "shopify",
                "Variant Inventory Qty": str(chance.randrange(500)),
                "Variant Inventory Policy": "deny",
                "Variant Price": str(chance.randrange(10, 2000) * 1000),
            }
            told = {}
