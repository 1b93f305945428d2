"""What a local fleet consists of, and what each of its processes is told."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from app.clients.webhooks import SHOP_PATH
from app.fleet.errors import FleetError
from app.fleet.haproxy import SOCKET, HaproxyServer
from app.fleet.housekeeping import HouseRules
from app.fleet.postgres import PostgresServer
from app.fleet.processes import Command
from app.fleet.programs import Programs
from app.fleet.redis import RedisServer
from app.fleet.runtime import SLOTS
from app.fleet.state import StateDirectory
from app.settings import ServiceSettings, Settings, read

PAYMENTS: Final = "payments"
SERVICES: Final = (PAYMENTS, "reviews", "recommendations", "inventory")

_OURSELVES: Final = (sys.executable, "-m", "app")
# After its grace a replica closes its pools.
_CLOSING: Final = timedelta(seconds=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetOptions:
    """What the operator wants.

    `session_url` and `database_url` name servers of somebody else's; None: the fleet brings its own.
    `replica` is the command of one replica, to which ``--host … --port …`` is added; `services` are those
    of the services around the shop, by name, likewise; `preparation` the commands that must have succeeded
    before the first replica starts.
    """

    state: StateDirectory
    port: int = 8080
    replicas: int = 2
    session_url: str | None = None
    database_url: str | None = None
    liveness_limit: timedelta = timedelta(seconds=20)
    house_rules: HouseRules = field(default_factory=HouseRules)
    programs: Programs = field(default_factory=Programs)
    replica: Sequence[str] = (*_OURSELVES, "serve", "shop")
    services: Mapping[str, Sequence[str]] = field(
        default_factory=lambda: {name: (*_OURSELVES, "serve", name) for name in SERVICES}
    )
    preparation: Sequence[Sequence[str]] = ((*_OURSELVES, "migrate", "--sample-data"),)

    def __post_init__(self) -> None:
        if not 1 <= self.replicas <= SLOTS:
            raise FleetError(f"{self.replicas} replicas do not fit: haproxy.cfg has 1 to {SLOTS} slots")

    @property
    def names(self) -> Sequence[str]:
        """The replicas, named as their slots are."""
        return [f"app{number}" for number in range(1, self.replicas + 1)]

    @property
    def needed_ports(self) -> Sequence[str]:
        """What listens on a port of its own, besides the shop's door."""
        return ["redis", "postgres", "statistics", *self.services, *self.names]


