"""What an operator may have the supervisor do, as it travels over its socket."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from app.fleet.runtime import SLOTS


class Drain(BaseModel):
    """Take a replica out of rotation and let it run; it stays out, over every restart, until `Ready`."""

    order: Literal["drain"] = "drain"
    name: str
    reason: str = ""
    force: bool = False
    """Also when nobody else is in rotation."""

    def __str__(self) -> str:
        return f"drain {self.name}"


class Ready(BaseModel):
    """Take a drained replica back into rotation."""

    order: Literal["ready"] = "ready"
    name: str

    def __str__(self) -> str:
        return f"ready {self.name}"


class Restart(BaseModel):
    """Replace every replica, so many at a time, each drained first and back in rotation before the next."""

    order: Literal["restart"] = "restart"
    max_unavailable: Annotated[int, Field(ge=1, le=SLOTS)] = 1

    def __str__(self) -> str:
        return "rolling restart"


class Scale(BaseModel):
    """Have so many replicas; those that go are drained first, the last ones first."""

    order: Literal["scale"] = "scale"
    replicas: int = Field(ge=1, le=SLOTS)
    why: str = ""
    """Why the fleet does so by itself; empty: an operator wants it."""

    def __str__(self) -> str:
        return f"scale to {self.replicas}" + (f" ({self.why})" if self.why else "")


class Reload(BaseModel):
    """Have HAProxy read its configuration and certificates again, without closing a connection."""

    order: Literal["reload"] = "reload"

    def __str__(self) -> str:
        return "reload of HAProxy"


class RotateKeys(BaseModel):
    """Have every replica learn a new key, then sign with it; takes up a rotation that was cut off."""

    order: Literal["rotate-keys"] = "rotate-keys"

    def __str__(self) -> str:
        return "rotation of the keys"


class RetireKey(BaseModel):
    """End the key before the last rotation."""

    order: Literal["retire-key"] = "retire-key"
    force: bool = False

    def __str__(self) -> str:
        return "retirement of the old key"


Order = Annotated[
    Drain | Ready | Restart | Scale | Reload | RotateKeys | RetireKey, Field(discriminator="order")
]


class Request(BaseModel):
    """An order, and who gives it."""

    by: str
    order: Order


class Said(BaseModel):
    """Something happened while an order was carried out."""

    said: str


class Ended(BaseModel):
    """The last line: the order was carried out, or an error of that class says why not."""

    error: str | None = None
    kind: str = ""
