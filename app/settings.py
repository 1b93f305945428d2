"""The only reader of the environment: checked once at the start, handed out as typed values."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Annotated, Final, TypeVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

PREFIX: Final = "CHOPHO_"

Network = IPv4Network | IPv6Network

_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)", re.ASCII)
_UNITS_S: Final = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
_SESSION_SCHEMES: Final = frozenset(
    {"redis", "rediss", "redis+sentinel", "redis+cluster", "jwt+redis", "memory"}
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
    session_url: SessionUrl = Field(description="The one switch of the session backend.")
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
    cookie_name: str = Field(
        "chopho_session", pattern=r"^[A-Za-z0-9_-]{1,64}$", description="Name of the session cookie."
    )
    cookie_secure: bool = Field(
        default=True, description="Secure flag and __Host- prefix; off only over plain http."
    )
    secret_keys: Annotated[tuple[str, ...], BeforeValidator(_keys)] = Field(
        description="At least 32 bytes each; the first signs, all verify."
    )
    public_url: Annotated[str, AfterValidator(_origin)] = Field(
        description="The origin that links, origin checks and Host checks use."
    )
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


class FleetSettings(_Environment):
    """What the local fleet may be told: the operator's own server programs."""

    haproxy: Path | None = Field(None, description="Path of a haproxy to use instead of the wheel's.")
    redis_server: Path | None = Field(
        None, description="Path of a redis-server to use instead of the wheel's."
    )
    postgres_bin: Path | None = Field(
        None, description="Folder of PostgreSQL's programs to use instead of the wheel's."
    )


Model = TypeVar("Model", Settings, FleetSettings)


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
    return {f"{PREFIX}{name}".upper() for model in (Settings, FleetSettings) for name in model.model_fields}


def _refuse_unknown(environment: Mapping[str, str]) -> None:
    known = _known()
    for name in sorted(environment):
        if name.startswith(PREFIX) and name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]}?" if near else "; unset it"
            raise SettingsError(f"{name} is not a setting of Chợ Phố{hint}")


def _one_line(unusable: ValidationError, given: Mapping[str, str]) -> str:
    first = unusable.errors(include_url=False)[0]
    field = str(first["loc"][0])
    name = f"{PREFIX}{field}".upper()
    description = Settings.model_fields.get(field, FleetSettings.model_fields.get(field))
    meaning = description.description if description else ""
    if first["type"] == "missing":
        return f"{name} is not set; it is required: {meaning}"
    got = "a value that stays secret" if _is_secret(field) else repr(given.get(field, ""))
    return f"{name} is {got}; {first['msg'].removeprefix('Value error, ')}. {meaning}"


def _is_secret(field: str) -> bool:
    return field == "secret_keys" or (field.endswith("_url") and field != "public_url")
