"""A wish: the state an operator wants a breaker in, until when, and why."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, Literal, TypeAlias, get_args

from app.control.drains import DrainWish
from app.control.errors import UnusableWish
from app.resilience import State
from app.resilience.held import HeldName

AUTOMATIC: Final = "AUTOMATIC"
"""The breaker's own judgement; a wish for it withdraws the one before."""

HELD: Final[Mapping[str, HeldName]] = {str(state): state for state in get_args(HeldName)}
"""The states that a breaker can be held in, by name."""

Wanted: TypeAlias = HeldName | Literal["AUTOMATIC"]

LONGEST: Final = timedelta(hours=24)
"""Longer than any incident: an order that everybody forgot must end."""

_REASON_LIMIT: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is wanted of one breaker; times in milliseconds by the clock of the Redis server."""

    breaker: str
    state: Wanted
    since_ms: int
    until_ms: int
    by: str
    reason: str

    def left_s(self, now_ms: int) -> float:
        """What is left of it; not above 0 once it has expired."""
        return (self.until_ms - now_ms) / 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The board at one moment: live wishes, each live replica's breakers with their states, and who is held out."""

    now_ms: int
    wishes: Mapping[str, Wish]
    replicas: Mapping[str, Mapping[str, str]]
    drains: Mapping[str, DrainWish] = field(default_factory=dict)

    def breakers(self) -> list[str]:
        """Every breaker that a replica has."""
        return sorted({name for states in self.replicas.values() for name in states})


def wanted(given: str) -> Wanted:
    """The state of that name, in any spelling; raises `UnusableWish`."""
    name = given.strip().upper().replace("-", "_")
    if name == AUTOMATIC:
        return AUTOMATIC
    if name in HELD:
        return HELD[name]
    hint = ""
    if name in set(State):
        hint = f"; {name} is where a breaker goes by itself"
    raise UnusableWish(
        f"{given[:40]!r} is not a state to hold a breaker in: {', '.join([*HELD, AUTOMATIC])}{hint}"
    )


def checked_time(given: timedelta) -> timedelta:
    """The time, if it ends; raises `UnusableWish`."""
    if not timedelta(seconds=1) <= given <= LONGEST:
        raise UnusableWish(f"a wish lasts from 1 s to {LONGEST // timedelta(hours=1)} h, not {given}")
    return given


def checked_words(name: str, given: str) -> str:
    """One printable line; raises `UnusableWish`."""
    text = " ".join(given.split())
    if not text or not text.isprintable():
        raise UnusableWish(f"{name} is {given[:40]!r}; wants a line of text")
    if len(text) > _REASON_LIMIT:
        raise UnusableWish(f"{name} has {len(text)} characters; at most {_REASON_LIMIT}")
    return text


def read_wish(breaker: str, stored: str) -> Wish | None:
    """The wish as it is stored, or None for what nobody of ours wrote."""
    try:
        found = json.loads(stored)
        return Wish(
            breaker=breaker,
            state=wanted(found["state"]),
            since_ms=int(found["since_ms"]),
            until_ms=int(found["until_ms"]),
            by=str(found["by"]),
            reason=str(found["reason"]),
        )
    except (ValueError, TypeError, KeyError, AttributeError, UnusableWish):
        return None
