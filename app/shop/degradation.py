"""What a shopper gets when a dependency cannot answer: a table, and the one function that follows it.

A helpful dependency may be missing from a page, which then says so. An essential one fails the request: no
success is ever invented, and nobody is taken for somebody else.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Final, Generic, Literal, Protocol, TypeVar

from app.shop.errors import Unavailable

T = TypeVar("T")

Shown = Literal["fresh", "copy", "nothing"]


class Fallback(StrEnum):
    """What comes in the place of an answer."""

    LEFT_OUT = "the section is left out"
    COPY_OR_HIDDEN = "the last copy with its age, else hidden with a notice"
    LAST_KNOWN = "the last known value with its age, else the catalogue's own, with a notice"
    REQUEST_FAILS = "the request fails and nothing happened"
    FAIL_CLOSED = "nobody gets in, and nobody is made anonymous"
    MISS = "a miss"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """One dependency's row; a copy older than `copy_limit` is never shown."""

    dependency: str
    kind: Literal["helpful", "essential"]
    fallback: Fallback
    copy_limit: timedelta | None = None


TABLE: Final[Mapping[str, Policy]] = {
    policy.dependency: policy
    for policy in (
        Policy(dependency="recommendations", kind="helpful", fallback=Fallback.LEFT_OUT),
        # What people said yesterday still helps today.
        Policy(
            dependency="reviews",
            kind="helpful",
            fallback=Fallback.COPY_OR_HIDDEN,
            copy_limit=timedelta(hours=24),
        ),
        # After a quarter of an hour, a count says less than the catalogue's "in stock".
        Policy(
            dependency="inventory",
            kind="helpful",
            fallback=Fallback.LAST_KNOWN,
            copy_limit=timedelta(minutes=15),
        ),
        Policy(dependency="payments", kind="essential", fallback=Fallback.REQUEST_FAILS),
        Policy(dependency="authentication", kind="essential", fallback=Fallback.FAIL_CLOSED),
        Policy(dependency="sessions", kind="essential", fallback=Fallback.FAIL_CLOSED),
        Policy(dependency="cache", kind="helpful", fallback=Fallback.MISS),
    )
}


@dataclass(frozen=True, kw_only=True)  # without slots: Python 3.11 cannot make a `Copy[T]` with them
class Copy(Generic[T]):
    """What a dependency said some time ago."""

    value: T
    age_s: float


class Copies(Protocol[T]):
    """The last answers of one dependency. None of these raises: a cache that is away has nothing."""

    async def get(self, key: str) -> Copy[T] | None:
        """The copy, if there is one and it is not past its limit."""

    def keep(self, key: str, value: T) -> None:
        """Keep it in place of an older one, some time soon; nobody waits for it."""

    async def drop(self, key: str) -> None:
        """Forget it: it says what is no longer so."""


@dataclass(frozen=True, kw_only=True)
class Told(Generic[T]):
    """What there is to show of a dependency; `age_s` is a copy's."""

    value: T | None
    shown: Shown
    age_s: float | None = None

    @property
    def is_degraded(self) -> bool:
        """Whether the page has to say so."""
        return self.shown != "fresh"


@dataclass(frozen=True, kw_only=True)
class Helpful(Generic[T]):
    """A helpful dependency under its policy: asked each time, its copies read only when it cannot answer."""

    policy: Policy
    ask: Callable[[str], Awaitable[T]]
    copies: Copies[T] | None = None

    async def __call__(self, key: str) -> Told[T]:
        """What it says, or what the table puts in the place of it."""
        try:
            value = await self.ask(key)
        except Unavailable:
            return await self._instead(key)
        if self.copies is not None:
            self.copies.keep(key, value)
        return Told(value=value, shown="fresh")

    async def _instead(self, key: str) -> Told[T]:
        copy = None if self.copies is None else await self.copies.get(key)
        if copy is None:
            return Told(value=None, shown="nothing")
        return Told(value=copy.value, shown="copy", age_s=copy.age_s)
