"""Work that goes on beside the requests, from the start of the process to its end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

_log = logging.getLogger(__name__)

_HEARD_WITHIN_S: Final = 1.0


@asynccontextmanager
async def in_background(*works: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Each work goes on until the block ends; one that fails is logged and harms nobody else."""
    tasks = [asyncio.create_task(work, name=getattr(work, "__qualname__", "work")) for work in works]
    for task in tasks:
        task.add_done_callback(_tell)
    try:
        yield
    finally:
        await _ended(tasks)


async def _ended(tasks: Sequence[asyncio.Task[None]]) -> None:
    """Cancel until it is heard: a client library may take one cancellation for a timeout of its own."""
    while waiting := [task for task in tasks if not task.done()]:
        for task in waiting:
            task.cancel()
        await asyncio.wait(waiting, timeout=_HEARD_WITHIN_S)


def _tell(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and task.exception() is not None:
        _log.error("background work %s failed", task.get_name(), exc_info=task.exception())
