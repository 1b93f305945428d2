"""The variants of one product's rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.shop.catalog import GRAMS
from app.shop.importing import amounts, columns, skus
from app.shop.importing.cells import one_line
from app.shop.importing.records import ImportedVariant
from app.shop.importing.rows import Cells, choice, text
from app.shop.importing.sheet import Row
from app.shop.importing.terms import Terms

OPTION_MOST: Final = 100
_TELLING: Final = (*columns.OPTION_VALUES, columns.SKU, columns.PRICE)
"""A row that fills one of these is a variant; the others only add pictures."""

_SELLS_PAST_ZERO: Final = choice(deny=False, blank=False, **{"continue": True})


@dataclass(slots=True, kw_only=True)
class Variants:
    """Reads variants; counts what was made up or rounded, and keeps each SKU to one row of the file."""

    terms: Terms
    seen: skus.SeenSkus
    made_up: int = 0
    rounded: int = 0

    def read(
        self, cells: Cells, slug: str, rows: Sequence[Row]
    ) -> tuple[tuple[str, ...], tuple[ImportedVariant, ...]]:
        """The names of the options, and the variants in the order of their rows."""
        telling = [row for row in rows if any(row.get(column).strip() for column in _TELLING)]
        if not telling:
            cells.refuse(rows[0].line, columns.PRICE, "", "a price; no row of this product has one")
            return (), ()
        options = _options(cells, rows)
        lines: dict[tuple[str, ...], int] = {}
        variants = []
        for row in telling:
            values = _values(cells, row, options)
            if (first := lines.setdefault(values, row.line)) != row.line:
                column = columns.OPTION_VALUES[0]
                cells.refuse(row.line, column, row.get(column), f"other options than in line {first}")
            variants.append(self._variant(cells, slug, row, values))
        return options, tuple(variants)

    def _variant(self, cells: Cells, slug: str, row: Row, values: tuple[str, ...]) -> ImportedVariant:
        price, rounded = cells.read(row, columns.PRICE, self._price, (0, False))
        past_zero = cells.read(row, columns.POLICY, _SELLS_PAST_ZERO, fallback=False)
        quantity = one_line(row.get(columns.QUANTITY))
        self.rounded += rounded
        return ImportedVariant(
            line=row.line,
            sku=self._sku(cells, slug, row, values),
            values=values,
            price=price,
            stock=cells.read(row, columns.QUANTITY, _stock, 0),
            grams=cells.read(row, columns.GRAMS, _grams, GRAMS),
            sells_past_zero=past_zero or not (quantity or row.get(columns.TRACKER).strip()),
        )

    def _price(self, cell: str) -> tuple[int, bool]:
        return amounts.price(one_line(cell), self.terms)

    def _sku(self, cells: Cells, slug: str, row: Row, values: tuple[str, ...]) -> str:
        given = cells.read(row, columns.SKU, skus.own, "")
        sku = given or skus.made_up(slug, values)
        self.made_up += not given
        earlier = self.seen.earlier(sku, row.line)
        if earlier is not None:
            cells.refuse(row.line, columns.SKU, given, f"a SKU of its own; line {earlier} has {sku}")
        return sku


def _stock(cell: str) -> int:
    return amounts.stock(one_line(cell)) if cell.strip() else 0


def _grams(cell: str) -> int:
    return amounts.grams(one_line(cell)) if cell.strip() else GRAMS


def _options(cells: Cells, rows: Sequence[Row]) -> tuple[str, ...]:
    """The names that any row gives; the file gives them on a product's first row only."""
    names: list[str] = []
    for column in columns.OPTION_NAMES:
        naming = next((row for row in rows if row.get(column).strip()), None)
        if naming is None:
            break
        name = cells.read(naming, column, text(OPTION_MOST, least=1), "")
        if name in names:
            cells.refuse(naming.line, column, name, "a name that no other option of the product has")
        names.append(name)
    if names == [columns.DEFAULT_OPTION] and _without_options(rows):
        return ()
    return tuple(names)


def _without_options(rows: Sequence[Row]) -> bool:
    said = {one_line(row.get(columns.OPTION_VALUES[0])) for row in rows}
    return said <= {columns.DEFAULT_VALUE, ""}


def _values(cells: Cells, row: Row, options: tuple[str, ...]) -> tuple[str, ...]:
    """One value for each option."""
    for column in columns.OPTION_VALUES[len(options) :]:
        given = one_line(row.get(column))
        if given not in {"", columns.DEFAULT_VALUE}:
            name = columns.OPTION_NAMES[columns.OPTION_VALUES.index(column)]
            cells.refuse(row.line, column, given, f"no value, since the product's first row has no {name}")
    wanted = columns.OPTION_VALUES[: len(options)]
    return tuple(cells.read(row, column, text(OPTION_MOST, least=1), "") for column in wanted)
