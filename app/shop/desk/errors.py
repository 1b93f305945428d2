"""What the desk refuses, beside what the shop does.

ShopError
├── AlreadyDone        this form was carried out before
├── ChangedMeanwhile   somebody else changed it since it was shown; nothing changed
└── SkuTaken           another variant has this SKU; nothing changed
"""

from __future__ import annotations

from app.shop.errors import ShopError


class AlreadyDone(ShopError):
    """This form was carried out before, as `action` on `subject`; browsers send forms again by themselves."""

    def __init__(self, *, action: str, subject: str) -> None:
        super().__init__("this form was carried out already")
        self.action = action
        self.subject = subject


class ChangedMeanwhile(ShopError):
    """Somebody else changed it since it was shown; nothing changed now, and nothing is lost."""


class SkuTaken(ShopError):
    """Another variant has this SKU; nothing changed."""
