"""Who calls a service: what a valid internal token says, and nobody without one."""

from __future__ import annotations

from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request

from app.clients.headers import INTERNAL_TOKEN
from app.identity import Caller, Verifier

SERVICE: Final = "service"
"""The role of a program that calls for itself and not for a person."""

OWNER: Final = "owner"


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


def required_person(request: Request) -> Caller:
    """The person the call is made for; a program is answered 403, and so is a token that names nobody."""
    caller = required_caller(request)
    if caller.role == SERVICE or not caller.name:
        raise HTTPException(403, "this is for people; the token names none")
    return caller


def required_owner(request: Request) -> Caller:
    """The shop's owner; anybody else is answered 403."""
    caller = required_caller(request)
    if caller.role != OWNER:
        raise HTTPException(403, "this is for the shop's owner")
    return caller


def required_program(request: Request) -> str:
    """The name of the program that calls; a token made for a person is answered 403."""
    caller = required_caller(request)
    if caller.role != SERVICE:
        raise HTTPException(403, "this is for programs; the token is a person's")
    return caller.subject
