"""What one process can tell of itself to whoever compares it with others."""

from __future__ import annotations

import resource
import time
from typing import TypedDict

import psutil

from app.observability.release import release


class About(TypedDict):
    """Its release, its clock (Unix time in seconds), and its open files beside how many it may have."""

    release: str
    clock: float
    open_files: int
    open_files_limit: int


def about() -> About:
    """All of it, now."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return {
        "release": release(),
        "clock": time.time(),
        "open_files": psutil.Process().num_fds(),
        "open_files_limit": limit,
    }
