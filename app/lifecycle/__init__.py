"""A process that can be taken out of a balancer without anybody noticing.

    lifecycle = Lifecycle(LifecycleConfig(drain_delay=timedelta(seconds=8)))
    app.add_middleware(Probes, lifecycle=lifecycle)      # /health/liveness, /health/readiness
    raise SystemExit(serve(app, lifecycle, host="127.0.0.1", port=8000))

SIGTERM: readiness says 503 and every answer `Connection: close` at once, while everyone is still served for
`drain_delay`; then the listener closes, what is in flight finishes within `shutdown_grace`, the application's
lifespan ends, and the process exits 0. SIGQUIT is for whoever has already taken the process out of its balancer:
the same without the delay. A second signal forces. A thread ends the process with its stacks when the event loop
stands still (`WatchdogConfig`), and systemd is told of all of it (`Notifier`).
"""

from importlib import import_module
from typing import TYPE_CHECKING

from .in_flight import InFlight
from .notify import Notifier
from .phase import Lifecycle, LifecycleConfig, Phase
from .probes import LIVENESS, READINESS, Probes
from .watchdog import WatchdogConfig

if TYPE_CHECKING:
    from .server import serve


def __getattr__(name: str) -> object:
    """The server comes with uvicorn, which who only configures a process need not wait for."""
    if name != "serve":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(".server", __name__).serve


__all__ = [
    "LIVENESS",
    "READINESS",
    "InFlight",
    "Lifecycle",
    "LifecycleConfig",
    "Notifier",
    "Phase",
    "Probes",
    "WatchdogConfig",
    "serve",
]
