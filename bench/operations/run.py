"""What an operator does, and what happens to a replica, under load: ``python -m bench.operations.run [NAME …]``.

A real fleet of the whole shop, shoppers on kept connections who log in, add and order. Operations run with HAProxy's
``retries 0``, so nothing is repaired on the way; faults run with what ships. At the end every cart and every order is
compared with what its shopper was told.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from socket import socket
from typing import Any, Final

import httpx

from app.fleet.record import FleetRecord
from app.fleet.runtime import RuntimeApi
from bench.operations.shoppers import Shopper, Tally

ROOT: Final = Path(__file__).parents[2]
_REQUESTS: Final = 10_000
_SHOPPERS: Final = 16
# No operation takes this long; a measurement that does not end is no measurement.
_LONGEST_S: Final = 400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """A fleet in a directory of its own."""

    state: Path
    url: str

    def chopho(self, *words: str) -> None:
        """One command, to its end."""
        subprocess.run(  # noqa: S603 -- ourselves
            [sys.executable, "-m", "app", *words, "--state", str(self.state)],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            check=True,
        )

    def record(self) -> FleetRecord:
        """What runs."""
        found = FleetRecord.load(self.state / "fleet.json")
        if found is None:
            raise RuntimeError("the fleet is gone")
        return found

    def pid(self, name: str) -> int:
        """Of that process; 0 while it has none."""
        process = self.record().processes.get(name)
        return process.pid if process is not None else 0

    def state_of(self, name: str) -> str:
        """What HAProxy says of a replica."""
        servers = asyncio.run(RuntimeApi(Path(self.record().haproxy_socket)).servers())
        return servers[name].state if name in servers else "GONE"


@contextmanager
def fleet(**environment: str) -> Iterator[Fleet]:
    """Two replicas, from nothing to nothing."""
    with socket() as free, tempfile.TemporaryDirectory(prefix="chopho-bench-") as folder:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
        free.close()
        state = Path(folder) / "state"
        started = time.monotonic()
        words = ["up", "--detach", "--replicas", "2", "--port", str(port), "--state", str(state)]
        # A replica that is told SIGUSR1 blocks its event loop: see blockable/.
        path = {"PYTHONPATH": str(ROOT / "bench/operations/blockable")}
        subprocess.run(  # noqa: S603 -- ourselves
            [sys.executable, "-m", "app", *words],
            cwd=ROOT,
            env={**os.environ, **path, **environment},
            stdout=subprocess.DEVNULL,
            check=True,
        )
        print(f"a fleet of two was up after {time.monotonic() - started:.1f} s")
        running = Fleet(state=state, url=f"http://127.0.0.1:{port}")
        try:
            yield running
        finally:
            running.chopho("down")


# -- what is done ------------------------------------------------------------------------------------------


def rolling_restart(fleet: Fleet) -> str:
    """Twice, every replica."""
    fleet.chopho("restart", "--rolling")
    fleet.chopho("restart", "--rolling")
    return "2 × every replica"


def drain(fleet: Fleet) -> str:
    """Each replica in turn."""
    for name in ("app1", "app2", "app1"):
        fleet.chopho("drain", name)
        fleet.chopho("ready", name)
    return "3 × drain and ready"


def scale(fleet: Fleet) -> str:
    """Two, six, two."""
    fleet.chopho("scale", "6")
    fleet.chopho("scale", "2")
    return "2 → 6 → 2"


def reload(fleet: Fleet) -> str:
    """Five times."""
    for _ in range(5):
        fleet.chopho("reload")
        time.sleep(1)
    return "5 × reload"


def kill(fleet: Fleet) -> str:
    """SIGKILL."""
    return _fault(fleet, signal.SIGKILL)


def stop(fleet: Fleet) -> str:
    """SIGSTOP: the kernel still takes connections for it."""
    return _fault(fleet, signal.SIGSTOP)


def block(fleet: Fleet) -> str:
    """Its event loop runs something that does not end."""
    return _fault(fleet, signal.SIGUSR1)


def return_cold(fleet: Fleet) -> str:
    """One of three is killed, and comes back to a crowd with nothing warm."""
    fleet.chopho("scale", "3")
    return _fault(fleet, signal.SIGKILL)


def _fault(fleet: Fleet, number: signal.Signals) -> str:
    """Seconds until it gets nothing more, and until it is back in rotation with a new process."""
    pid = fleet.pid("app1")
    os.kill(pid, number)
    began = time.monotonic()
    _until(lambda: fleet.state_of("app1") != "UP" or fleet.pid("app1") not in {0, pid})
    out_s = time.monotonic() - began
    _until(lambda: fleet.pid("app1") not in {0, pid} and fleet.state_of("app1") == "UP")
    return f"out after {out_s:.1f} s, back after {time.monotonic() - began:.1f} s"


def _until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _LONGEST_S
    while not holds():
        if time.monotonic() > deadline:
            raise RuntimeError("it did not happen")
        time.sleep(0.05)


OPERATIONS: Final[Mapping[str, Callable[[Fleet], str]]] = {
    "rolling restart": rolling_restart,
    "drain": drain,
    "scale": scale,
    "reload": reload,
}
FAULTS: Final[Mapping[str, Callable[[Fleet], str]]] = {
    "kill": kill,
    "stop": stop,
    "block": block,
    "return": return_cold,
}


# -- how it is measured ------------------------------------------------------------------------------------


async def measure(fleet: Fleet, name: str, act: Callable[[Fleet], str], requests: int) -> None:
    """Shoppers shop while it is done, until there were enough requests; then all is compared."""
    tally = Tally()
    async with AsyncExitStack() as stack:
        skus = await _in_stock(fleet.url)
        shoppers = [
            Shopper(
                client=await stack.enter_async_context(_client(fleet.url)),
                tally=tally,
                skus=skus,
                random=random.Random(number),  # noqa: S311 -- a repeatable load is no secret
            )
            for number in range(_SHOPPERS)
        ]
        for shopper in shoppers:
            await shopper.open()
        over = threading.Event()
        shopping = [asyncio.create_task(shopper.shop(over)) for shopper in shoppers]
        began = time.monotonic()
        what = await _done(act, fleet)
        while tally.requests < requests and time.monotonic() - began < _LONGEST_S:  # noqa: ASYNC110 -- a tally tells nobody
            await asyncio.sleep(0.1)
        took_s = time.monotonic() - began
        over.set()
        await asyncio.gather(*shopping)
        wrong = [fault for shopper in shoppers for fault in await shopper.wrong()]
    _print(name, what, tally, shoppers, wrong, took_s)


async def _done(act: Callable[[Fleet], str], fleet: Fleet) -> str:
    """After a quiet second, so that the load is there before."""
    await asyncio.sleep(1)
    return await asyncio.to_thread(act, fleet)


def _client(url: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=url, timeout=60, limits=httpx.Limits(max_connections=1))


async def _in_stock(url: str) -> Sequence[str]:
    """Variants with so much of them that nobody finds one sold out."""
    found: list[str] = []
    async with _client(url) as client:
        page: Any = (await client.get("/api/v1/products", params={"page_size": "60"})).json()
        for item in page["items"]:
            product: Any = (await client.get(f"/api/v1/products/{item['slug']}")).json()
            found += [one["sku"] for one in product["variants"] if one["stock"] >= 60]
    return found


def _print(
    name: str, what: str, tally: Tally, shoppers: Sequence[Shopper], wrong: Sequence[str], took_s: float
) -> None:
    load = os.getloadavg()[0]
    orders = sum(len(shopper.orders) for shopper in shoppers)
    unknown = sum(shopper.unknown for shopper in shoppers)
    print(
        f"{name}: {what}; {tally.requests} requests in {took_s:.0f} s, failed {dict(tally.failed) or 0}, "
        f"disconnected {dict(tally.disconnected) or 0}, refused {dict(tally.refused) or 0}, "
        f"slowest {tally.slowest_s:.1f} s; {orders} orders, unknown writes {unknown}, "
        f"carts and orders that are not as told: {len(wrong)}; load of the machine {load:.1f}"
    )
    if name == "return":
        newcomer, others = tally.p99_after_its_return("app1")
        print(
            f"  99 of 100 answers within {newcomer:.3f} s from the newcomer, {others:.3f} s from the others"
        )
    for fault in wrong:
        print(f"  {fault}")


def main() -> None:
    """Everything, or what is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*OPERATIONS, *FAULTS, []], default=[])
    parser.add_argument("--requests", type=int, default=_REQUESTS)
    given = parser.parse_args()
    print(json.dumps({"cores": os.cpu_count(), "load": os.getloadavg()}))
    for group, environment in ((OPERATIONS, {"LB_RETRIES": "0"}), (FAULTS, {})):
        chosen = {name: act for name, act in group.items() if not given.names or name in given.names}
        if chosen:
            with fleet(**environment) as running:
                for name, act in chosen.items():
                    asyncio.run(measure(running, name, act, given.requests))


if __name__ == "__main__":
    main()
