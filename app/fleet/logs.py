"""The logs of a fleet: bounded in size, told apart by name, followed while they grow."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

MAX_BYTES: Final = 10 * 1024 * 1024


def last_lines(log: Path, count: int) -> list[str]:
    """The last lines, none where there is no log."""
    try:
        with log.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - 400 * max(count, 1)))
            lines = file.read().decode(errors="replace").splitlines()
    except FileNotFoundError:
        return []
    return [line for line in lines if line.strip()][-count:]


def last_words(log: Path) -> str:
    """The last line, for a message."""
    return next(iter(last_lines(log, 1)), "it said nothing")


def bound(folder: Path, at_most: int = MAX_BYTES, *, keep: int = 1) -> None:
    """Keep each log below that size, with so many older ones beside it (.log.1 is the youngest).

    The writers append to their file and know nothing of us, so it is copied and emptied in place; what is
    written between the two is lost, a line or two in ten megabytes.
    """
    for log in folder.glob("*.log"):
        if log.stat().st_size > at_most:
            for number in range(keep - 1, 0, -1):
                older = log.with_suffix(f".log.{number}")
                if older.exists():
                    older.replace(log.with_suffix(f".log.{number + 1}"))
            if keep:
                shutil.copyfile(log, log.with_suffix(".log.1"))
            with log.open("r+b") as file:
                file.truncate(0)


def follow(logs: Sequence[Path], every_s: float = 0.2) -> Iterator[tuple[Path, str]]:
    """Each line from now on with its log, for ever; also of logs that are yet to come, and of emptied ones."""
    return _following({log: log.stat().st_size if log.exists() else 0 for log in logs}, every_s)


def _following(positions: dict[Path, int], every_s: float) -> Iterator[tuple[Path, str]]:
    while True:
        for log, position in positions.items():
            lines, positions[log] = news(log, position)
            yield from ((log, line) for line in lines)
        time.sleep(every_s)


def news(log: Path, position: int) -> tuple[list[str], int]:
    """The whole lines after the position, and where they end; from the start where the log was emptied."""
    try:
        with log.open("rb") as file:
            if file.seek(0, 2) < position:
                position = 0
            file.seek(position)
            text = file.read()
    except FileNotFoundError:
        return [], 0
    whole = text[: text.rfind(b"\n") + 1]
    return whole.decode(errors="replace").splitlines(), position + len(whole)
