"""Turning the fault switches of a service, for operators and labs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, Final
from urllib.parse import quote, urlsplit

PATH: Final = "/faults"


class FaultsError(Exception):
    """The switch was not turned, and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultSwitches:
    """The switches of the service at `url`; a fault is said as `app.services.faults.Fault` reads it."""

    url: str
    token: str
    timeout_s: float = 5

    def on(self) -> Sequence[Mapping[str, Any]]:
        """The switches that are on. Raises `FaultsError`, as all of these do."""
        return self._ask("GET", PATH)

    def turn_on(self, fault: Mapping[str, object]) -> Sequence[Mapping[str, Any]]:
        """Turn one on, in place of the one at the same endpoint; the switches that are on then."""
        return self._ask("PUT", PATH, json.dumps(fault))

    def turn_off(self, endpoint: str | None = None) -> Sequence[Mapping[str, Any]]:
        """Turn the one at this endpoint off, or all; the switches that are on then."""
        return self._ask(
            "DELETE", PATH if endpoint is None else f"{PATH}?endpoint={quote(endpoint, safe='')}"
        )

    def _ask(self, method: str, path: str, body: str | None = None) -> Sequence[Mapping[str, Any]]:
        place = urlsplit(self.url)
        kind = HTTPSConnection if place.scheme == "https" else HTTPConnection
        connection = kind(place.hostname or "", place.port, timeout=self.timeout_s)
        try:
            connection.request(method, path, body, {"Authorization": f"Bearer {self.token}"})
            answer = connection.getresponse()
            status, told = answer.status, answer.read()
        except (OSError, HTTPException) as failed:
            raise FaultsError(f"{self.url} does not answer: {failed}") from failed
        finally:
            connection.close()
        if status == 404:
            raise FaultsError(f"{self.url} has no fault switches; they exist only with CHOPHO_FAULTS_TOKEN")
        try:
            found = json.loads(told)
        except ValueError as garbled:
            raise FaultsError(f"{self.url} answered {status} with what is not JSON") from garbled
        if status != 200:
            raise FaultsError(f"{self.url} refused: {found.get('detail', status)}")
        items: Sequence[Mapping[str, Any]] = found["items"]
        return items
