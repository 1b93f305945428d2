"""The whole fleet: in which order it starts, how it stays up, and in which order it goes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any

from app.fleet import answers
from app.fleet.book import Book
from app.fleet.crew import Crew
from app.fleet.errors import BalancerSilent, CannotStart
from app.fleet.events import Done, Event, Report
from app.fleet.haproxy import SOCKET
from app.fleet.hotline import SOCKET as HOTLINE
from app.fleet.hotline import Hotline
from app.fleet.housekeeping import Housekeeping
from app.fleet.later import Later
from app.fleet.logs import last_words
from app.fleet.member import Member
from app.fleet.operations import INTO_ROTATION, Means, Operations
from app.fleet.orphans import end_orphans
from app.fleet.piloting import autopilot
from app.fleet.ports import choose
from app.fleet.processes import Command, launch, myself
from app.fleet.record import FleetRecord
from app.fleet.reloading import reload
from app.fleet.reopening import ports_of
from app.fleet.replicas import Replicas, Setting
from app.fleet.rotation import Rotation
from app.fleet.runtime import RuntimeApi
from app.fleet.together import together
from app.fleet.topology import FleetOptions, Topology


class Fleet:
    """Lives in one state directory, whose lock the caller holds."""

    def __init__(self, options: FleetOptions, report: Report, later: Later) -> None:
        self._options = options
        self._later = later
        self._say = report
        self._stopping = asyncio.Event()
        self._hurry = asyncio.Event()
        self._keepers: list[asyncio.Task[None]] = []
        record = FleetRecord.load(options.state.record) or FleetRecord()
        self._book = Book(record, options.state.record, self._report)
        self._ports = ports_of(self._book.record, options)
        self._topology = Topology(options, self._ports)
        # Whatever a replica would refuse is refused before anything is started.
        self._grace = self._topology.shop_settings().shutdown_grace
        self._rotation = Rotation(RuntimeApi(self._topology.haproxy.socket))
        self._crew = Crew(
            topology=self._topology, book=self._book, rotation=self._rotation, report=self._report
        )
        self._redis = self._crew.redis()
        self._database = self._crew.database()
        self._haproxy = self._crew.haproxy(self._join_everyone)
        self._replicas = Replicas(Setting(make=self._replica, rotation=self._rotation, grace=self._grace))
        self._services = [self._crew.service(name) for name in options.services]
        operations = self._operations()
        self._hotline = Hotline(options.state.socket(HOTLINE), operations.carry_out)
        self._autopilot = autopilot(options.state.plan, self._book, self._replicas, operations, self._report)

    async def run(self, opened: Callable[[], None]) -> None:
        """Start, stay up until `stop`, and go in order; raises `FleetError` when it cannot start.

        `opened` is called once every replica is in rotation.
        """
        await self._begin()
        try:
            await self._unless_stopped(self._start())
            if not self._stopping.is_set():
                self._keepers.append(asyncio.create_task(self._autopilot.run()))
                async with self._hotline.open():
                    # Whoever reads that it runs may give it an order at once.
                    self._book.note_phase("running")
                    opened()
                    await self._stopping.wait()
        finally:
            self._book.note_phase("stopping")
            await self._stop()
            self._options.state.remove_socket(HOTLINE)
            self._options.state.remove_socket(SOCKET)
            self._book.note_phase("stopped")

    def stop(self) -> None:
        """Drain and end; the second time, without waiting for what is in flight."""
        if self._stopping.is_set():
            self._hurry.set()
        self._stopping.set()

    # -- parts ---------------------------------------------------------------------------------------------

    def _find_port(self, name: str) -> int:
        """A port for a replica that is yet to come."""
        self._ports.update(choose([*self._ports, name], self._ports))
        return self._ports[name]

    def _report(self, event: Event) -> None:
        self._say(event)
        self._hotline.tell(event)

    def _operations(self) -> Operations:
        return Operations(
            Means(
                replicas=self._replicas,
                rotation=self._rotation,
                wishes=partial(self._later.wishes, self._topology.redis.url, self._report),
                book=self._book,
                report=self._report,
                find_port=self._find_port,
                reload=self._reload,
                state=self._options.state,
                longest_session=self._topology.shop_settings().session_absolute_timeout,
                grace=self._grace,
            )
        )

    def _replica(self, name: str) -> Member:
        return self._crew.replica(name, partial(self._join, name))

    # -- start ---------------------------------------------------------------------------------------------

    async def _begin(self) -> None:
        """Write down who we are, and end what an earlier supervisor left that this fleet has no place for."""
        wanted = {*(member.command.name for member in self._members()), *self._options.names}
        earlier = self._book.record
        await end_orphans(earlier, self._report, keep=wanted)
        settings = self._topology.shop_settings()
        record = FleetRecord(
            supervisor=myself(),
            url=self._topology.url,
            haproxy_socket=str(self._topology.haproxy.socket),
            statistics_url=self._topology.statistics_url,
            redis_url=self._topology.redis.url,
            database_url=self._topology.database_url,
            services=list(self._options.services),
            session_url=settings.session_url,
            session_also_accept=settings.session_also_accept,
            ports=self._ports,
            wanted=self._options.replicas,
            disk_reserve=self._options.house_rules.disk_reserve,
            processes={name: it for name, it in earlier.processes.items() if name in wanted},
            drained={name: it for name, it in earlier.drained.items() if name in wanted},
        )
        if self._options.services:
            await asyncio.to_thread(self._later.make_key_pair, self._options.state)
        self._book.begin(record)

    async def _start(self) -> None:
        await together(self._start_database(), self._bring_up(self._redis))
        for command in self._topology.preparation_commands():
            await self._prepare(command)
        known = self._book.record.processes
        # A page comes without the services around the shop, so they do not delay the first one.
        await together(
            self._bring_up(self._haproxy),
            *(self._replicas.bring_up(name, known.get(name)) for name in self._options.names),
        )
        housekeeping = Housekeeping(self._options.state, self._options.house_rules, self._report)
        self._keepers.append(asyncio.create_task(housekeeping.run(self._book.catch_up)))
        serving = [name for name in self._options.names if name not in self._book.record.drained]
        await together(
            self._rotation.all_up(serving, self._report, within=INTO_ROTATION),
            *(self._bring_up(service) for service in self._services),
        )
        services = self._options.services
        missing = [
            what for name in serving for what in await answers.missing(self._ports[name], besides=services)
        ]
        if missing:
            raise CannotStart(f"the replicas run but cannot do without this: {missing[0]}")

    async def _start_database(self) -> None:
        if self._database is None:
            return
        postgres = self._topology.postgres
        await asyncio.to_thread(postgres.initialise)
        await self._bring_up(self._database)
        await answers.make_database(postgres, "chopho")

    async def _bring_up(self, member: Member) -> None:
        await member.start(self._book.record.processes.get(member.command.name))
        self._keepers.append(asyncio.create_task(member.keep()))

    async def _prepare(self, command: Command) -> None:
        began = time.monotonic()
        log = self._options.state.log(command.name)
        process = launch(command, log)
        try:
            await process.ended()
        finally:
            await process.stop()
        if not process.succeeded():
            raise CannotStart(f"{command.name} {process.verdict()}, saying: {last_words(log)}")
        self._report(Done(command.name, time.monotonic() - began))

    # -- rotation ------------------------------------------------------------------------------------------

    async def _join(self, name: str) -> None:
        """Into rotation; when HAProxy is away, it takes everybody once it is back."""
        while self._haproxy.is_up:
            try:
                if name in self._book.record.drained:
                    await self._rotation.join_drained(name, self._ports[name])
                else:
                    await self._rotation.join(name, self._ports[name])
            except BalancerSilent:
                await asyncio.sleep(0.5)
            else:
                return

    async def _join_everyone(self) -> None:
        await together(*(self._join(name) for name in self._replicas.names if self._replicas.is_up(name)))

    async def _reload(self) -> None:
        await reload(
            self._topology.haproxy, self._rotation.runtime, self._book.record.processes.get("haproxy")
        )
        await self._join_everyone()

    # -- stop ----------------------------------------------------------------------------------------------

    async def _stop(self) -> None:
        for keeper in self._keepers:
            keeper.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)
        await self._replicas.stop_keeping()
        retiring = asyncio.ensure_future(self._retire_all())
        hurrying = asyncio.ensure_future(self._hurry.wait())
        await asyncio.wait([retiring, hurrying], return_when=asyncio.FIRST_COMPLETED)
        hurrying.cancel()
        if self._hurry.is_set():
            self._replicas.kill()
            for service in self._services:
                service.kill()
        await retiring
        for member in [self._haproxy, self._redis, *([self._database] if self._database else [])]:
            await member.stop()

    async def _retire_all(self) -> None:
        """Services go when nobody is left who might ask them."""
        await together(*(self._replicas.retire(name) for name in self._replicas.names))
        await together(*(service.stop() for service in self._services))

    # -- around --------------------------------------------------------------------------------------------

    async def _unless_stopped(self, work: Coroutine[Any, Any, None]) -> None:
        """The work, called off as soon as the fleet is to stop."""
        working = asyncio.ensure_future(work)
        stopping = asyncio.ensure_future(self._stopping.wait())
        await asyncio.wait([working, stopping], return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if self._stopping.is_set():
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
        else:
            await working

    def _members(self) -> Sequence[Member]:
        return [
            *([self._database] if self._database else []),
            self._redis,
            self._haproxy,
            *self._services,
        ]
