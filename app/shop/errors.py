"""Everything the shop can refuse, one leaf per decision the caller can make.

ShopError
├── Unavailable            a store could not be asked in time; nothing happened
│   ├── SessionsLinger     it is done, and the sessions it ends end later
│   └── PaymentsUnavailable  no payment by card now; no order was placed, and nothing stays charged
├── Invalid                a value that no retry will make right
├── NotFound               no such product, order or page of them for this caller
├── EmailTaken             the e-mail belongs to an account already
├── BadCredentials         unknown e-mail or wrong password, on purpose not told apart
├── AccountLocked          the right password, of an account that nobody may use
├── LinkDead               the link of a mail that was used, is over, or was never ours
├── Forbidden              not for this account
├── ProofNeeded            the password was given too long ago for this
├── LastOwner              nobody would be left to run the shop; nothing changed
├── OrdersUnderWay         an order still needs the account; nothing changed
├── TooManyAttempts        slow down, then try again
├── LoginNeeded            this needs an account
├── CartLimit              the line would pass its limit; nothing changed
├── CartEmpty              nothing to order
├── OutOfStock             fewer units left than asked for; nothing changed
├── TotalChanged           the price is no longer the one shown; nothing changed
├── CartOrdered            this cart became an order already
├── KeyInProgress          the same idempotency key is being worked on
├── KeyReused              the same idempotency key came with another request
├── WrongStatus            the order is in no status for this; nothing changed
└── PaymentRefused         the means of payment is not accepted; nothing was charged
    └── PaymentDeclined    the bank said no; another means may do
"""

from __future__ import annotations


class ShopError(Exception):
    """The shop refused, and says why in one sentence."""


class Unavailable(ShopError):
    """A store could not be asked in time; nothing happened, and a retry may succeed."""

    def __init__(self, what: str, *, retry_after_s: int = 2) -> None:
        super().__init__(f"{what} cannot answer right now")
        self.what = what
        self.retry_after_s = retry_after_s


class SessionsLinger(Unavailable):
    """It is done; the sessions that it ends end as soon as their store answers, without being asked."""

    def __init__(self) -> None:
        super().__init__("the end of the sessions")


class PaymentsUnavailable(Unavailable):
    """No payment by card right now: no order was placed, and whatever the bank may hold is let go."""

    def __init__(self, *, retry_after_s: int = 2) -> None:
        super().__init__("the bank", retry_after_s=retry_after_s)


class Invalid(ShopError):
    """A value that no retry will make right; `field` names it in dotted form, `code` is stable."""

    def __init__(self, field: str, message: str, *, code: str = "invalid") -> None:
        super().__init__(message)
        self.field = field
        self.message = message
        self.code = code


class NotFound(ShopError):
    """No such thing for this caller; a foreign order is not found either."""

    def __init__(self, what: str) -> None:
        super().__init__(f"no such {what}")
        self.what = what


class EmailTaken(ShopError):
    """The e-mail belongs to an account already, whatever its spelling."""


class BadCredentials(ShopError):
    """Unknown e-mail or wrong password; nobody is told which."""


class AccountLocked(ShopError):
    """The shop has locked this account; told only to whoever knows its password."""


class LinkDead(ShopError):
    """The link of a mail that was used, has expired, or was never ours; nobody is told which."""


class Forbidden(ShopError):
    """Not for this account, whoever uses it."""


class ProofNeeded(ShopError):
    """The password was given too long ago for this; nothing happened, and it may be given now."""


class LastOwner(ShopError):
    """Nobody would be left to run the shop; nothing changed."""


class OrdersUnderWay(ShopError):
    """An order of this account is under way and still needs it; nothing changed."""


class TooManyAttempts(ShopError):
    """Slow down; the account itself is never locked by strangers' attempts."""

    def __init__(self, *, retry_after_s: int) -> None:
        super().__init__(f"too many attempts, try again in {retry_after_s} s")
        self.retry_after_s = retry_after_s


class LoginNeeded(ShopError):
    """This needs an account, and nobody is logged in."""


class CartLimit(ShopError):
    """The line would pass `at_most`, or the cart its number of lines; nothing changed."""

    def __init__(self, sku: str, *, at_most: int) -> None:
        super().__init__(f"at most {at_most} of {sku} fit into the cart")
        self.sku = sku
        self.at_most = at_most


class CartEmpty(ShopError):
    """Nothing to order."""


class OutOfStock(ShopError):
    """Fewer units left than asked for; nothing changed."""

    def __init__(self, sku: str, *, left: int) -> None:
        super().__init__(f"{sku} has {left} left")
        self.sku = sku
        self.left = left


class TotalChanged(ShopError):
    """The total is no longer the one the shopper saw; nothing changed."""

    def __init__(self, *, expected: int, actual: int) -> None:
        super().__init__(f"the total is {actual}, not {expected}")
        self.expected = expected
        self.actual = actual


class CartOrdered(ShopError):
    """This cart became the order `order_id` already."""

    def __init__(self, order_id: str) -> None:
        super().__init__(f"this cart became order {order_id}")
        self.order_id = order_id


class KeyInProgress(ShopError):
    """The same idempotency key is being worked on; `order_id` is the order it may become, if that is known."""

    retry_after_s = 1

    def __init__(self, order_id: str | None = None) -> None:
        super().__init__("another request with this idempotency key is being worked on")
        self.order_id = order_id


class KeyReused(ShopError):
    """The same idempotency key came with another request; nothing happened."""


class WrongStatus(ShopError):
    """The order is in `order_status`, from which this step does not exist; nothing changed."""

    def __init__(self, status: str) -> None:
        super().__init__(f"the order is {status}, and there is no such step from there")
        self.order_status = status


class PaymentRefused(ShopError):
    """The means of payment is not accepted; nothing was charged."""


class PaymentDeclined(PaymentRefused):
    """The bank said no, for the acquirer's `reason`; nothing was charged, the cart is as it was."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the bank declined the payment: {reason}")
        self.reason = reason
