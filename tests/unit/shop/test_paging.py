"""Pages count from one, and no number breaks a list."""

from __future__ import annotations

import pytest

from app.shop.errors import Invalid
from app.shop.paging import PAGE_MOST, PAGE_SIZE_MOST, Page, offset_of


@pytest.mark.parametrize(("total", "pages"), [(0, 1), (1, 1), (10, 1), (11, 2), (100, 10)])
def test_an_empty_list_has_one_page(total: int, pages: int) -> None:
    assert Page[int](items=[], total=total, page=1, page_size=10).pages == pages


def test_the_first_page_begins_at_the_beginning() -> None:
    assert offset_of(1, 24) == 0
    assert offset_of(3, 24) == 48
    assert offset_of(PAGE_MOST, PAGE_SIZE_MOST) < 2**31


@pytest.mark.parametrize(
    ("page", "page_size", "field"),
    [(0, 1, "page"), (PAGE_MOST + 1, 1, "page"), (1, 0, "page_size"), (1, PAGE_SIZE_MOST + 1, "page_size")],
)
def test_a_page_that_no_list_has_is_named(page: int, page_size: int, field: str) -> None:
    with pytest.raises(Invalid) as refused:
        offset_of(page, page_size)
    assert refused.value.field == field
