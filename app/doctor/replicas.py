"""What running replicas tell of themselves."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from http.client import HTTPException
from typing import Final, cast
from urllib.request import urlopen

from app.doctor.subject import CannotLook, Silent, Subject
from app.observability.about import About

_PATH: Final = "/internal/about"
_TIMEOUT_S: Final = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a replica said, and by how many seconds its clock is ahead of ours, give or take `unsure_s`."""

    about: About
    ahead_s: float
    unsure_s: float


async def ask_all(subject: Subject) -> dict[str, Told]:
    """Every replica that answers, by its name; raises `CannotLook` where none does."""
    if not subject.addresses:
        raise CannotLook("no replica runs here; examine a running fleet, or name replicas with --replica")
    asked = await asyncio.gather(
        *(asyncio.to_thread(_ask, address) for address in subject.addresses.values())
    )
    told = {name: answer for name, answer in zip(subject.addresses, asked, strict=True) if answer is not None}
    if not told:
        raise Silent(f"none of {', '.join(subject.addresses)} tells about itself")
    return told


def _ask(address: str) -> Told | None:
    before = time.time()
    try:
        with urlopen(address + _PATH, timeout=_TIMEOUT_S) as answer:  # noqa: S310 -- the operator's own replica
            about = cast("About", json.load(answer))
    except (OSError, HTTPException, ValueError):
        return None
    after = time.time()
    return Told(about=about, ahead_s=about["clock"] - (before + after) / 2, unsure_s=(after - before) / 2)
