"""What a request set, removed or changed inside a value, until it is written."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import orjson

from .changes import Changes

_log = logging.getLogger(__name__)

JSON = None | bool | int | float | str | list["JSON"] | dict[str, "JSON"]
"""What a field may hold."""

_NOTHING = Changes()

_LONG: Final = 4300
"""Digits that Python makes no number of."""


@dataclass(frozen=True, slots=True)
class _Sent:
    """What was pending when it was last made into a change, with what is inside values now."""

    put: Mapping[str, bytes] = field(default_factory=dict)
    drop: frozenset[str] = frozenset()
    inside: Mapping[str, tuple[tuple[bytes, JSON], bytes]] = field(default_factory=dict)


class Pending:
    """The changes of one request that are not stored yet, and the values it holds in its hands."""

    __slots__ = ("_drop", "_handed", "_put", "_sent")

    def __init__(self) -> None:
        self._put: dict[str, bytes] = {}
        self._drop: set[str] = set()
        self._handed: dict[str, tuple[bytes, JSON]] = {}
        self._sent = _Sent()

    def __bool__(self) -> bool:
        return bool(self._put or self._drop or self._handed)

    def put(self, name: str, value: JSON) -> None:
        """Set a field; raises `TypeError` for what JSON cannot say, `Refused` for a name that cannot be."""
        encoded = orjson.dumps(value)
        Changes(put={name: encoded}).check()
        self._handed.pop(name, None)
        self._drop.discard(name)
        self._put[name] = encoded

    def drop(self, name: str) -> None:
        """Remove a field."""
        self._handed.pop(name, None)
        self._put.pop(name, None)
        self._drop.add(name)

    def values(self, stored: Mapping[str, bytes], prefix: str) -> dict[str, JSON]:
        """The fields there are by now whose names begin with the prefix."""
        there = stored
        if self._drop or self._put:
            there = {name: value for name, value in stored.items() if name not in self._drop} | self._put
        # Numbers are read here, since a cart is made of them and this is where its time goes.
        return {
            name: int(encoded)
            if encoded.isdigit() and len(encoded) < _LONG
            else self.value(there, name, None)
            for name, encoded in there.items()
            if name.startswith(prefix)
        }

    def value(self, stored: Mapping[str, bytes], name: str, default: JSON) -> JSON:
        """The field's value by now; one and the same object each time, so that changes inside it are seen."""
        if self._handed and name in self._handed:
            return self._handed[name][1]
        encoded = None if name in self._drop else self._put.get(name, stored.get(name))
        if encoded is None:
            return default
        if encoded.isdigit() and len(encoded) < _LONG:
            return int(encoded)
        try:
            value: JSON = orjson.loads(encoded)
        except orjson.JSONDecodeError:
            _log.warning("session field %r is unreadable and taken for absent", name)
            return default
        if isinstance(value, list | dict):
            self._handed[name] = (orjson.dumps(value), value)
        return value

    def before(self, changes: Changes = _NOTHING) -> Changes:
        """One change that makes everything pending first, then these."""
        inside = {
            name: (handed, after)
            for name, handed in self._handed.items()
            if (after := orjson.dumps(handed[1])) != handed[0]
        }
        self._sent = sent = _Sent(dict(self._put), frozenset(self._drop), inside)
        return changes.after({**sent.put, **{name: after for name, (_, after) in inside.items()}}, sent.drop)

    def written(self) -> None:
        """What `before` made a change of is stored; what was set or changed since is still pending."""
        sent, self._sent = self._sent, _Sent()
        self._put = {name: value for name, value in self._put.items() if sent.put.get(name) is not value}
        self._drop -= sent.drop
        for name, (handed, after) in sent.inside.items():
            if self._handed.get(name) is handed:
                self._handed[name] = after, handed[1]

    def let_go(self) -> None:
        """What is changed inside a value that was read is nobody's any more; what was set stays pending."""
        self._handed = {name: handed for name, handed in self._handed.items() if name in self._put}

    def clear(self) -> None:
        """Everything is void."""
        self._put.clear()
        self._drop.clear()
        self._handed.clear()
