"""What people may do about their accounts, besides coming in; ready to call."""

from __future__ import annotations

from dataclasses import dataclass

from app.shop.forgotten import ForgotPassword, ResetPassword
from app.shop.standing import Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """The use cases of accounts."""

    forgot_password: ForgotPassword
    reset_password: ResetPassword
    standing: Standing
