"""What the shop charges besides its prices, as its owner has set it."""

from __future__ import annotations

from app.settings import Settings
from app.shop.pricing import Charges, ChargesRefused, parsed_charges, standard_charges


def charges_of(settings: Settings) -> Charges:
    """The charges of the file that is set, else those that ship; raises `ValueError` where it cannot be used."""
    if settings.charges_file is None:
        return standard_charges()
    try:
        return parsed_charges(settings.charges_file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ChargesRefused) as unusable:
        raise ValueError(f"CHOPHO_CHARGES_FILE cannot be used: {unusable}") from unusable
