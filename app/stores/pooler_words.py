"""How a database's URL says that a pooler stands before it; apart, for who reads URLs and opens no database."""

from __future__ import annotations

from typing import Final

WORD: Final = "pooler"
MODE: Final = "transaction"
"""The one mode that needs anything of us; one connection for each client is as good as none between."""
