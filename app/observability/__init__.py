"""What a replica shows of itself: logs, metrics, health, and who shares what.

    with logging_to(2, replica="app1") as writer:
        observability = Observability(ObservabilityConfig(replica="app1", phase=…, phases=…), writer=writer)
        breaker = Breaker("payments", listeners=[observability.resilience])
        observability.resilience.add(breaker)
        observability.compartments.add(database_pool("database", database, shared_by=…, dies=…))
        observability.components.add(Check(name="redis", look=…, essential=True, without=…))
        observability.install(app)                  # last, so that it is outermost
        async with observability.running(): …       # in the lifespan

One line of JSON for each request and each log record, without paths, queries, cookies, tokens, e-mails or
phone numbers; ``/metrics`` for Prometheus, ``/health`` for people, ``/internal/compartments`` for `chopho`.
"""

from app.observability.background import in_background
from app.observability.compartments import Compartment, Compartments, Usage
from app.observability.health import Check, Components
from app.observability.logs import logging_to
from app.observability.mail_metrics import MailMetrics
from app.observability.observability import Observability, ObservabilityConfig
from app.observability.requests import RequestLog
from app.observability.sources import database_pool, http_pool, redis_pool
from app.observability.writer import LineWriter

__all__ = [
    "Check",
    "Compartment",
    "Compartments",
    "Components",
    "LineWriter",
    "MailMetrics",
    "Observability",
    "ObservabilityConfig",
    "RequestLog",
    "Usage",
    "database_pool",
    "http_pool",
    "in_background",
    "logging_to",
    "redis_pool",
]
