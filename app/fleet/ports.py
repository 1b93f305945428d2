"""Ports of 127.0.0.1."""

from __future__ import annotations

import errno
import random
from collections.abc import Mapping, Sequence
from contextlib import closing
from socket import SO_REUSEADDR, SOL_SOCKET, socket
from typing import Final

import psutil

from app.fleet.errors import PortInUse

# Below the range from which Linux takes the ports of outgoing connections, so none of them is in our way.
_CHOICE: Final = range(20_000, 32_000)


def claim(port: int) -> None:
    """Make sure that the port can be listened on; raises `PortInUse`, which names who has it."""
    with closing(socket()) as probe:
        # As servers do: connections of an earlier one may linger in TIME_WAIT.
        probe.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise PortInUse(
                    f"port {port} cannot be used: {error.strerror}; give another --port"
                ) from error
            raise PortInUse(f"port {port} is in use{_holder(port)}; give another --port or end it") from error


def is_free(port: int) -> bool:
    """Whether `claim` would pass."""
    try:
        claim(port)
    except PortInUse:
        return False
    return True


def choose(names: Sequence[str], kept: Mapping[str, int]) -> dict[str, int]:
    """A port for each name: the one it had, else one that is free now."""
    ports = {name: kept[name] for name in names if name in kept}
    while missing := [name for name in names if name not in ports]:
        port = random.choice(_CHOICE)  # noqa: S311 -- a port is no secret
        if port not in ports.values() and is_free(port):
            ports[missing[0]] = port
    return ports


def _holder(port: int) -> str:
    """Who listens there, as far as we may know."""
    try:
        for connection in psutil.net_connections("tcp"):
            listens = connection.status == psutil.CONN_LISTEN and connection.laddr[1:] == (port,)
            if listens and connection.pid is not None:
                return f" by {psutil.Process(connection.pid).name()} (pid {connection.pid})"
    except psutil.Error:
        pass
    return ""
