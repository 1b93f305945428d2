"""What one commit changes, and what that does to a session's fields."""

from __future__ import annotations

import re
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Protocol, TypeVar

from .errors import Refused, TooLarge

RESERVED: Final = "~"
"""Fields beginning so are the session's own."""

MOST: Final = 10**15 - 1
"""Numbers stay within what Lua's doubles and its number formats keep exactly."""

_NUMBER: Final = re.compile(rb"-?[0-9]{1,15}")

_Value = TypeVar("_Value")


def _nothing() -> Mapping[str, _Value]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One bounded addition to a number that counts from 0.

    A step upwards may not end above `high`, one downwards not below `low`; `clamp` stops at the bound
    instead of refusing. `drop_zero` removes the field when the result is 0.
    """

    by: int
    low: int | None = 0
    high: int | None = None
    clamp: bool = False
    drop_zero: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """One atomic change: all of it or nothing.

    In this order: `expect` compares the stored bytes (None: must be absent), `default` writes where the
    field is absent, `put` writes, `drop` removes, `add` steps.
    """

    put: Mapping[str, bytes] = field(default_factory=_nothing)
    drop: frozenset[str] = frozenset()
    add: Mapping[str, Step] = field(default_factory=_nothing)
    expect: Mapping[str, bytes | None] = field(default_factory=_nothing)
    default: Mapping[str, bytes] = field(default_factory=_nothing)

    def __bool__(self) -> bool:
        return bool(self.put or self.drop or self.add or self.expect or self.default)

    def check(self) -> None:
        """Refuse names and numbers that no store can keep."""
        for name in (*self.put, *self.drop, *self.add, *self.expect, *self.default):
            if not name or name.startswith(RESERVED) or not _is_text(name):
                raise Refused(name, "is not a name for a field")
        for name, step in self.add.items():
            if any(abs(n) > MOST for n in (step.by, step.low or 0, step.high or 0)):
                raise Refused(name, "the number is too large")

    def after(self, put: Mapping[str, bytes], drop: frozenset[str]) -> Changes:
        """These changes made after earlier sets and deletes that were not written yet."""
        return Changes(
            put={**put, **self.put},
            drop=(drop - self.put.keys()) | self.drop,
            add=self.add,
            expect=self.expect,
            default={name: value for name, value in self.default.items() if name not in put},
        )


class Limits(Protocol):
    """How large a session may grow."""

    @property
    def max_fields(self) -> int:
        """Fields, the session's own not counted."""

    @property
    def max_bytes(self) -> int:
        """Bytes of names and values together."""


def applied(
    fields: Mapping[str, bytes], changes: Changes, *, limits: Limits
) -> tuple[dict[str, bytes], dict[str, int]]:
    """The fields after the change and the new numbers; raises `Refused` or `TooLarge`.

    The reference for every store; the script of the Redis store is tested against it.
    """
    for name, wanted in changes.expect.items():
        if fields.get(name) != wanted:
            raise Refused(name, "is not as expected")
    after = {**changes.default, **fields, **changes.put}
    for name in changes.drop:
        after.pop(name, None)
    numbers = {name: _stepped(after, name, step) for name, step in changes.add.items()}
    if changes.put or changes.default or changes.add:
        _check_size(after, limits)
    return after, numbers


def _is_text(name: str) -> bool:
    """Whether UTF-8 can say it: JSON may bring half a surrogate pair."""
    return name.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in name)


def _stepped(after: MutableMapping[str, bytes], name: str, step: Step) -> int:
    stored = after.get(name, b"0")
    if not _NUMBER.fullmatch(stored):
        raise Refused(name, "is not a number")
    value = int(stored) + step.by
    if step.clamp:
        value = value if step.high is None else min(value, step.high)
        value = value if step.low is None else max(value, step.low)
    elif (step.by >= 0 and step.high is not None and value > step.high) or (
        step.by <= 0 and step.low is not None and value < step.low
    ):
        raise Refused(name, "would leave its bounds")
    if abs(value) > MOST:
        raise Refused(name, "the number is too large")
    if value == 0 and step.drop_zero:
        after.pop(name, None)
    else:
        after[name] = b"%d" % value
    return value


def _check_size(fields: Mapping[str, bytes], limits: Limits) -> None:
    if len(fields) > limits.max_fields:
        raise TooLarge("session", f"would hold more than {limits.max_fields} fields")
    if sum(len(name.encode()) + len(value) for name, value in fields.items()) > limits.max_bytes:
        raise TooLarge("session", f"would hold more than {limits.max_bytes} bytes")
