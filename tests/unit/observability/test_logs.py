from __future__ import annotations

import json
import logging
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.observability.logs import JsonHandler, current_request, logging_to, timestamp
from app.observability.writer import LineWriter

Lines = Callable[[], list[dict[str, Any]]]
log = logging.getLogger("somebody.else")


@pytest.fixture
def written(tmp_path: Path) -> Iterator[Lines]:
    """Every record goes to a file while the test runs; the function ends that and reads the file."""
    descriptor = os.open(tmp_path / "log", os.O_WRONLY | os.O_CREAT)
    logs = logging_to(descriptor, replica="app1")
    logs.__enter__()
    ended = False

    def end() -> None:
        nonlocal ended
        if not ended:
            ended = True
            logs.__exit__(None, None, None)
            os.close(descriptor)

    def lines() -> list[dict[str, Any]]:
        end()
        return [json.loads(line) for line in (tmp_path / "log").read_bytes().splitlines()]

    yield lines
    end()


def test_a_record_of_any_library_becomes_one_line(written: Lines) -> None:
    log.warning("pool %s is %d%% full", "database", 90)

    (line,) = written()
    assert line.pop("time").endswith("Z")
    assert line == {
        "level": "warning",
        "logger": "somebody.else",
        "replica": "app1",
        "message": "pool database is 90% full",
    }


def test_an_exception_is_told_with_its_trace_and_without_what_it_quotes(written: Lines) -> None:
    def store() -> None:
        raise ValueError("duplicate key (email)=(khach@chopho.example), password='hunter2', 0912345678")

    try:
        store()
    except ValueError:
        log.exception("could not store %s", "khach@chopho.example")

    (line,) = written()
    assert line["exception"]["type"] == "builtins.ValueError"
    assert "test_logs.py" in line["exception"]["trace"]
    told = json.dumps(line)
    assert not any(secret in told for secret in ("khach", "hunter2", "0912345678"))


def test_a_record_names_the_request_it_belongs_to(written: Lines) -> None:
    token = current_request.set({"request_id": "abc-123"})
    log.info("inside")
    current_request.reset(token)
    log.info("outside")

    inside, outside = written()
    assert inside["request_id"] == "abc-123"
    assert "request_id" not in outside


def test_own_fields_are_told_and_cleaned(written: Lines) -> None:
    log.info("opened", extra={"fields": {"breaker": "payments", "why": "token=abc", "rate": 50.0}})

    (line,) = written()
    assert (line["breaker"], line["rate"]) == ("payments", 50.0)
    assert line["why"] == "token=[removed]"


def test_a_record_whose_arguments_do_not_fit_is_written_as_it_stands(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path / "log", os.O_WRONLY | os.O_CREAT)
    writer = LineWriter(descriptor)
    writer.start()
    record = logging.LogRecord("a", logging.INFO, __file__, 1, "%d of %d", ("some",), None)
    JsonHandler(writer, replica="app1").handle(record)
    writer.close()
    os.close(descriptor)

    assert json.loads((tmp_path / "log").read_bytes())["message"] == "%d of %d"


def test_warnings_are_lines_too(written: Lines) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("old\nfashioned", stacklevel=1)

    assert "fashioned" in written()[0]["message"]


def test_logging_is_as_before_when_the_block_ends(written: Lines) -> None:
    before = logging.getLogger().handlers
    written()
    assert logging.getLogger().handlers is not before


def test_times_are_utc_with_milliseconds() -> None:
    assert timestamp(1796061798.1239) == "2026-11-30T18:03:18.123Z"
