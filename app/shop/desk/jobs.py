"""Catalogue files that an owner sends: kept as jobs, worked on by any replica, told about until they are done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, Protocol

from app.shop.desk.audit import Deed
from app.shop.errors import Invalid
from app.shop.importing import Terms
from app.shop.text import clean

JobStatus = Literal["queued", "running", "done", "refused", "failed"]

BYTES_MOST: Final = 9_500_000
"""Of a file: some 60,000 rows. Larger ones go by `chopho catalog import`."""

FILE_NAME_MOST: Final = 200
TRIES_MOST: Final = 3
"""Of one job: a file that ended as many replicas is left alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One file and what came of it: `summary` when it is done, `refusals` when it was refused."""

    id: int
    created_at: datetime
    email: str
    file_name: str
    terms: Terms
    status: JobStatus
    progress: float
    finished_at: datetime | None
    summary: Mapping[str, object]
    refusals: Sequence[Mapping[str, object]]

    @property
    def is_over(self) -> bool:
        """Whether nothing more will change."""
        return self.status not in {"queued", "running"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """A job that is this worker's as long as it says so again and again; `token` is the worker's own."""

    id: int
    token: str
    file_name: str
    terms: Terms
    content: bytes


class Jobs(Protocol):
    """The store of jobs. Raises `Unavailable`."""

    async def add(self, file_name: str, content: bytes, terms: Terms, deed: Deed) -> int:
        """Keep a file to be imported, once per form, with its audit entry; raises `AlreadyDone`."""

    async def find(self, job_id: int) -> Job | None:
        """The job, or None."""

    async def recent(self, *, most: int) -> Sequence[Job]:
        """The newest first."""


def checked_file(name: str, content: bytes) -> str:
    """The file's name as it will be kept, or `Invalid`."""
    if not content:
        raise Invalid("file", "must not be empty", code="missing")
    if len(content) > BYTES_MOST:
        raise Invalid("file", f"must have at most {BYTES_MOST} bytes", code="file_heavy")
    return clean("file", name, most=FILE_NAME_MOST, least=0) or "catalogue.csv"
