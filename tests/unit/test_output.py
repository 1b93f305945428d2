"""A command whose words cannot go where they should ends as a Unix program does, never with a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FULL = Path("/dev/full")


def words_of(state: Path) -> list[str]:
    return [sys.executable, "-m", "app", "logs", "--state", str(state), "-n", "20000"]


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A fleet that is gone, and its log of more than a pipe holds."""
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "app1.log").write_text("".join(f"line {number}\n" for number in range(20_000)))
    return tmp_path


@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("words", [["logs"], ["--help"], ["status", "--help"]], ids=" ".join)
def test_output_that_is_full_is_one_line(state: Path, words: list[str]) -> None:
    where = ["--state", str(state)] if words == ["logs"] else []
    with FULL.open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "app", *words, *where],
            cwd=ROOT,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ended.stderr == "chopho: the output cannot be written: No space left on device\n"
    assert ended.returncode == 1


def test_a_reader_that_goes_away_ends_the_command_without_a_word(state: Path) -> None:
    with subprocess.Popen(
        words_of(state), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as command:
        assert command.stdout is not None
        assert command.stderr is not None
        assert b"line 0" in command.stdout.readline()
        command.stdout.close()
        assert command.stderr.read() == b""
    assert command.returncode == 128 + 13


def test_a_command_without_an_output_ends_well_and_writes_into_nothing_else(state: Path) -> None:
    closed = subprocess.run(
        words_of(state),
        cwd=ROOT,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: os.close(1),
        check=False,
    )
    assert (closed.returncode, closed.stderr) == (0, b"")
