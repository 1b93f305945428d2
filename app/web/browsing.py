"""A list of products as its address asks for it: words, filters, order, page; and the addresses of its pages."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Final, get_args
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from app.shop.catalog import ProductQuery, Sort
from app.shop.errors import Invalid
from app.shop.money import payable
from app.web.filters import Filters, page_number
from app.web.searching import shelf, sought

PAGE_SIZE: Final = 24

_PRICE: Final = re.compile(r"[0-9]{1,40}|[0-9]{1,3}(?:\.[0-9]{3}){1,13}|[0-9]{1,3}(?:,[0-9]{3}){1,13}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Browsing:
    """What a list shows, where: `path` is the list's own, with `query` behind it.

    The query is what can be of that which was typed; the `filters` know the rest.
    """

    path: str
    query: ProductQuery
    filters: Filters = field(default_factory=Filters)

    @property
    def is_narrowed(self) -> bool:
        """Whether a filter leaves something out."""
        query = self.query
        return query.price_least is not None or query.price_most is not None or query.in_stock

    def url(self, page: int = 1) -> str:
        """The address of a page of it."""
        query, asked = self.query, {}
        asked["q"] = query.text
        if not self.path.endswith(f"/{query.category}"):
            asked["category"] = query.category or ""
        asked["min_price"] = _written(query.price_least)
        asked["max_price"] = _written(query.price_most)
        asked["in_stock"] = "1" if query.in_stock else ""
        asked["sort"] = "" if query.sort == "best" else query.sort
        asked["page"] = "" if page == 1 else str(page)
        told = urlencode({name: value for name, value in asked.items() if value})
        return f"{self.path}?{told}" if told else self.path

    def without_filters(self) -> str:
        """The address of everything that the words and the shelf find."""
        whole = replace(self.query, price_least=None, price_most=None, in_stock=False, page=1)
        return replace(self, query=whole).url()

    def on_shelf(self, category: str | None) -> str:
        """The address of the same on another shelf."""
        return replace(self, query=replace(self.query, category=category, page=1)).url()


def browsing(path: str, asked: QueryParams, *, category: str | None = None) -> Browsing:
    """The list that an address asks for, without the filters that cannot be."""
    filters = Filters(typed=asked)
    query = ProductQuery(
        text=filters.read("q", sought, otherwise=""),
        category=category or filters.read("category", shelf, otherwise=None),
        price_least=filters.read("min_price", price, otherwise=None),
        price_most=filters.read("max_price", price, otherwise=None),
        in_stock=asked.get("in_stock", "") not in {"", "0"},
        sort=filters.read("sort", sort, otherwise="best"),
        page=filters.read("page", page_number, otherwise=1),
        page_size=PAGE_SIZE,
    )
    return Browsing(path=path, query=query, filters=filters)


def price(name: str, text: str) -> int | None:
    """Whole đồng as a shopper types them; a point or comma can only be between thousands."""
    typed = text.strip()
    if not typed:
        return None
    if not _PRICE.fullmatch(typed):
        raise Invalid(name, "must be whole đồng such as 100000 or 100.000", code="price_invalid")
    return payable(name, int(re.sub(r"[.,]", "", typed)))


def sort(name: str, text: str) -> Sort:
    """How the list is sorted; raises `Invalid` for what is no way of it."""
    for known in get_args(Sort):
        if text == known:
            chosen: Sort = known
            return chosen
    raise Invalid(name, f"must be one of {', '.join(get_args(Sort))}", code="sort_invalid")


def _written(amount: int | None) -> str:
    return "" if amount is None else str(amount)
