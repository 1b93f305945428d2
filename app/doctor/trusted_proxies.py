"""Who may say on whose behalf a request comes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from app.doctor.finding import Check, Fault, Severity
from app.doctor.subject import Subject
from app.settings import Settings

_MANY: Final = 2**16
"""Addresses in one trusted network; a subnet of balancers is far smaller."""


async def _look(subject: Subject) -> Sequence[Fault]:
    found = {fault.what: fault for settings in subject.settings.values() for fault in _faults(settings)}
    return list(found.values())


def _faults(settings: Settings) -> Sequence[Fault]:
    faults = []
    for network in settings.trusted_proxies:
        everyone = network.prefixlen == 0
        if everyone or not network.is_private or network.num_addresses > _MANY:
            who = "everybody" if everyone else f"{network.num_addresses:,} addresses"
            faults.append(
                Fault(
                    severity=Severity.ERROR if everyone else Severity.WARNING,
                    what=f"CHOPHO_TRUSTED_PROXIES has {network}: {who} may name any address as their own",
                    mend="name the balancers alone, such as 172.29.81.10/32",
                )
            )
    return faults


TRUSTED_PROXIES = Check(
    name="trusted-proxies",
    why="limits on log-ins and the log go by the address that X-Forwarded-For names: who is believed too easily "
    "guesses passwords without limit, under other people's addresses",
    look=_look,
)
