"""Everything the acquirer refuses.

AcquirerError
├── Refused            the payment's state or the ledger does not allow it; nothing changed
├── NoSuchPayment      this merchant has no such payment
├── KeyInProgress      the same idempotency key is being worked on
├── KeyReused          the same idempotency key came with another request
└── TooLate            the caller has given up meanwhile; nothing changed
"""

from __future__ import annotations


class AcquirerError(Exception):
    """The acquirer refused, and says why in one sentence; `code` is stable."""

    code = "refused"


class Refused(AcquirerError):
    """The payment's state or the ledger does not allow it; nothing changed."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class NoSuchPayment(AcquirerError):
    """This merchant has no such payment."""

    code = "payment_not_found"

    def __init__(self) -> None:
        super().__init__("no such payment")


class KeyInProgress(AcquirerError):
    """The same idempotency key is being worked on; ask again."""

    code = "key_in_progress"
    retry_after_s = 1

    def __init__(self) -> None:
        super().__init__("a request with this key is in progress")


class KeyReused(AcquirerError):
    """The same idempotency key came with another request before."""

    code = "key_reused"

    def __init__(self) -> None:
        super().__init__("this key was used for another request")


class TooLate(AcquirerError):
    """The caller has given up meanwhile; nothing changed."""

    code = "deadline_passed"

    def __init__(self) -> None:
        super().__init__("the deadline of the request has passed; nothing was done")
