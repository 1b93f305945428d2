"""The HAProxy of a local fleet, on the one haproxy.cfg."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

# haproxy.cfg lies beside the package, as the same file serves compose.
ROOT: Final = Path(__file__).resolve().parents[2]
SOCKET: Final = "haproxy.sock"


@dataclass(frozen=True, slots=True, kw_only=True)
class HaproxyServer:
    """How to run it: loopback only, a master that can reload its worker, in the foreground."""

    program: Path
    port: int
    statistics_port: int
    socket: Path
    server_state: Path
    config: Path = ROOT / "haproxy.cfg"

    def argv(self, *more: str) -> Sequence[str]:
        """The command; `more` are further options, as ``-c`` to check only."""
        if not self.server_state.exists():
            self.forget_servers()
        return [str(self.program), "-W", "-db", "-f", str(self.config), *more]

    def forget_servers(self) -> None:
        """A state without servers: whoever starts later must not believe what an earlier worker saw."""
        self.server_state.write_text("1\n")

    def environment(self) -> Mapping[str, str]:
        """What haproxy.cfg asks the environment for; other LB_ variables are the operator's."""
        return {
            "LB_BIND": f"127.0.0.1:{self.port}",
            "LB_STATS": f"127.0.0.1:{self.statistics_port}",
            "LB_SOCKET": str(self.socket),
            "LB_SERVER_STATE": str(self.server_state),
        }
