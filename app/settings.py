"""The only reader of the environment: checked once at the start, handed out as typed values."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Annotated, Final, Self, TypeVar
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from app.clients.webhooks import key_of
from app.services.payments.config import Consumer

PREFIX: Final = "CHOPHO_"

_SECRET_LEAST: Final = 32

Network = IPv4Network | IPv6Network

_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)", re.ASCII)
_NAME: Final = re.compile(r"[a-z0-9-]{1,40}", re.ASCII)
_UNITS_S: Final = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
_SESSION_SCHEMES: Final = frozenset(
    {"memory"}
    | {
        f"{tokens}{scheme}"
        for tokens in ("", "jwt+")
        for scheme in ("redis", "rediss", "redis+sentinel", "redis+cluster")
    }
)


class SettingsError(Exception):
    """A setting cannot be used: one line naming the variable, what it got and what it wants."""


def _duration(given: object) -> object:
    if not isinstance(given, str):
        return given
    found = _DURATION.fullmatch(given.strip())
    if found is None:
        raise ValueError("wants a duration such as 500ms, 8s, 30m or 12h")
    return timedelta(seconds=float(found[1]) * _UNITS_S[found[2]])


def _keys(given: object) -> object:
    if not isinstance(given, str):
        return given
    keys = tuple(key.strip() for key in given.split(","))
    if any(len(key.encode()) < 32 for key in keys):
        raise ValueError("wants comma-separated keys of at least 32 bytes each")
    if len(set(keys)) < len(keys):
        raise ValueError("wants different keys")
    return keys


def _named(given: object) -> object:
    if not isinstance(given, str):
        return given
    pairs = tuple(
        (name.strip(), value.strip()) for name, _, value in (part.partition("=") for part in given.split(","))
    )
    if not all(_NAME.fullmatch(name) and value for name, value in pairs):
        raise ValueError("wants comma-separated name=value pairs")
    return pairs


def _is_strong(secret: str) -> bool:
    try:
        return len(key_of(secret)) >= _SECRET_LEAST
    except ValueError:
        return False


def _networks(given: object) -> object:
    if not isinstance(given, str):
        return given
    try:
        return tuple(ip_network(part.strip()) for part in given.split(",") if part.strip())
    except ValueError as unusable:
        raise ValueError("wants comma-separated networks such as 127.0.0.1/32") from unusable


def _origin(given: str) -> str:
    parts = urlsplit(given)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username or parts.path.strip("/"):
        raise ValueError("wants an origin such as https://chopho.example")
    if parts.query or parts.fragment:
        raise ValueError("wants an origin without a query")
    return given.rstrip("/")


def _scheme(*allowed: str) -> Callable[[str], str]:
    def checked(given: str) -> str:
        if given.partition("://")[0] not in allowed or "://" not in given:
            raise ValueError(f"wants a URL beginning with {' or '.join(f'{name}://' for name in allowed)}")
        return given

    return checked


Duration = Annotated[timedelta, BeforeValidator(_duration)]
Pairs = Annotated[tuple[tuple[str, str], ...], BeforeValidator(_named)]
Origin = Annotated[str, AfterValidator(_origin)]
RedisUrl = Annotated[str, AfterValidator(_scheme("redis", "rediss"))]
SessionUrl = Annotated[str, AfterValidator(_scheme(*sorted(_SESSION_SCHEMES)))]


class _Environment(BaseModel):
    model_config = ConfigDict(frozen=True)


class Settings(_Environment):
    """What one replica of the shop needs to know."""

    database_url: Annotated[str, AfterValidator(_scheme("postgresql+psycopg"))] = Field(
        description="The shop's PostgreSQL; several hosts allowed."
    )
    database_pool_size: int = Field(10, ge=1, le=500, description="Connections of one replica.")
    session_url: SessionUrl = Field(
        description="The one switch of the session backend. `jwt+…?key_files=new.pem,old.pub` signs with keys from files."
    )
    session_also_accept: SessionUrl | None = Field(
        None, description="A second backend whose live sessions are still served."
    )
    redis_url: RedisUrl = Field(description="Rate limits and control.")
    cache_url: RedisUrl | None = Field(None, description="Degraded copies; by default REDIS_URL.")
    session_namespace: str = Field(
        "chopho:session", pattern=r"^[A-Za-z0-9:_-]{1,64}$", description="Prefix of every session key."
    )
    session_idle_timeout: Duration = Field(
        timedelta(minutes=30), gt=timedelta(0), description="A session ends this long after its last use."
    )
    session_absolute_timeout: Duration = Field(
        timedelta(hours=12), gt=timedelta(0), description="A session ends this long after it began."
    )
    session_revoke_replicas: int = Field(
        0,
        ge=0,
        le=10,
        description="Redis replicas that must have the end of a session before it is reported done.",
    )
    cookie_name: str = Field(
        "chopho_session", pattern=r"^[A-Za-z0-9_-]{1,64}$", description="Name of the session cookie."
    )
    cookie_secure: bool = Field(
        default=True, description="Secure flag and __Host- prefix; off only over plain http."
    )
    secret_keys: Annotated[tuple[str, ...], BeforeValidator(_keys)] = Field(
        description="At least 32 bytes each; the first signs, all verify."
    )
    public_url: Origin = Field(description="The origin that links, origin checks and Host checks use.")
    trusted_proxies: Annotated[tuple[Network, ...], BeforeValidator(_networks)] = Field(
        (IPv4Network("127.0.0.1/32"),), description="Whose X-Forwarded-* is believed."
    )
    replica_name: str | None = Field(
        None,
        pattern=r"^[A-Za-z0-9._:-]{1,64}$",
        description="Shown in X-Served-By, logs, metrics; by default host:port.",
    )
    drain_delay: Duration = Field(
        timedelta(seconds=8), ge=timedelta(0), description="Readiness says no and requests are still served."
    )
    shutdown_grace: Duration = Field(
        timedelta(seconds=30), ge=timedelta(0), description="Requests in flight may finish."
    )
    rate_limit: bool = Field(default=True, description="Abuse limits; failed log-ins are limited always.")


class ServiceSettings(_Environment):
    """What a process of any service around the shop needs to know."""

    database_url: Annotated[str, AfterValidator(_scheme("postgresql+psycopg"))] = Field(
        description="The PostgreSQL in which the service has a schema of its own."
    )
    database_pool_size: int = Field(10, ge=1, le=500, description="Connections of one process.")
    identity_public_key: Path = Field(description="File of the public key that verifies internal tokens.")
    faults_token: str | None = Field(
        None,
        min_length=16,
        pattern=r"^[!-~]+$",
        description="The operator's token for fault switches; without it there are none.",
    )
    drain_delay: Duration = Field(
        timedelta(0), ge=timedelta(0), description="Readiness says no and requests are still served."
    )
    shutdown_grace: Duration = Field(
        timedelta(seconds=30), ge=timedelta(0), description="Requests in flight may finish."
    )


class PaymentsServiceSettings(ServiceSettings):
    """What a process of the sandbox acquirer needs to know."""

    payments_public_url: Origin | None = Field(
        None, description="Where browsers find the acquirer's pages; by default http://host:port."
    )
    payments_slow: Duration = Field(
        timedelta(seconds=8), gt=timedelta(0), description="How long tok_slow takes."
    )
    webhooks: Pairs = Field((), description="Who hears of every event: name=url, separated by commas.")
    webhook_secrets: Pairs = Field(
        (),
        description="What their calls are signed with: name=secret; a name may come twice, for a rotation.",
    )
    webhook_timeout: Duration = Field(
        timedelta(seconds=5), gt=timedelta(0), description="A consumer acknowledges within this time."
    )

    @model_validator(mode="after")
    def _signed(self) -> Self:
        for name, url in self.webhooks:
            held = [secret for known, secret in self.webhook_secrets if known == name]
            if not held or not all(_is_strong(secret) for secret in held):
                raise ValueError(
                    f"CHOPHO_WEBHOOK_SECRETS wants {name}=secret for every consumer in CHOPHO_WEBHOOKS: "
                    f"at least {_SECRET_LEAST} bytes, or whsec_ and the Base64 of as many"
                )
            if urlsplit(url).scheme not in {"http", "https"}:
                raise ValueError(f"CHOPHO_WEBHOOKS wants {name}=http://… or https://…")
        return self

    def consumers(self) -> tuple[Consumer, ...]:
        """Who hears of every event."""
        return tuple(
            Consumer(
                name=name,
                url=url,
                secrets=tuple(secret for known, secret in self.webhook_secrets if known == name),
            )
            for name, url in self.webhooks
        )


class FleetSettings(_Environment):
    """What the local fleet may be told: the operator's own server programs."""

    haproxy: Path | None = Field(None, description="Path of a haproxy to use instead of the wheel's.")
    redis_server: Path | None = Field(
        None, description="Path of a redis-server to use instead of the wheel's."
    )
    postgres_bin: Path | None = Field(
        None, description="Folder of PostgreSQL's programs to use instead of the wheel's."
    )


