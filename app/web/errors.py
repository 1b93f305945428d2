"""Every error that reaches HTTP, and its one status.

WebError                 what the web itself refuses, before the shop is asked
├── Malformed            the request cannot be read
├── UnsupportedForm      a form in an encoding that this shop does not take
├── WrongHost            meant for another host
├── ForeignOrigin        an unsafe request that another site sent
├── BodyTooLarge         more bytes than a request may have
├── Overdue              an unsafe request that was answered for us already
├── MethodRefused        a path that does not take the method
├── BodyTooSlow          a body that did not arrive in time
├── TooManyRequests      one address asks more than its share
└── ServiceError         a service around the shop did not answer
    ├── ServiceBusy      it was not asked: its compartment is full, or its breaker open
    ├── ServiceFailed    it was asked, and what came is no answer
    └── ServiceSilent    it was asked, and nothing came in time
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from app.clients.webhooks import WebhookRefused
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


class MethodRefused(HTTPException, WebError):
    """The path does not take this method; `allowed` are those that it takes."""

    def __init__(self, allowed: Collection[str]) -> None:
        super().__init__(405, "the path does not take this method", {"allow": ", ".join(sorted(allowed))})


class BodyTooSlow(HTTPException, WebError):
    """A body that did not arrive in time."""

    def __init__(self) -> None:
        super().__init__(408, "the body of the request did not arrive in time", {"connection": "close"})


class TooManyRequests(WebError):
    """One address asks more than its share; `retry_after_s` is when it may again."""

    def __init__(self, *, retry_after_s: int) -> None:
        super().__init__(f"too many requests from this address; again in {retry_after_s} s")
        self.retry_after_s = retry_after_s


class ServiceError(WebError):
    """The service called `service` did not answer."""

    def __init__(self, message: str, *, service: str) -> None:
        super().__init__(message)
        self.service = service


class ServiceBusy(ServiceError):
    """It was not asked: its compartment is full, or its breaker open."""

    def __init__(self, service: str, *, retry_after_s: int) -> None:
        super().__init__(f"{service} takes no calls right now; again in {retry_after_s} s", service=service)
        self.retry_after_s = retry_after_s


class ServiceFailed(ServiceError):
    """It was asked, and what came is no answer."""

    def __init__(self, service: str) -> None:
        super().__init__(f"{service} gave no answer that can be used", service=service)


class ServiceSilent(ServiceError):
    """It was asked, and nothing came in time."""

    def __init__(self, service: str) -> None:
        super().__init__(f"{service} did not answer in time", service=service)


class BodyTooLarge(HTTPException, WebError):
    """More bytes than a request may have; an HTTPException, since FastAPI turns others into 400 on its way."""

    def __init__(self) -> None:
        super().__init__(413, "the body of the request is too large", headers={"connection": "close"})


TABLE: Final[Mapping[type[Exception], tuple[int, str]]] = {
    shop.Unavailable: (503, "unavailable"),
    shop.SessionsLinger: (503, "sessions_linger"),
    shop.PaymentsUnavailable: (503, "payments_unavailable"),
    shop.Invalid: (422, "invalid"),
    shop.NotFound: (404, "not_found"),
    shop.EmailTaken: (409, "email_taken"),
    shop.BadCredentials: (401, "bad_credentials"),
    shop.AccountLocked: (403, "account_locked"),
    shop.LinkDead: (410, "link_dead"),
    shop.Forbidden: (403, "forbidden"),
    shop.ProofNeeded: (403, "proof_needed"),
    shop.LastOwner: (409, "last_owner"),
    shop.OrdersUnderWay: (409, "orders_under_way"),
    shop.TooManyAttempts: (429, "too_many_attempts"),
    shop.LoginNeeded: (401, "login_needed"),
    shop.CartLimit: (409, "cart_limit"),
    shop.CartEmpty: (409, "cart_empty"),
    shop.OutOfStock: (409, "out_of_stock"),
    shop.TotalChanged: (409, "total_changed"),
    shop.CartOrdered: (409, "cart_ordered"),
    shop.KeyInProgress: (409, "key_in_progress"),
    shop.KeyReused: (422, "key_reused"),
    shop.WrongStatus: (409, "wrong_status"),
    shop.PaymentRefused: (402, "payment_refused"),
    desk.AlreadyDone: (409, "already_done"),
    desk.ChangedMeanwhile: (409, "changed_meanwhile"),
    desk.SkuTaken: (409, "sku_taken"),
    shop.PaymentDeclined: (402, "payment_declined"),
    WebhookRefused: (401, "webhook_refused"),
    StoreUnavailable: (503, "session_unavailable"),
    SessionEnded: (409, "session_ended"),
    Refused: (409, "session_refused"),
    Malformed: (400, "malformed"),
    UnsupportedForm: (415, "unsupported_form"),
    WrongHost: (421, "wrong_host"),
    ForeignOrigin: (403, "foreign_origin"),
    BodyTooLarge: (413, "body_too_large"),
    Overdue: (503, "overdue"),
    MethodRefused: (405, "method_not_allowed"),
    BodyTooSlow: (408, "body_too_slow"),
    TooManyRequests: (429, "too_many_requests"),
    ServiceBusy: (503, "service_busy"),
    ServiceFailed: (502, "service_failed"),
    ServiceSilent: (504, "service_silent"),
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
    shop.WrongStatus: ("order_status",),
    shop.PaymentDeclined: ("reason",),
    WrongHost: ("home",),
    ServiceError: ("service",),
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
    told = next((_FACTS[kind] for kind in type(error).__mro__ if kind in _FACTS), ())
    facts = {name: getattr(error, name) for name in told}
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
