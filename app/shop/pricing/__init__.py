"""What an order costs: pure arithmetic in whole đồng, with every rate as data."""

from app.shop.pricing.charges import Charges, ChargesRefused, parsed_charges, standard_charges
from app.shop.pricing.provinces import PROVINCES, Province, province_of
from app.shop.pricing.quotes import Goods, Quote, QuoteLine, quoted
from app.shop.pricing.vouchers import (
    KnownVoucher,
    Voucher,
    bounded,
    checked_voucher,
    discount_of,
    voucher_code,
)

__all__ = [
    "PROVINCES",
    "Charges",
    "ChargesRefused",
    "Goods",
    "KnownVoucher",
    "Province",
    "Quote",
    "QuoteLine",
    "Voucher",
    "bounded",
    "checked_voucher",
    "discount_of",
    "parsed_charges",
    "province_of",
    "quoted",
    "standard_charges",
    "voucher_code",
]
