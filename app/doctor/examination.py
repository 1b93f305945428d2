"""All checks, made side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from app.doctor.certificate import CERTIFICATE
from app.doctor.clocks import CLOCKS
from app.doctor.database_pools import DATABASE_POOLS
from app.doctor.demo_accounts import DEMO_ACCOUNTS_OPEN
from app.doctor.descriptors import DESCRIPTORS
from app.doctor.finding import Check, Finding, Severity
from app.doctor.health_checks import HEALTH_CHECKS
from app.doctor.migrations import MIGRATIONS
from app.doctor.redis_eviction import REDIS_EVICTION
from app.doctor.redis_persistence import REDIS_PERSISTENCE
from app.doctor.releases import RELEASES
from app.doctor.secret_keys import SECRET_KEYS
from app.doctor.stickiness import STICKINESS
from app.doctor.subject import CannotLook, Silent, Subject
from app.doctor.supervision import SUPERVISION
from app.doctor.timeouts import TIMEOUTS
from app.doctor.trusted_proxies import TRUSTED_PROXIES

CHECKS: Final[Sequence[Check]] = (
    HEALTH_CHECKS,
    SUPERVISION,
    STICKINESS,
    TIMEOUTS,
    REDIS_EVICTION,
    REDIS_PERSISTENCE,
    SECRET_KEYS,
    TRUSTED_PROXIES,
    DEMO_ACCOUNTS_OPEN,
    CERTIFICATE,
    MIGRATIONS,
    DATABASE_POOLS,
    RELEASES,
    CLOCKS,
    DESCRIPTORS,
)

_PATIENCE_S: Final = 15.0
"""For one check; each bounds its own waits well below."""


async def examine(subject: Subject, checks: Sequence[Check] = CHECKS) -> Sequence[Finding]:
    """Every finding, the worst first; one that has nothing to look at is a note."""
    found = await asyncio.gather(*(_examined(check, subject) for check in checks))
    return sorted((finding for some in found for finding in some), key=lambda one: -one.severity)


async def _examined(check: Check, subject: Subject) -> Sequence[Finding]:
    try:
        async with asyncio.timeout(_PATIENCE_S):
            faults = await check.look(subject)
    except Silent as silent:
        return [_silent(check, str(silent))]
    except CannotLook as nothing:
        return [_unseen(check, str(nothing))]
    except TimeoutError:
        return [_silent(check, f"no answer within {_PATIENCE_S:g} s")]
    return [
        Finding(check=check.name, severity=fault.severity, what=fault.what, why=check.why, mend=fault.mend)
        for fault in faults
    ]


def _silent(check: Check, what: str) -> Finding:
    return Finding(
        check=check.name,
        severity=Severity.ERROR,
        what=what,
        why=f"it could not be looked at, and if it is so: {check.why}",
        mend="see whether it runs, whether the address is right and reachable from here, and examine again",
    )


def _unseen(check: Check, reason: str) -> Finding:
    return Finding(
        check=check.name,
        severity=Severity.NOTE,
        what=f"not looked at: {reason}",
        why=check.why,
        mend="nothing, unless this shop has it",
    )
