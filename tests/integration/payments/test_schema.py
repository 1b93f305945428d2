"""A service's schema is made once, by whichever process comes first."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack

from tests.integration.payments.conftest import ROOT

MIGRATE = "import sys; from app.services.schema import migrate; from app.services.payments.tables import metadata; print(flush=True); input(); migrate(sys.argv[1], metadata)"


def test_processes_that_start_at_once_make_the_schema_once(empty_database_url: str) -> None:
    with ExitStack() as stack:
        processes = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", MIGRATE, empty_database_url],
                    cwd=ROOT,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                )
            )
            for _ in range(6)
        ]
        for process in processes:
            assert process.stdout
            process.stdout.readline()  # everything is imported; what follows is the race
        for process in processes:
            assert process.stdin
            process.stdin.write(b"\n")
            process.stdin.flush()
        assert [process.wait(timeout=120) for process in processes] == [0] * 6
