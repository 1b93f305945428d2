"""Whether the database has what this release needs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from app.doctor.finding import Check, Fault, Severity
from app.doctor.subject import Silent, Subject
from app.shop.errors import Unavailable
from app.stores.migrations import current, head, knows


async def _look(subject: Subject) -> Sequence[Fault]:
    try:
        found = await asyncio.to_thread(current, subject.one.database_url)
    except Unavailable as away:
        raise Silent("the database does not answer") from away
    if found == head():
        return []
    if found is not None and not knows(found):
        return [
            Fault(
                severity=Severity.WARNING,
                what=f"the database is at revision {found}, which this release ({head()}) does not know",
                mend="run the newer release's chopho doctor; roll forward rather than back",
            )
        ]
    return [
        Fault(
            severity=Severity.ERROR,
            what=f"the database is at revision {found or 'none'}, and this release needs {head()}",
            mend="run chopho migrate",
        )
    ]


MIGRATIONS = Check(
    name="migrations",
    why="a release that looks for a table or column that is not there answers 503 on every page that needs it",
    look=_look,
)
