"""Who calls a service: what a valid internal token says, and nobody without one."""

from __future__ import annotations

from typing import Final

from fastapi import Request
from starlette.exceptions import HTTPException

from app.clients.headers import INTERNAL_TOKEN
from app.identity import Caller, Verifier

SERVICE: Final = "service"
"""The role of a program that calls for itself and not for a person."""


def caller_of(request: Request) -> Caller | None:
    """The caller, or None: anonymous."""
    verifier: Verifier = request.app.state.verifier
    return verifier.verify(request.headers.get(INTERNAL_TOKEN))


def required_caller(request: Request) -> Caller:
    """The caller; an anonymous one is answered 401."""
    caller = caller_of(request)
    if caller is None:
        raise HTTPException(401, "this needs a valid internal token", {"WWW-Authenticate": "Internal"})
    return caller


def required_program(request: Request) -> str:
    """The name of the program that calls; a token made for a person is answered 403."""
    caller = required_caller(request)
    if caller.role != SERVICE:
        raise HTTPException(403, "this is for programs; the token is a person's")
    return caller.subject
