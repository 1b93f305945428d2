"""`chopho breakers` and `chopho compartments`, against replicas that really answer."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import uvicorn
from starlette.applications import Starlette

from app.control import ControlBoard, Obedience
from app.fleet.record import FleetRecord, ProcessRecord
from app.fleet.state import StateDirectory
from app.lifecycle import Lifecycle
from app.observability.background import in_background
from app.observability.compartments import Compartment, Usage
from app.observability.observability import Observability, ObservabilityConfig
from app.resilience import Breaker, State
from tests.conftest import free_port

ROOT = Path(__file__).parents[2]


async def chopho(*words: str) -> tuple[int, str, str]:
    """One command to its end: exit code, what it said, what it complained of."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "app", *words),
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "200"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    return process.returncode or 0, out.decode(), err.decode()


@asynccontextmanager
async def replicas(redis_url: str) -> AsyncIterator[list[Breaker]]:
    """Two replicas that obey the board, each with a breaker called payments."""
    board = ControlBoard(redis_url)
    breakers = [Breaker("payments"), Breaker("payments")]
    obeying = [
        Obedience(board, [breaker], Lifecycle(), replica=f"app{number}")
        for number, breaker in enumerate(breakers, 1)
    ]
    async with in_background(*(each.run() for each in obeying)):
        while len((await board.standing()).replicas) < 2:  # noqa: ASYNC110 -- a board tells nobody, so we look
            await asyncio.sleep(0.02)
        yield breakers
    await board.close()


async def test_an_operator_holds_a_breaker_everywhere_sees_it_and_withdraws_it(redis_url: str) -> None:
    async with replicas(redis_url) as breakers:
        at = ("--redis", redis_url)
        held = await chopho(
            "breakers", "set", "payments", "forced-open", "--for", "10m", "--reason", "[bảo] trì", *at
        )
        assert held[0] == 0, held
        assert "payments: FORCED_OPEN until" in held[1]
        assert "2 of 2 replicas obeyed (app1, app2)" in held[1]
        assert [breaker.state for breaker in breakers] == [State.FORCED_OPEN] * 2

        _, shown, _ = await chopho("breakers", "list", *at)
        assert shown.count("FORCED_OPEN") == 3
        assert "[bảo] trì" in shown

        back = await chopho(
            "breakers", "set", "payments", "automatic", "--for", "1m", "--reason", "xong", *at
        )
        assert back[0] == 0, back
        assert State.FORCED_OPEN not in [breaker.state for breaker in breakers]

        _, history, _ = await chopho("breakers", "history", "--json", *at)
        assert [(entry["state"], entry["reason"]) for entry in json.loads(history)] == [
            ("AUTOMATIC", "xong"),
            ("FORCED_OPEN", "[bảo] trì"),
        ]


async def test_a_wrong_name_state_or_time_is_one_clear_line_and_changes_nothing(redis_url: str) -> None:
    async with replicas(redis_url) as breakers:
        for words, says in (
            (("paymnets", "DISABLED", "--for", "10m"), "did you mean payments?"),
            (("payments", "SHUT", "--for", "10m"), "FORCED_OPEN, DISABLED, METRICS_ONLY, AUTOMATIC"),
            (("payments", "DISABLED", "--for", "soon"), "30s, 10m or 2h"),
            (("payments", "DISABLED", "--for", "9d"), "from 1 s to 24 h"),
        ):
            code, _, complaint = await chopho(
                "breakers", "set", *words, "--reason", "x", "--redis", redis_url
            )
            assert (code, complaint.count("\n")) == (2, 1)
            assert says in complaint

        assert [breaker.state for breaker in breakers] == [State.CLOSED] * 2


async def test_without_redis_the_command_fails_and_says_so() -> None:
    code, _, complaint = await chopho("breakers", "list", "--redis", f"redis://127.0.0.1:{free_port()}/0")

    assert (code, complaint.count("\n")) == (1, 1)
    assert "the control board cannot answer" in complaint


@asynccontextmanager
async def fleet_of_one(folder: Path) -> AsyncIterator[None]:
    """A replica with a full pool behind a state directory that knows it as app1."""
    full = Usage(in_use=20, waiting=40, holding_s=3.0, rate_per_s=6.67)
    observability = Observability(
        ObservabilityConfig(replica="app1", phase=lambda: "ready", phases=("ready",))
    )
    observability.compartments.add(
        Compartment(name="outbound", kind="pool", size=20, shared_by=("a", "b"), dies="b", usage=lambda: full)
    )
    app = Starlette()
    observability.install(app)
    port = free_port()
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_config=None, lifespan="off"))
    serving = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 -- uvicorn tells nobody, so we look
        await asyncio.sleep(0.01)
    own = psutil.Process()
    process = ProcessRecord(pid=own.pid, started=own.create_time())
    record = FleetRecord(
        phase="running", supervisor=process, ports={"app1": port}, processes={"app1": process}
    )
    record.save(StateDirectory(folder).record)
    yield
    server.should_exit = True
    await serving


async def test_compartments_show_use_prediction_and_who_dies(tmp_path: Path) -> None:
    async with fleet_of_one(tmp_path):
        code, shown, _ = await chopho("compartments", "--state", str(tmp_path))
        _, told, _ = await chopho("compartments", "--state", str(tmp_path), "--json")
        wrong = await chopho("compartments", "--state", str(tmp_path), "--replica", "app7")

    assert code == 0
    for words in ("outbound", "20/20", "9 s", "2001 of 20 starves", "shared by a, b", "takes along: b"):
        assert words in shown
    (row,) = (row for row in json.loads(told)["replicas"]["app1"] if row["name"] == "outbound")
    assert (row["predicted_wait_s"], row["waiting"]) == (9.0, 40)
    assert (wrong[0], "there are: app1" in wrong[2]) == (1, True)
