"""Doing several things of a fleet at once."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from app.fleet.errors import FleetError


async def together(*works: Coroutine[Any, Any, None]) -> None:
    """All of it; the first failure ends the others and is the one that is told."""
    try:
        async with asyncio.TaskGroup() as group:
            for work in works:
                group.create_task(work)
    except* FleetError as failures:
        raise failures.exceptions[0] from None
