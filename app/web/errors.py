"""Every error that reaches HTTP, and its one status.

WebError                 what the web itself refuses, before the shop is asked
├── Malformed            the request cannot be read
├── UnsupportedForm      a form in an encoding that this shop does not take
├── WrongHost            meant for another host
├── ForeignOrigin        an unsafe request that another site sent
├── BodyTooLarge         more bytes than a request may have
└── Overdue              an unsafe request that was answered for us already
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from app.sessions import Refused, SessionEnded, StoreUnavailable
from app.shop import errors as shop
from app.shop.desk import errors as desk
from app.web.messages import message_of

Facts = Mapping[str, object]


class WebError(Exception):
    """The web refused, and says why in one sentence."""


class Malformed(WebError):
    """The request cannot be read, whoever tries."""


class UnsupportedForm(WebError):
    """A form in an encoding that this shop does not take."""


class WrongHost(WebError):
    """Meant for another host; ours is reached at `home`."""

    def __init__(self, home: str) -> None:
        super().__init__(f"this host is reached at {home} alone")
        self.home = home


class ForeignOrigin(WebError):
    """An unsafe request that another site sent."""


class Overdue(WebError):
    """An unsafe request whose sender was told long ago that it failed."""


class BodyTooLarge(HTTPException, WebError):
    """More bytes than a request may have; an HTTPException, since FastAPI turns others into 400 on its way."""

    def __init__(self) -> None:
        super().__init__(413, "the body of the request is too large", headers={"connection": "close"})


TABLE: Final[Mapping[type[Exception], tuple[int, str]]] = {
    shop.Unavailable: (503, "unavailable"),
    shop.SessionsLinger: (503, "sessions_linger"),
    shop.Invalid: (422, "invalid"),
    shop.NotFound: (404, "not_found"),
    shop.EmailTaken: (409, "email_taken"),
    shop.BadCredentials: (401, "bad_credentials"),
    shop.TooManyAttempts: (429, "too_many_attempts"),
    shop.LoginNeeded: (401, "login_needed"),
    shop.CartLimit: (409, "cart_limit"),
    shop.CartEmpty: (409, "cart_empty"),
    shop.OutOfStock: (409, "out_of_stock"),
    shop.TotalChanged: (409, "total_changed"),
    shop.CartOrdered: (409, "cart_ordered"),
    shop.KeyInProgress: (409, "key_in_progress"),
    shop.KeyReused: (422, "key_reused"),
    shop.PaymentRefused: (402, "payment_refused"),
    desk.OwnerNeeded: (403, "owner_needed"),
    desk.AlreadyDone: (409, "already_done"),
    desk.ChangedMeanwhile: (409, "changed_meanwhile"),
    desk.SkuTaken: (409, "sku_taken"),
    StoreUnavailable: (503, "session_unavailable"),
    SessionEnded: (409, "session_ended"),
    Refused: (409, "session_refused"),
    Malformed: (400, "malformed"),
    UnsupportedForm: (415, "unsupported_form"),
    WrongHost: (421, "wrong_host"),
    ForeignOrigin: (403, "foreign_origin"),
    BodyTooLarge: (413, "body_too_large"),
    Overdue: (503, "overdue"),
    ClientDisconnect: (400, "disconnected"),
}
"""Error → status and stable code. A class that is not here is found by its nearest ancestor."""

HTTP_CODES: Final[Mapping[int, str]] = {
    400: "malformed",
    404: "not_found",
    405: "method_not_allowed",
    415: "unsupported_form",
}
"""What the framework itself refuses."""

_FACTS: Final[Mapping[type[Exception], tuple[str, ...]]] = {
    shop.CartLimit: ("sku", "at_most"),
    shop.OutOfStock: ("sku", "left"),
    shop.TotalChanged: ("expected", "actual"),
    shop.CartOrdered: ("order_id",),
    WrongHost: ("home",),
}
"""What a program may want to know besides the sentence."""

_WAIT_S: Final = 2
"""A pause before the next try; the balancer has found a dead replica or a standby by then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """An error as HTTP tells it: `detail` for programmers, `message` for shoppers (Vietnamese)."""

    status: int
    code: str
    detail: str
    message: str
    facts: Facts = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The status in words."""
        return HTTPStatus(self.status).phrase


def problem_of(error: Exception) -> Problem:
    """The problem that an error is; an error that nobody foresaw is a 500 that tells nothing of itself."""
    known = next((TABLE[kind] for kind in type(error).__mro__ if kind in TABLE), None)
    if known is not None:
        return _known(error, *known)
    if isinstance(error, HTTPException):
        code = HTTP_CODES.get(error.status_code, "refused")
        return _problem(error.status_code, code, error.detail, headers=dict(error.headers or {}))
    return _problem(500, "internal", "the shop made a mistake; it is logged under this request's id")


def _known(error: Exception, status: int, code: str) -> Problem:
    facts = {name: getattr(error, name) for name in _FACTS.get(type(error), ())}
    if isinstance(error, shop.Invalid):
        facts = {"errors": [fault(error.field, error.code, error.message)]}
    headers = dict(getattr(error, "headers", None) or {})
    wait_s = getattr(error, "retry_after_s", _WAIT_S if status == 503 else None)
    if wait_s is not None:
        headers["retry-after"] = str(wait_s)
    detail = _sentence(error)
    return _problem(status, code, detail, facts=facts, headers=headers)


def _sentence(error: Exception) -> str:
    if isinstance(error, HTTPException):
        return error.detail
    return str(error) or " ".join((type(error).__doc__ or "").split()).rstrip(".")


def fault(name: str, code: str, detail: str) -> dict[str, str]:
    """One field that cannot be, as a problem lists it."""
    return {"field": name, "code": code, "detail": detail, "message": message_of(code)}


def _problem(
    status: int,
    code: str,
    detail: str,
    *,
    facts: Facts | None = None,
    headers: Mapping[str, str] | None = None,
) -> Problem:
    facts = facts or {}
    has_no_room = code == "cart_limit" and facts["at_most"] == 0
    return Problem(
        status=status,
        code=code,
        detail=detail,
        message=message_of("cart_full" if has_no_room else code, facts),
        facts=facts,
        headers=headers or {},
    )
