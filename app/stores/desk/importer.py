"""Works on import jobs, in any replica: the file is read in a thread of its own, by a loop of its own."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from io import BytesIO
from typing import Final

from app.resilience import Full, Limiter
from app.shop.desk.jobs import Claimed
from app.shop.errors import Unavailable
from app.shop.importing import FileRefused, ImportCatalogue, Imported, Refusal
from app.stores.database import Database
from app.stores.desk.jobs import SqlJobs
from app.stores.imports import SqlImports, patient

_log = logging.getLogger(__name__)

_EVERY_S: Final = 2.0
_WORD_S: Final = 1.0
"""How often a worker says how far it is; pages ask every two seconds."""


class Stopped(Exception):
    """Nobody wants this import any more; nothing of it happened."""


@dataclass(slots=True)
class _Share:
    """What a thread tells of its work, and is told."""

    done: float = 0.0
    is_stopped: bool = False

    def tell(self, done: float) -> None:
        """Called from within the reading, now and then."""
        if self.is_stopped:
            raise Stopped
        self.done = done


@dataclass(frozen=True, slots=True, kw_only=True)
class Importer:
    """Takes jobs and carries them out, one at a time; whatever ends it leaves the job to another one.

    An import is one transaction and the same file again changes nothing, so a job that was done and not
    told of is done again to no harm.
    """

    jobs: SqlJobs
    url: str
    limiter: Limiter
    every_s: float = field(default=_EVERY_S)

    async def run(self) -> None:
        """Look again and again; while the database is away, nothing is lost."""
        while True:
            worked = False
            with suppress(Unavailable):
                worked = await self.once()
            if not worked:
                await asyncio.sleep(self.every_s)

    async def once(self) -> bool:
        """Carry out the next job; False when there is none."""
        claimed = await self.jobs.claim()
        if claimed is None:
            return False
        share = _Share()
        work = asyncio.ensure_future(self.limiter.run(_imported, self.url, claimed, share))
        try:
            await self._watch(claimed, work, share)
        except asyncio.CancelledError:
            share.is_stopped = True
            work.add_done_callback(_seen)
            with suppress(Unavailable):
                await self.jobs.release(claimed)
            raise
        await self._tell(claimed, work.exception(), None if work.exception() else work.result())
        return True

    async def _watch(self, claimed: Claimed, work: asyncio.Future[Imported], share: _Share) -> None:
        while not work.done():
            await asyncio.wait({work}, timeout=_WORD_S)
            with suppress(Unavailable):
                if not await self.jobs.keep(claimed, round(share.done, 3)):
                    share.is_stopped = True

    async def _tell(self, claimed: Claimed, error: BaseException | None, imported: Imported | None) -> None:
        match error:
            case None if imported is not None:
                await self.jobs.finish(claimed, "done", summary=_summary(imported))
            case FileRefused(refusals=refusals):
                await self.jobs.finish(claimed, "refused", refusals=[_refusal(each) for each in refusals])
            case Stopped():
                pass
            case Unavailable() | Full():
                await self.jobs.release(claimed)
            case _:
                _log.error("import %d failed", claimed.id, exc_info=error)
                await self.jobs.finish(claimed, "failed")


def _seen(work: asyncio.Future[Imported]) -> None:
    """Look at how it ended, which nobody waits for any more."""
    if not work.cancelled():
        work.exception()


def _imported(url: str, claimed: Claimed, share: _Share) -> Imported:
    """The import, in a thread; its own loop, so that reading rows never holds up a request."""

    async def work() -> Imported:
        database = Database(patient(url))
        try:
            importing = ImportCatalogue(imports=SqlImports(database=database))
            return await importing(
                BytesIO(claimed.content), name=claimed.file_name, terms=claimed.terms, progress=share.tell
            )
        finally:
            await database.close()

    return asyncio.run(work())


def _summary(imported: Imported) -> Mapping[str, object]:
    told = {**asdict(imported.summary), **asdict(imported.kept)}
    return {
        **told,
        "rate": str(imported.summary.rate),
        "ignored_columns": list(imported.summary.ignored_columns),
    }


def _refusal(refusal: Refusal) -> Mapping[str, object]:
    return asdict(refusal)
