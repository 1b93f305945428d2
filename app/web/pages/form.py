"""A page with a form: shown, sent, and shown again with what was typed and why it did not do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, cast
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from app.shop import errors as shop
from app.shop.desk import errors as desk
from app.web.errors import Problem, problem_of
from app.web.forms import NOTHING_TYPED, Form, read_form
from app.web.pages.page import View, html
from app.web.proof import FIELD, prove
from app.web.redirects import PROOF, detour
from app.web.templating import new_nonce

SHOWN_AGAIN: Final = (
    shop.Invalid,
    shop.EmailTaken,
    shop.BadCredentials,
    shop.AccountLocked,
    shop.LastOwner,
    shop.OrdersUnderWay,
    shop.TooManyAttempts,
    shop.CartLimit,
    shop.CartEmpty,
    shop.OutOfStock,
    shop.TotalChanged,
    shop.KeyInProgress,
    shop.KeyReused,
    shop.PaymentRefused,
    desk.ChangedMeanwhile,
    desk.SkuTaken,
    shop.WrongStatus,
    shop.LastOwner,
    shop.PaymentsUnavailable,
)
"""What the shopper can mend in the form; everything else is answered like any other error."""


_ANSWERED: Final = frozenset({"key_reused", "payment_declined", "wrong_status", "last_owner"})
"""The nonce got its answer for good: another attempt needs another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What a form shows: what was typed so far, and the problem with it."""

    typed: Form = NOTHING_TYPED
    problem: Problem | None = None

    @property
    def status(self) -> int:
        """The status of the page that shows it."""
        return 200 if self.problem is None else self.problem.status

    @property
    def nonce(self) -> str:
        """The same for the same attempt, so that sending it again cannot do it twice."""
        try:
            nonce = self.typed.nonce()
        except shop.Invalid:
            return new_nonce()
        return new_nonce() if self.problem is not None and self.problem.code in _ANSWERED else nonce

    def value(self, name: str) -> str:
        """What the field holds."""
        return self.typed.shown(name)

    def fault(self, name: str) -> str:
        """Why the field does not do, "" when it does."""
        return self._faults.get(name, "")

    def message(self, *told: str) -> str:
        """The problem in one sentence; the fault itself where none of the fields that tell theirs has it."""
        untold = [message for name, message in self._faults.items() if name not in told]
        return untold[0] if untold else self.problem.message if self.problem else ""

    @property
    def _faults(self) -> Mapping[str, str]:
        """By the last part of the field's dotted name, as the form calls it."""
        errors = cast(list[Mapping[str, str]], self.problem.facts.get("errors", [])) if self.problem else []
        return {error["field"].rpartition(".")[2]: error["message"] for error in errors}


UNTOUCHED: Final = Entry()

Show = Callable[[Request, Entry], Awaitable[Response]]
Submit = Callable[[Request, Form], Awaitable[Response]]
Read = Callable[[Request], Awaitable[Form]]


def form_view(show: Show, submit: Submit, *, read: Read = read_form) -> View:
    """A view that shows the form, and carries it out when it is sent; `read` reads what was sent."""

    async def view(request: Request) -> Response:
        if request.method != "POST":
            return await show(request, UNTOUCHED)
        form = await read(request)
        if FIELD in form.values and request.url.path != PROOF:
            try:
                await prove(request, form.text(FIELD))
            except (shop.Invalid, shop.TooManyAttempts) as refused:
                return await _proof(request, form, problem_of(refused))
        try:
            return await submit(request, form)
        except shop.ProofNeeded:
            return await _proof(request, form, None)
        except SHOWN_AGAIN as refused:
            if (away := detour(request, refused)) is not None:
                return away
            problem = problem_of(refused)
            response = await show(request, Entry(typed=form, problem=problem))
            response.headers.update(problem.headers)
            return response

    return view


async def _proof(request: Request, form: Form, problem: Problem | None) -> Response:
    """The form again, with a place for the password and everything else kept as it was sent."""
    answer = await html(
        request,
        "proof.html",
        status=HTTPStatus.FORBIDDEN if problem is None else problem.status,
        entry=Entry(problem=problem),
        action=quote(request.scope["path"]),
        kept=form.open(),
    )
    if problem is not None:
        answer.headers.update(problem.headers)
    return answer
