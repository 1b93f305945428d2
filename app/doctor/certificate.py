"""How long the shop's certificate is still good."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import urlsplit

from cryptography import x509

from app.doctor.finding import Check, Fault, Severity
from app.doctor.subject import Silent, Subject
from app.settings import Settings

_TIMEOUT_S: Final = 3.0
_SOON: Final = timedelta(days=21)
"""Those who renew by themselves do so 30 days ahead; less than this means that it failed."""


async def _look(subject: Subject) -> Sequence[Fault]:
    address = urlsplit(subject.one.public_url)
    if address.scheme != "https":
        return [] if subject.is_local else _plain(subject.one)
    host, port = address.hostname or "", address.port or 443
    ends = await asyncio.to_thread(_ends, host, port)
    return judged(ends, now=datetime.now(UTC), where=f"{host}:{port}")


def _plain(settings: Settings) -> Sequence[Fault]:
    return [
        Fault(
            severity=Severity.WARNING,
            what=f"{settings.public_url} is plain http: session cookies and passwords can be read on the way",
            mend="put TLS in front of the shop, set CHOPHO_PUBLIC_URL to https and CHOPHO_COOKIE_SECURE to true",
        )
    ]


def judged(ends: datetime, *, now: datetime, where: str) -> Sequence[Fault]:
    """What to say of a certificate that ends then."""
    left = ends - now
    if left > _SOON:
        return []
    ended = left <= timedelta(0)
    days = f"{ends:%Y-%m-%d %H:%M} UTC"
    return [
        Fault(
            severity=Severity.ERROR if ended else Severity.WARNING,
            what=f"the certificate of {where} ended at {days}"
            if ended
            else f"the certificate of {where} ends at {days}",
            mend="renew it, put it where the balancer reads it, and reload the balancer",
        )
    ]


def _ends(host: str, port: int) -> datetime:
    context = ssl.create_default_context()
    # An ended certificate must be read as well; nothing is sent over this connection.
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with (
            socket.create_connection((host, port), timeout=_TIMEOUT_S) as raw,
            context.wrap_socket(raw, server_hostname=host) as connection,
        ):
            certificate = connection.getpeercert(binary_form=True)
    except OSError as away:
        raise Silent(f"{host}:{port} shows no certificate") from away
    if certificate is None:
        raise Silent(f"{host}:{port} shows no certificate")
    return x509.load_der_x509_certificate(certificate).not_valid_after_utc


CERTIFICATE = Check(
    name="certificate",
    why="what goes in the clear is read on the way; and on the day a certificate ends every browser turns every shopper away, and nothing in the shop's own log says so",
    look=_look,
)
