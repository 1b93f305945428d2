"""Everything the library can refuse, one leaf per decision the caller can make.

ResilienceError
├── Misconfigured           a configuration that cannot work; raised when it is made
├── Refused                 the call was not made and the downstream heard nothing: shed, or fall back
│   ├── Full                a compartment has no place left; our own overload
│   └── NotPermitted        a breaker keeps calls away from a dependency that fails
└── DeadlineExceeded        time ran out (also a TimeoutError)
    ├── TimedOut            the dependency used up the time it is given: fall back
    └── BudgetSpent         the caller's own time is over: give up
"""

from __future__ import annotations


class ResilienceError(Exception):
    """The library refused, and says why in one sentence."""


class Misconfigured(ResilienceError, ValueError):
    """A configuration that cannot work, in one line: the field, what it got, what it wants."""


class Refused(ResilienceError):
    """The call was not made; `retry_after_s` is when asking again makes sense."""

    def __init__(self, message: str, *, name: str, retry_after_s: float) -> None:
        super().__init__(message)
        self.name = name
        self.retry_after_s = retry_after_s


class Full(Refused):
    """The compartment `name` has no place left."""

    def __init__(self, name: str, *, retry_after_s: float) -> None:
        super().__init__(f"{name} is full", name=name, retry_after_s=retry_after_s)


class NotPermitted(Refused):
    """The breaker `name` is in `state` and lets no call through."""

    def __init__(self, name: str, *, state: str, retry_after_s: float) -> None:
        super().__init__(
            f"{name} is {state}, try again in {retry_after_s:.1f} s", name=name, retry_after_s=retry_after_s
        )
        self.state = state


class DeadlineExceeded(ResilienceError, TimeoutError):
    """Time ran out after `allowed_s`."""

    def __init__(self, message: str, *, allowed_s: float) -> None:
        super().__init__(message)
        self.allowed_s = allowed_s


class TimedOut(DeadlineExceeded):
    """The dependency used up the time it is given."""

    def __init__(self, *, allowed_s: float) -> None:
        super().__init__(f"no answer within {allowed_s:.3f} s", allowed_s=allowed_s)


class BudgetSpent(DeadlineExceeded):
    """The caller's time is over, before the dependency had all it is given; `allowed_s` is 0 if it had none."""

    def __init__(self, *, allowed_s: float) -> None:
        super().__init__(f"the caller's time is over, {allowed_s:.3f} s were left", allowed_s=allowed_s)
