"""The members of a fleet, each put together with the care it needs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from app.fleet import answers
from app.fleet.book import Book
from app.fleet.events import Report
from app.fleet.member import Care, Member
from app.fleet.processes import Command
from app.fleet.rotation import Rotation
from app.fleet.topology import Topology


@dataclass(frozen=True, slots=True, kw_only=True)
class Crew:
    """Makes them; starting and keeping them is the fleet's business."""

    topology: Topology
    book: Book
    rotation: Rotation
    report: Report

    def redis(self) -> Member:
        """Rate limits and control, and the sessions unless they are kept elsewhere."""
        answering = partial(answers.redis_answers, self.topology.ports["redis"])
        return self._member(self.topology.redis_command(), Care(answers=answering, noted=self.book.note))

    def database(self) -> Member | None:
        """The fleet's own; None where somebody else's was given."""
        if self.topology.options.database_url is not None:
            return None
        answering = partial(answers.postgres_answers, self.topology.postgres)
        return self._member(self.topology.postgres_command(), Care(answers=answering, noted=self.book.note))

    def haproxy(self, joins: Callable[[], Awaitable[None]]) -> Member:
        """The door; `joins` fills its slots whenever it has come up."""
        care = Care(
            answers=partial(answers.haproxy_answers, self.rotation.runtime),
            noted=self.book.note,
            joins=joins,
        )
        return self._member(self.topology.haproxy_command(), care)

    def replica(self, name: str, joins: Callable[[], Awaitable[None]]) -> Member:
        """One replica, with the settings of now; `joins` puts it into its slot."""
        port = self.topology.ports[name]
        care = Care(
            answers=partial(answers.is_alive, port),
            noted=self.book.note,
            hangs=partial(answers.hangs, port),
            hung_after=self.topology.options.liveness_limit,
            joins=joins,
            leaves=partial(self.rotation.leave, name),
        )
        return self._member(self.topology.replica_command(name), care)

    def service(self, name: str) -> Member:
        """One of the services around the shop."""
        port = self.topology.ports[name]
        care = Care(
            answers=partial(answers.is_ready, port),
            noted=self.book.note,
            hangs=partial(answers.hangs, port),
            hung_after=self.topology.options.liveness_limit,
        )
        return self._member(self.topology.service_command(name), care)

    def _member(self, command: Command, care: Care) -> Member:
        return Member(command, self.topology.options.state, care, self.report)
