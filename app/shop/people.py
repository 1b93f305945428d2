"""What people may do about their accounts, besides coming in; ready to call."""

from __future__ import annotations

from dataclasses import dataclass

from app.shop.addresses import Addresses, KeepAddress
from app.shop.emails import ChangeEmail, ConfirmEmail
from app.shop.forgotten import ForgotPassword, ResetPassword
from app.shop.password import CheckPassword
from app.shop.personal import EraseData, ExportData
from app.shop.profile import ChangeProfile
from app.shop.standing import Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """The use cases of accounts."""

    check_password: CheckPassword
    change_profile: ChangeProfile
    addresses: Addresses
    keep_address: KeepAddress
    change_email: ChangeEmail
    confirm_email: ConfirmEmail
    forgot_password: ForgotPassword
    reset_password: ResetPassword
    standing: Standing
    export_data: ExportData
    erase_data: EraseData
