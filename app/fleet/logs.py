"""The logs of a fleet: bounded in size, told apart by name, followed while they grow."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

MAX_BYTES: Final = 10 * 1024 * 1024
# What a line is expected to have; where lines are longer, more is read.
_A_LINE: Final = 400


def last_lines(log: Path, count: int) -> list[str]:
    """The last lines, none where there is no log."""
    try:
        with log.open("rb") as file:
            file.seek(0, 2)
            end, room = file.tell(), _A_LINE * max(count, 1)
            while True:
                file.seek(max(0, end - room))
                found = file.read(min(room, end)).split(b"\n")
                # The first one has its beginning before what was read, unless that was all there is.
                whole = [line for line in (found[1:] if room < end else found) if line.strip()]
                if len(whole) >= count or room >= end:
                    break
                room *= 2
    except FileNotFoundError:
        return []
    return [line.decode(errors="replace") for line in whole[max(0, len(whole) - count) :]]


def last_words(log: Path) -> str:
    """The last line, for a message."""
    return next(iter(last_lines(log, 1)), "it said nothing")


def bound(folder: Path, at_most: int = MAX_BYTES, *, keep: int = 1) -> None:
    """Keep each log below that size, with so many older ones beside it (.log.1 is the youngest).

    The writers append to their file and know nothing of us, so it is copied and emptied in place; what is
    written between the two is lost, a line or two in ten megabytes. Raises `OSError`, with every log as it was,
    where there is no room for the copy.
    """
    for log in folder.glob("*.log"):
        if log.stat().st_size > at_most:
            aside = _copied(log) if keep else None
            for number in range(keep - 1, 0, -1):
                older = log.with_suffix(f".log.{number}")
                if older.exists():
                    older.replace(log.with_suffix(f".log.{number + 1}"))
            if aside is not None:
                aside.replace(log.with_suffix(".log.1"))
            with log.open("r+b") as file:
                file.truncate(0)


def _copied(log: Path) -> Path:
    """A copy beside it, whole or not at all."""
    copy = log.with_suffix(".log.new")
    try:
        shutil.copyfile(log, copy)
    except OSError:
        copy.unlink(missing_ok=True)
        raise
    return copy


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