Model = TypeVar("Model", bound=_Environment)

_MODELS: Final[tuple[type[_Environment], ...]] = (Settings, PaymentsServiceSettings, FleetSettings)


def read(model: type[Model], environment: Mapping[str, str] | None = None) -> Model:
    """The settings in the environment; raises `SettingsError` for the first that is unknown or unusable."""
    environment = os.environ if environment is None else environment
    _refuse_unknown(environment)
    given = {
        name.removeprefix(PREFIX).lower(): value
        for name, value in environment.items()
        if name.startswith(PREFIX) and value
    }
    try:
        return model.model_validate({name: given[name] for name in model.model_fields if name in given})
    except ValidationError as unusable:
        raise SettingsError(_one_line(unusable, given)) from None


def _known() -> set[str]:
    return {f"{PREFIX}{name}".upper() for model in _MODELS for name in model.model_fields}


def _refuse_unknown(environment: Mapping[str, str]) -> None:
    known = _known()
    for name in sorted(environment):
        if name.startswith(PREFIX) and name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]}?" if near else "; unset it"
            raise SettingsError(f"{name} is not a setting of Chợ Phố{hint}")


def _one_line(unusable: ValidationError, given: Mapping[str, str]) -> str:
    first = unusable.errors(include_url=False)[0]
    if not first["loc"]:
        return first["msg"].removeprefix("Value error, ")
    field = str(first["loc"][0])
    name = f"{PREFIX}{field}".upper()
    known = next(model.model_fields[field] for model in _MODELS if field in model.model_fields)
    meaning = known.description or ""
    if first["type"] == "missing":
        return f"{name} is not set; it is required: {meaning}"
    got = "a value that stays secret" if _is_secret(field) else repr(given.get(field, ""))
    return f"{name} is {got}; {first['msg'].removeprefix('Value error, ')}. {meaning}"


def _is_secret(field: str) -> bool:
    return field in {"secret_keys", "webhook_secrets", "faults_token"} or (
        field.endswith("_url") and not field.endswith("public_url")
    )
