"""The standard library's log records as lines of JSON."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from app.observability.lines import Value, line
from app.observability.scrub import scrub
from app.observability.writer import LineWriter

TRACE_LIMIT: Final = 8000
"""Characters of a traceback; what is past it is deep inside a framework."""

current_request: ContextVar[MutableMapping[str, object] | None] = ContextVar("current_request", default=None)
"""The ASGI scope's `state` of the request that this task serves, so that every line can name it."""


def timestamp(seconds: float) -> str:
    """UTC with milliseconds, as ISO 8601."""
    return f"{_second(int(seconds))}.{int(seconds * 1000) % 1000:03}Z"


@lru_cache(maxsize=2)  # of the many lines of one second only the first pays for the calendar
def _second(whole: int) -> str:
    return datetime.fromtimestamp(whole, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def request_id_in(state: Mapping[str, object] | None) -> str | None:
    """The id that the edge gave to the request."""
    found = None if state is None else state.get("request_id")
    return found[:64] if isinstance(found, str) else None


class JsonHandler(logging.Handler):
    """Turns every record into one line without secrets; ``extra={"fields": {…}}`` adds fields of its own."""

    def __init__(self, writer: LineWriter, *, replica: str) -> None:
        super().__init__()
        self._writer = writer
        self._replica = replica

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record; one that cannot be formatted is written as it stands."""
        fields: dict[str, Value] = {
            "time": timestamp(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "replica": self._replica,
            "message": scrub(_message(record)),
        }
        request_id = request_id_in(current_request.get())
        if request_id is not None:
            fields["request_id"] = request_id
        fields.update(_own_fields(record))
        if record.exc_info and record.exc_info[1] is not None:
            fields["exception"] = _exception(record.exc_info[1])
        self._writer.write(line(fields), urgent=record.levelno >= logging.ERROR)


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except (TypeError, ValueError, KeyError):  # arguments that do not fit the words
        return str(record.msg)


def _own_fields(record: logging.LogRecord) -> dict[str, Value]:
    given: Mapping[str, Value] = getattr(record, "fields", {})
    return {name: scrub(value) if isinstance(value, str) else value for name, value in given.items()}


def _exception(error: BaseException) -> dict[str, Value]:
    trace = "".join(traceback.format_exception(error))
    # The end names the error and where it came from; the beginning is the server's own frames.
    return {
        "type": f"{type(error).__module__}.{type(error).__qualname__}",
        "trace": scrub(trace[-2 * TRACE_LIMIT :], limit=2 * TRACE_LIMIT)[-TRACE_LIMIT:],
    }


@contextmanager
def logging_to(
    descriptor: int, *, replica: str, level: int = logging.INFO, capacity: int = 10_000
) -> Iterator[LineWriter]:
    """Every log record of the process goes to `descriptor` as JSON until the block ends."""
    writer = LineWriter(descriptor, capacity=capacity)
    writer.start()
    handler = JsonHandler(writer, replica=replica)
    root = logging.getLogger()
    before = (root.handlers[:], root.level)
    root.handlers, root.level = [handler], level
    logging.captureWarnings(capture=True)
    try:
        yield writer
    finally:
        logging.captureWarnings(capture=False)
        root.handlers, root.level = before
        writer.close()
