"""Measure the HTTP client libraries side by side: ``python bench/http_clients/run.py [--json FILE] [LIBRARY …]``.

Every library runs in a process of its own, one after the other, on 127.0.0.1; the whole takes about three minutes.
The table is Markdown; ``results.json`` beside this file keeps the numbers of the run that the decision was made on.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
LIBRARIES = ("aiohttp", "pyreqwest", "httpx2", "httpx", "niquests")
PATIENCE_S = 300

COLUMNS: tuple[tuple[str, str, str], ...] = (
    ("CPU µs per hop", "hop", "cpu_us"),
    ("CPU µs, 1 MB down", "big", "down_us"),
    ("CPU µs, 1 MB up and down", "big", "echo_us"),
    ("60 callers, pool 10: connections", "limits", "most_connections"),
    ("after slow episode: good of 10", "slow_episode", "ten_normal"),
    ("… seconds until all are good", "slow_episode", "healed_after_s"),
    ("after 4,000 cancelled: good of 10", "cancel_storm", "ten_normal"),
    ("… seconds until all are good", "cancel_storm", "healed_after_s"),
    ("… mixed-up answers", "cancel_storm", "mixed"),
    ("after cancelled connects: good of 10", "connect_storm", "ten_normal"),
    ("… seconds until all are good", "connect_storm", "healed_after_s"),
    ("failed after peer's restart: of 10", "restart", "first_failed"),
    ("idle race: GETs failed of 150", "idle_race", "get_failed"),
    ("idle race: POSTs failed of 150", "idle_race", "post_failed"),
)


def measured(library: str) -> dict[str, Any]:
    """Every scenario of one library."""
    command = [sys.executable, str(HERE / "scenarios.py"), library]
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    print(done.stderr, file=sys.stderr, end="")
    return json.loads(done.stdout) if done.returncode == 0 else {"broken": done.stderr[-500:]}


def cell(results: dict[str, Any], scenario: str, value: str) -> str:
    """A number without false precision, or a dash where the scenario did not finish."""
    number = results.get(scenario, {}).get(value)
    if number is None:
        return "–"
    return "never" if number < 0 else f"{number:,.0f}"


def table(results: dict[str, dict[str, Any]]) -> str:
    """Libraries side by side, one line for each question."""
    lines = ["| | " + " | ".join(f"{name} {results[name]['version']}" for name in results) + " |"]
    lines.append("|---" * (len(results) + 1) + "|")
    for title, scenario, value in COLUMNS:
        cells = (cell(results[name], scenario, value) for name in results)
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _version(library: str) -> str:
    """The gateway's own wire has the project's."""
    return version("chopho" if library == "wire" else library)


def main() -> None:
    """Measure, print the table, write the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("libraries", nargs="*", default=LIBRARIES)
    parser.add_argument("--json", type=Path, default=HERE / "results.json")
    options = parser.parse_args()
    results: dict[str, dict[str, Any]] = {}
    for library in options.libraries:
        print(f"{library} …", file=sys.stderr)
        results[library] = {"version": _version(library), **measured(library)}
    print(table(results))
    options.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