@dataclass(frozen=True, slots=True)
class Topology:
    """The fleet, put together; building it looks every program up and starts nothing."""

    options: FleetOptions
    ports: Mapping[str, int]

    @property
    def url(self) -> str:
        """Where shoppers come in."""
        return f"http://127.0.0.1:{self.options.port}"

    @property
    def statistics_url(self) -> str:
        """HAProxy's statistics; its metrics are below, at /metrics."""
        return f"http://127.0.0.1:{self.ports['statistics']}/"

    @property
    def redis(self) -> RedisServer:
        """Rate limits and control, and the sessions unless they are kept elsewhere."""
        return RedisServer(
            program=self.options.programs.find_redis_server(),
            data=self.options.state.path / "redis",
            port=self.ports["redis"],
        )

    @property
    def postgres(self) -> PostgresServer:
        """The database, unless another one was given."""
        return PostgresServer(
            programs=self.options.programs.find_postgres_bin(),
            data=self.options.state.path / "postgres",
            port=self.ports["postgres"],
            password=self.options.state.secrets().database_password,
        )

    @property
    def haproxy(self) -> HaproxyServer:
        """The door."""
        return HaproxyServer(
            program=self.options.programs.find_haproxy(),
            port=self.options.port,
            statistics_port=self.ports["statistics"],
            socket=self.options.state.socket(SOCKET),
            server_state=self.options.state.path / "haproxy.state",
        )

    @property
    def database_url(self) -> str:
        """Where the shop's tables are."""
        return self.options.database_url or self.postgres.url("chopho")

    def redis_command(self) -> Command:
        """Redis writes its log to the end before it goes."""
        return Command(name="redis", argv=self.redis.argv(), port=self.ports["redis"])

    def postgres_command(self) -> Command:
        """SIGINT is PostgreSQL's fast shutdown: it ends clients' transactions and loses none that committed."""
        return Command(
            name="postgres",
            argv=self.postgres.argv(),
            port=self.ports["postgres"],
            stop_signal=signal.SIGINT,
            stop_timeout=timedelta(seconds=30),
        )

    def haproxy_command(self) -> Command:
        """It stops last of those that shoppers see, so it may go at once."""
        return Command(
            name="haproxy",
            argv=self.haproxy.argv(),
            environment=self.haproxy.environment(),
            port=self.options.port,
        )

    def replica_command(self, name: str) -> Command:
        """SIGQUIT: the fleet drains a replica in HAProxy first, so it need not wait to be noticed."""
        return Command(
            name=name,
            argv=[*self.options.replica, "--host", "127.0.0.1", "--port", str(self.ports[name])],
            environment={**self.settings(), "CHOPHO_REPLICA_NAME": name},
            port=self.ports[name],
            stop_signal=signal.SIGQUIT,
            stop_timeout=self.shop_settings().shutdown_grace + _CLOSING,
        )

    def service_command(self, name: str) -> Command:
        """SIGQUIT: it goes after the replicas, so nobody is left who would have to notice."""
        return Command(
            name=name,
            argv=[*self.options.services[name], "--host", "127.0.0.1", "--port", str(self.ports[name])],
            environment=self.service_settings(),
            port=self.ports[name],
            stop_signal=signal.SIGQUIT,
            stop_timeout=read(ServiceSettings, {**os.environ, **self.service_settings()}).shutdown_grace
            + _CLOSING,
        )

    def service_url(self, name: str) -> str:
        """Where a service is."""
        return f"http://127.0.0.1:{self.ports[name]}"

    def preparation_commands(self) -> Sequence[Command]:
        """What runs to its end before the first replica."""
        return [
            Command(
                name="prepare", argv=argv, environment={**self.settings(), "CHOPHO_REPLICA_NAME": "prepare"}
            )
            for argv in self.options.preparation
        ]

    def shop_settings(self) -> Settings:
        """What a replica will make of its environment; raises `SettingsError` as it would."""
        return read(Settings, {**os.environ, **self.settings()})

    def settings(self) -> Mapping[str, str]:
        """The settings of the shop in this fleet; others in the operator's environment pass through."""
        return {
            "CHOPHO_DATABASE_URL": self.database_url,
            "CHOPHO_SESSION_URL": self.options.session_url or self.redis.url,
            "CHOPHO_REDIS_URL": self.redis.url,
            "CHOPHO_SECRET_KEYS": self.options.state.secrets().session_key,
            "CHOPHO_PUBLIC_URL": self.url,
            # The local fleet speaks plain http on the loopback.
            "CHOPHO_COOKIE_SECURE": "false",
            "CHOPHO_TRUSTED_PROXIES": "127.0.0.1/32",
            # One machine is every client: limits by address would hit the operator's own load tests.
            "CHOPHO_RATE_LIMIT": "off",
            # Whoever learns here may see what services receive.
            "CHOPHO_GATEWAY_ECHO": "on",
            "PYTHONUNBUFFERED": "1",
            # Unless the operator names a mail server, mail is shown in the replicas' logs.
            "CHOPHO_MAIL_URL": os.environ.get("CHOPHO_MAIL_URL") or "console:",
            **self._downstream(),
        }

    def _downstream(self) -> Mapping[str, str]:
        if not self.options.services:
            return {}
        urls = {f"CHOPHO_{name.upper()}_URL": self.service_url(name) for name in self.options.services}
        return {
            **urls,
            "CHOPHO_IDENTITY_KEY": str(self.options.state.identity_key),
            "CHOPHO_PAYMENTS_WEBHOOK_SECRETS": self.options.state.secrets().webhook_secret,
        }

    def service_settings(self) -> Mapping[str, str]:
        """The settings of every service in this fleet; others in the operator's environment pass through."""
        return {
            "CHOPHO_DATABASE_URL": self.database_url,
            "CHOPHO_IDENTITY_PUBLIC_KEY": str(self.options.state.identity_public_key),
            "CHOPHO_FAULTS_TOKEN": self.options.state.secrets().faults_token,
            # What the acquirer tells of itself comes in by the shop's door.
            "CHOPHO_WEBHOOKS": f"shop={self.url}{SHOP_PATH}",
            "CHOPHO_WEBHOOK_SECRETS": f"shop={self.options.state.secrets().webhook_secret}",
            "PYTHONUNBUFFERED": "1",
        }
