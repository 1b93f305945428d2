"""What a setting may look like in the environment, and the type it arrives as."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Annotated, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict

from app.clients.mail.config import mail_url, sender_of
from app.stores.pooler_words import MODE, WORD

PREFIX: Final = "CHOPHO_"

Network = IPv4Network | IPv6Network

_ADDRESS: Final = re.compile(r"(?:[^\[\]:@/,]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?|", re.ASCII)
"""A host and its port; a URL whose query names the hosts has none."""
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


class Environment(BaseModel):
    """What one kind of process reads."""

    model_config = ConfigDict(frozen=True)


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


def _hosts(given: str) -> str:
    """The URL with its hosts as SQLAlchemy takes several of them: to whichever of them can be written to."""
    parts = urlsplit(given)
    login, at, addresses = parts.netloc.rpartition("@")
    hosts = addresses.split(",")
    if not all(_ADDRESS.fullmatch(host) for host in hosts) or (len(hosts) > 1 and not all(hosts)):
        raise ValueError(
            "wants postgresql+psycopg://user:password@host:port/name, several hosts as one:5432,two:5432"
        )
    query = parse_qsl(parts.query)
    if any(value != MODE for name, value in query if name == WORD):
        raise ValueError(f"wants ?{WORD}={MODE} for a pooler of that mode, and no {WORD} otherwise")
    if len(hosts) > 1:
        addresses, query = "", [*(("host", host) for host in hosts), *query]
    if len([name for name, _ in query if name == "host"]) < 2:
        return given
    if "target_session_attrs" not in dict(query):
        query.append(("target_session_attrs", "read-write"))
    return f"{parts.scheme}://{login}{at}{addresses}{parts.path}?{urlencode(query)}"


def _scheme(*allowed: str) -> Callable[[str], str]:
    def checked(given: str) -> str:
        if given.partition("://")[0] not in allowed or "://" not in given:
            raise ValueError(f"wants a URL beginning with {' or '.join(f'{name}://' for name in allowed)}")
        return given

    return checked


def _sender(given: str) -> str:
    sender_of(given)
    return given


Duration = Annotated[timedelta, BeforeValidator(_duration)]
Keys = Annotated[tuple[str, ...], BeforeValidator(_keys)]
Networks = Annotated[tuple[Network, ...], BeforeValidator(_networks)]
Pairs = Annotated[tuple[tuple[str, str], ...], BeforeValidator(_named)]
Origin = Annotated[str, AfterValidator(_origin)]
DatabaseUrl = Annotated[str, AfterValidator(_scheme("postgresql+psycopg")), AfterValidator(_hosts)]
RedisUrl = Annotated[str, AfterValidator(_scheme("redis", "rediss"))]
SessionUrl = Annotated[str, AfterValidator(_scheme(*sorted(_SESSION_SCHEMES)))]
MailUrl = Annotated[str, AfterValidator(mail_url)]
Sender = Annotated[str, AfterValidator(_sender)]
