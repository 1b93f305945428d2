"""Origins: scheme, host and port, as browsers compare them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Origin:
    """An http or https origin; `host` is lower case, ASCII, an IPv6 address in its brackets."""

    scheme: str
    host: str
    port: int

    @classmethod
    def parse(cls, url: str) -> Origin | None:
        """The origin of a URL that has nothing after it, or None."""
        try:
            parts = urlsplit(url)
            scheme, host, port = parts.scheme, parts.hostname, parts.port
            if scheme not in _DEFAULT_PORTS or not host or parts.path not in {"", "/"}:
                return None
            ascii_host = f"[{host}]" if ":" in host else host.encode("idna").decode()
        except ValueError:  # urlsplit, the port and the IDNA codec all refuse with it
            return None
        return cls(scheme, ascii_host, _DEFAULT_PORTS[scheme] if port is None else port)

    def __str__(self) -> str:
        is_default = self.port == _DEFAULT_PORTS[self.scheme]
        return f"{self.scheme}://{self.host}" + ("" if is_default else f":{self.port}")

    @property
    def is_secure(self) -> bool:
        """Whether browsers reach it through TLS."""
        return self.scheme == "https"

    @property
    def authorities(self) -> frozenset[bytes]:
        """Every Host header that names it: the default port may be said or left out."""
        with_port = f"{self.host}:{self.port}".encode()
        if self.port == _DEFAULT_PORTS[self.scheme]:
            return frozenset({with_port, self.host.encode()})
        return frozenset({with_port})

    @property
    def spellings(self) -> frozenset[bytes]:
        """Every Origin header that names it."""
        return frozenset(f"{self.scheme}://".encode() + authority for authority in self.authorities)
