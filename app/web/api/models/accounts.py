"""Accounts, their passwords and their profiles."""

from __future__ import annotations

from datetime import datetime

from app.web.api.models.base import Input, Output, Text


class NewAccount(Input):
    """An account to be opened."""

    email: Text
    password: Text
    name: Text


class NewPassword(Input):
    """The password that counts now, and the one that shall."""

    current: Text
    new: Text


class PasswordGiven(Input):
    """The password, given again."""

    password: Text


class Forgotten(Input):
    """Whose password is forgotten."""

    email: Text


class Reset(Input):
    """The token of the mail's link, and the password that shall count."""

    token: Text
    new: Text


class ProfileIn(Input):
    """What an account tells of itself; an empty phone number is none."""

    name: Text
    phone: Text
    language: Text


class EmailWanted(Input):
    """The e-mail that the account shall have."""

    email: Text


class TokenGiven(Input):
    """The token of a mail's link."""

    token: Text


class AccountOut(Output):
    """An account."""

    id: str
    email: str
    name: str


class ProfileOut(Output):
    """An account, in full."""

    id: str
    email: str
    name: str
    phone: str
    language: str
    role: str
    created_at: datetime
