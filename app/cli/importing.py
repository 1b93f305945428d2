"""Importing much at once."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def importing() -> Iterator[None]:
    """For the block the collector rests: what is imported stays, and looking at it again and again costs a tenth."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
