"""The compartments of a replica: every resource of which there is a finite number, and who shares it.

What shares a resource dies together when one of its users holds its places too long, and no error rate
shows it. So each is listed with its size, its use, and the answer to one question: if one user of it
becomes 100 times slower, what dies with it?
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypedDict

from app.planning.places import longest_wait_s, places_needed

Kind: TypeAlias = Literal["pool", "limiter", "slots", "queue", "loop"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """A compartment at one moment.

    `rejected` is a total; `holding_s` is how long a place is held on average, `rate_per_s` how many are
    given back each second; None where nobody measures it or nothing happened yet.
    """

    in_use: float
    waiting: int = 0
    rejected: int = 0
    holding_s: float | None = None
    rate_per_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Compartment:
    """A finite resource: `size` places that those in `shared_by` share; `dies` says what a slow one takes along."""

    name: str
    kind: Kind
    size: int
    shared_by: tuple[str, ...]
    dies: str
    usage: Callable[[], Usage]

    def __post_init__(self) -> None:
        """Refuse a resource without places or without anybody who uses it."""
        if self.size < 1:
            raise ValueError(f"compartment {self.name}: size is {self.size}, must be at least 1")
        if not self.shared_by:
            raise ValueError(f"compartment {self.name}: shared_by is empty; who uses it?")


class Row(TypedDict):
    """A compartment as it is shown; times in seconds, None where nothing is known."""

    name: str
    kind: Kind
    size: int
    in_use: float
    waiting: int
    rejected: int
    holding_s: float | None
    rate_per_s: float | None
    predicted_wait_s: float | None
    needed_when_100_times_slower: int | None
    shared_by: list[str]
    dies: str


class Compartments:
    """All finite resources of this replica, each under its own name."""

    def __init__(self) -> None:
        self._all: dict[str, Compartment] = {}

    def add(self, compartment: Compartment) -> None:
        """List one more; raises `ValueError` if the name is taken."""
        if compartment.name in self._all:
            raise ValueError(f"there is a compartment {compartment.name} already")
        self._all[compartment.name] = compartment

    def __iter__(self) -> Iterator[Compartment]:
        """In the order in which they were added."""
        return iter(self._all.values())

    def rows(self) -> list[Row]:
        """All of them now, with what the arithmetic predicts."""
        return [row(compartment, compartment.usage()) for compartment in self]


def row(compartment: Compartment, usage: Usage) -> Row:
    """One compartment with its use and its prediction."""
    return {
        "name": compartment.name,
        "kind": compartment.kind,
        "size": compartment.size,
        "in_use": round(usage.in_use, 2),
        "waiting": usage.waiting,
        "rejected": usage.rejected,
        "holding_s": _rounded(usage.holding_s),
        "rate_per_s": _rounded(usage.rate_per_s),
        "predicted_wait_s": _rounded(predicted_wait_s(compartment, usage)),
        "needed_when_100_times_slower": _needed(usage),
        "shared_by": list(compartment.shared_by),
        "dies": compartment.dies,
    }


def predicted_wait_s(compartment: Compartment, usage: Usage) -> float | None:
    """How long the next user waits at worst: pool ÷ holding time. None if nobody knows the holding time."""
    if usage.in_use < compartment.size and not usage.waiting:
        return 0.0
    if usage.holding_s is None:
        return None
    return longest_wait_s(compartment.size, usage.holding_s, waiting=usage.waiting)


def _needed(usage: Usage) -> int | None:
    if usage.rate_per_s is None or usage.holding_s is None:
        return None
    return places_needed(usage.rate_per_s, usage.holding_s * 100)


def _rounded(value: float | None) -> float | None:
    return value if value is None or math.isinf(value) else round(value, 4)
