"""Mail as data: what is told to whom in which language. It is written and sent later, by whoever has the time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal, Protocol, TypeAlias

from app.shop.errors import ShopError
from app.shop.orders import Order

Language: TypeAlias = Literal["vi", "en"]
LANGUAGES: Final[tuple[Language, ...]] = ("vi", "en")

MailKind: TypeAlias = Literal[
    "welcome",
    "password_changed",
    "password_reset",
    "email_confirm",
    "email_in_use",
    "email_changed",
    "account_locked",
    "account_unlocked",
    "account_erased",
    "role_changed",
    "order_confirmed",
    "order_cancelled",
    "order_shipped",
]
OrderMail: TypeAlias = Literal["order_confirmed", "order_cancelled", "order_shipped"]

Fact: TypeAlias = "str | int | Sequence[Mapping[str, str | int]]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One mail to be sent, as it waits in the outbox: no words yet, only the facts they will be made of.

    `kind` names its text, which is written when it is sent; a fact that is a `path` leads into the shop.
    After `expires_at` it is not worth sending. Secrets such as tokens never belong into `fields`.
    """

    kind: str
    recipient: str
    language: Language = "vi"
    fields: Mapping[str, Fact] = field(default_factory=dict)
    expires_at: datetime | None = None


class Undeliverable(ShopError):
    """A mail that no retry will bring to its recipient."""


class MailServer(Protocol):
    """Who takes mail on."""

    async def send(self, message: Message, *, message_id: str) -> None:
        """Return once it is taken on.

        `message_id` stays the same however often it is tried, so that a mail that was taken on twice can be
        told to be one. Raises `Unavailable`: another try may succeed; `Undeliverable`: none will.
        """

    async def look(self) -> None:
        """Return if mail would be taken on now; raises `Unavailable`."""


def order_mail(
    kind: OrderMail, order: Order, *, recipient: str, language: Language, path: str | None = None
) -> Message:
    """What a shopper is told about their order; `path` is where they see it, for a guest a signed one."""
    lines: Sequence[Mapping[str, str | int]] = [
        {"name": line.name, "quantity": line.quantity, "total": line.total} for line in order.lines
    ]
    return Message(
        kind=kind,
        recipient=recipient,
        language=language,
        fields={
            "name": order.shipping.name,
            "number": order.number,
            "lines": lines,
            "total": order.total,
            "path": path or f"/don-hang/{order.id}",
        },
    )
