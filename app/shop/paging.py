"""One page of a longer list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from app.shop.errors import Invalid

T = TypeVar("T")

PAGE_MOST: Final = 10_000
"""Nobody turns further pages; a number past this is a mistake or an attack."""

PAGE_SIZE_MOST: Final = 100


@dataclass(frozen=True, kw_only=True)  # without slots: Python 3.11 cannot make a `Page[T]` with them
class Page(Generic[T]):
    """`items` of page `page` (from 1), `page_size` to a page, of `total` in all."""

    items: Sequence[T]
    total: int
    page: int
    page_size: int

    @property
    def pages(self) -> int:
        """How many pages there are; an empty list has one."""
        return max(1, -(-self.total // self.page_size))


def offset_of(page: int, page_size: int) -> int:
    """How many items come before the page; `Invalid` for a page that no list has."""
    if not 1 <= page <= PAGE_MOST:
        raise Invalid("page", f"must be 1 to {PAGE_MOST}", code="page_invalid")
    if not 1 <= page_size <= PAGE_SIZE_MOST:
        raise Invalid("page_size", f"must be 1 to {PAGE_SIZE_MOST}", code="page_invalid")
    return (page - 1) * page_size
