"""`make bench-failovers`: what shoppers see while a server behind the shop is lost, second by second.

Two replicas behind HAProxy serve shoppers who are logged in and change their carts; then a server dies. The shop
is not restarted. Printed are the answers of every second, the first good second after the accident, who was
logged out, and whose cart is not what they were told.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from bench.failovers.accidents import ACCIDENTS, Stage
from bench.failovers.shoppers import Shoppers
from tests.conftest import free_port

_CHOPHO: Final = (sys.executable, "-m", "app")
_BEFORE_S: Final = 3
_AFTER_S: Final = 12


def main() -> None:
    """Make every accident happen, print, write."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--only", nargs="*", choices=[*ACCIDENTS], default=[*ACCIDENTS], help="default: all")
    words.add_argument("--shoppers", type=int, default=10, help="how many shop at once (default 10)")
    words.add_argument("--out", type=Path, default=Path("bench/results"), help="where the JSON goes")
    given = words.parse_args()
    load = os.getloadavg()[0]
    found = {name: _measured(name, given.shoppers) for name in given.only}
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "failovers.json").write_text(json.dumps({"load_before": load, "accidents": found}, indent=1))
    print(f"\nload of the machine before: {load:.1f}; written: {given.out}/failovers.json")


def _measured(name: str, count: int) -> dict[str, object]:
    print(f"\n{name}: preparing …", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        with ACCIDENTS[name](Path(folder)) as stage, fleet(Path(folder) / "fleet", stage) as url:
            return asyncio.run(_watched(url, stage, count))


async def _watched(url: str, stage: Stage, count: int) -> dict[str, object]:
    shoppers = Shoppers(url, count)
    await shoppers.sign_in()
    shopping = asyncio.create_task(shoppers.shop())
    await asyncio.sleep(_BEFORE_S)
    at = shoppers.second
    await asyncio.to_thread(stage.happen)
    await asyncio.to_thread(stage.mend)
    await asyncio.sleep(_AFTER_S)
    lost = await shoppers.end()
    await shopping
    await shoppers.close()
    tally = shoppers.tally
    good = tally.first_good_second_after(at)
    for second, seen in sorted(tally.seconds.items()):
        if second >= at - 1:
            told = "  ".join(f"{status or 'no answer'}: {times}" for status, times in sorted(seen.items()))
            print(f"  {second - at:+3d} s  {told}")
    after = None if good is None else good - at
    print(
        f"  first good second: {after if after is not None else 'none'}; log-outs: {tally.logouts}; "
        f"carts not as told: {lost} of {count}; slowest answer {tally.slowest_s:.2f} s"
    )
    return {
        "seconds": {second - at: dict(seen) for second, seen in sorted(tally.seconds.items())},
        "first_good_second": after,
        "logouts": tally.logouts,
        "carts_not_as_told": lost,
        "slowest_s": tally.slowest_s,
    }


@contextmanager
def fleet(state: Path, stage: Stage) -> Iterator[str]:
    """Two replicas behind HAProxy, on those servers; where shoppers come in."""
    port = free_port()
    theirs = [
        *(("--session", stage.session_url) if stage.session_url else ()),
        *(("--database", stage.database_url) if stage.database_url else ()),
    ]
    up = [*_CHOPHO, "up", "--state", str(state), "--port", str(port), "--detach", *theirs]
    subprocess.run(up, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 -- our own command
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        subprocess.run([*_CHOPHO, "down", "--state", str(state)], check=True, stdout=subprocess.DEVNULL)  # noqa: S603


if __name__ == "__main__":
    main()
