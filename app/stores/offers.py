"""Names and prices in the process: a snapshot of the catalogue, at most 2 s old."""

from __future__ import annotations

from app.shop.catalog import Offer, Sku
from app.stores.snapshot import Snapshot


class OffersSnapshot(Snapshot[Sku, Offer]):
    """The offers of a catalogue; call it as the cart's `Offers`."""
