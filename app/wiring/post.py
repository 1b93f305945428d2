"""The postman of a replica and the mail server it goes to, as the settings name it."""

from __future__ import annotations

import logging
import sys
from typing import Final
from urllib.parse import urlsplit

from app.clients.mail.config import CONSOLE, LettersConfig, SmtpConfig
from app.clients.mail.console import Console
from app.clients.mail.letters import Letters
from app.clients.mail.smtp import SmtpServer
from app.observability.health import Check
from app.observability.mail_metrics import MailMetrics
from app.observability.observability import Observability
from app.observability.writer import LineWriter
from app.resilience import Bulkhead, BulkheadConfig
from app.settings import Settings
from app.shop.mail import MailServer
from app.stores.database import Database
from app.stores.outbox import SqlOutbox
from app.stores.postman import Postman
from app.wiring.people import preparations_of

_log = logging.getLogger(__name__)

_AT_ONCE: Final = 4
"""Mails on their way from one replica: many mail servers take no more connections of one client."""


def postman_of(
    settings: Settings, database: Database, observability: Observability, writer: LineWriter | None
) -> Postman | None:
    """The postman, shown to the operator; None where no mail server is named, and mail waits."""
    server = _server(settings, writer)
    if server is None:
        _log.warning("CHOPHO_MAIL_URL is not set: mail waits in the outbox, and nobody sends it")
        return None
    slots = Bulkhead(
        "mail", BulkheadConfig(max_concurrent_calls=_AT_ONCE), listeners=[observability.resilience]
    )
    metrics = MailMetrics(observability.registry)
    postman = Postman(
        SqlOutbox(database=database),
        server,
        slots,
        preparations=preparations_of(database),
        listeners=[metrics],
    )
    metrics.watch(lambda: postman.backlog)
    _show(observability, slots, server)
    return postman


def _server(settings: Settings, writer: LineWriter | None) -> MailServer | None:
    if settings.mail_url is None:
        return None
    sender = settings.mail_from or f"Chợ Phố <shop@{urlsplit(settings.public_url).hostname}>"
    letters = Letters(LettersConfig(sender=sender, public_url=settings.public_url))
    if settings.mail_url == CONSOLE:
        return Console(letters=letters, say=_print if writer is None else writer.write)
    return SmtpServer(config=SmtpConfig.parse(settings.mail_url), letters=letters)


def _print(line: bytes) -> None:
    sys.stdout.buffer.write(line)
    sys.stdout.flush()


def _show(observability: Observability, slots: Bulkhead, server: MailServer) -> None:
    observability.resilience.add(slots)
    observability.compartments.add(
        observability.resilience.slots(
            slots,
            shared_by=("every mail of this replica",),
            dies="nothing: mail waits in the outbox, and no page waits for mail",
        )
    )
    observability.components.add(
        Check(
            name="mail",
            look=server.look,
            essential=False,
            without="mail waits in the outbox and is sent later",
            timeout_s=5.0,
            every_s=60.0,
        )
    )
