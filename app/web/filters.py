"""The filters of a list's address, each read by itself: one that cannot be is told, and the others still hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TypeVar

from starlette.datastructures import QueryParams

from app.shop.errors import Invalid
from app.web.forms import whole_number
from app.web.messages import message_of

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What an address asks, as it was typed, and by its name what of it was refused so far."""

    typed: QueryParams = field(default_factory=QueryParams)
    refused: dict[str, Invalid] = field(default_factory=dict)

    def read(self, name: str, parse: Callable[[str, str], _T], *, otherwise: _T) -> _T:
        """What `parse` makes of the filter; `otherwise` where nothing was typed, and where it raises `Invalid`."""
        text = self.typed.get(name, "")
        if not text:
            return otherwise
        try:
            return parse(name, text)
        except Invalid as wrong:
            self.refused[name] = wrong
            return otherwise

    @property
    def status(self) -> int:
        """The status of the page that shows the list."""
        return HTTPStatus.UNPROCESSABLE_ENTITY if self.refused else HTTPStatus.OK

    @property
    def faults(self) -> Mapping[str, str]:
        """Why a filter is not used, in the language of the page."""
        return {name: message_of(wrong.code) for name, wrong in self.refused.items()}

    def value(self, name: str, used: object) -> object:
        """What the filter's field holds: what is `used`, or what was typed and cannot be."""
        if name in self.refused:
            return self.typed[name]
        return "" if used is None else used


def page_number(name: str, text: str) -> int:
    """The number of a page; none comes before the first."""
    return max(1, whole_number(name, text))
