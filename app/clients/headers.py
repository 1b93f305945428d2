"""Headers that the shop and its services agree on."""

from __future__ import annotations

from typing import Final

INTERNAL_TOKEN: Final = "X-Internal-Token"  # noqa: S105 -- the name of a header
"""Carries the token of `app.identity`; without a valid one a caller is anonymous."""
