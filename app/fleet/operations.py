"""What an operator has a running fleet do: drain, ready, restart, scale, reload; one order at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import singledispatchmethod
from typing import Final

from app.fleet.book import Book
from app.fleet.errors import FleetError, NoSuchReplica, WouldBeOutage
from app.fleet.events import Drained, Progress, Report
from app.fleet.keys import Keys
from app.fleet.later import Told
from app.fleet.orders import Drain, Ready, Reload, Request, Restart, RetireKey, RotateKeys, Scale
from app.fleet.record import DrainRecord, number_of
from app.fleet.replicas import Replicas
from app.fleet.rotation import Rotation
from app.fleet.runtime import SLOTS
from app.fleet.state import StateDirectory
from app.fleet.together import together

LAST_ONE: Final = (
    "{name} is the last one in rotation: draining it is an outage; add another replica first, or say --force"
)
# Checks pass within 2 s; a busy machine may take longer.
INTO_ROTATION: Final = timedelta(seconds=60)


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What orders are carried out with.

    `wishes` gives what tells the replicas; `find_port` gives a new replica its port, `reload` has HAProxy read its configuration again, `grace` is how
    long requests may take to finish, `longest_session` how long what a key signed may live.
    """

    replicas: Replicas
    rotation: Rotation
    wishes: Callable[[], Told]
    book: Book
    report: Report
    find_port: Callable[[str], int]
    reload: Callable[[], Awaitable[None]]
    state: StateDirectory
    longest_session: timedelta
    grace: timedelta


class Operations:
    """Carries orders out; raises `FleetError` for what cannot be, `Busy` while it carries out another."""

    def __init__(self, means: Means) -> None:
        self._means = means

    async def carry_out(self, request: Request) -> None:
        """The order, to its end."""
        with self._means.book.operation(str(request.order), request.by):
            self._tell("begun by " + request.by, of=str(request.order))
            await self._do(request.order, request.by)

    @singledispatchmethod
    async def _do(self, order: object, by: str) -> None:
        raise TypeError(f"nobody carries out {order!r} of {by}")

    @_do.register
    async def _drain(self, order: Drain, by: str) -> None:
        self._known(order.name)
        if not (order.force or await self._means.rotation.has_others(order.name)):
            raise WouldBeOutage(LAST_ONE.format(name=order.name))
        reason = order.reason or "no reason given"
        wishes = self._means.wishes()
        drained = DrainRecord(by=by, reason=wishes.usable(reason), at=datetime.now(UTC))
        self._means.book.note_drained(order.name, drained)
        await wishes.drain(order.name, by=by, reason=reason)
        idle = await self._means.rotation.drain(order.name, within=self._means.grace)
        self._means.report(Drained(order.name, idle=idle))

    @_do.register
    async def _ready(self, order: Ready, by: str) -> None:
        self._known(order.name)
        await self._means.wishes().undrain(order.name, by=by, reason="ready")
        self._means.book.note_drained(order.name, None)
        await self._means.rotation.join(order.name, self._means.book.record.ports[order.name])
        await self._all_up([order.name])

    @_do.register
    async def _restart(self, order: Restart, _: str) -> None:
        """Should so many at a time leave nobody in rotation, another replica stands in meanwhile.

        Those that serve nobody come first: the others are taken out once these are back.
        """
        serving = await self._serving()
        names = sorted(self._means.replicas.names, key=lambda name: name in serving)
        stand_in = self._stand_in(order) if 0 < len(serving) <= order.max_unavailable else []
        await self._bring_up(stand_in)
        done = 0
        for batch in _batches(names, order.max_unavailable):
            await together(*(self._means.replicas.replace(name) for name in batch))
            await self._all_up([name for name in batch if name not in self._means.book.record.drained])
            done += len(batch)
            self._tell(f"{done} of {len(names)} replicas", of=str(order))
        await together(*(self._retire(name) for name in stand_in))

    @_do.register
    async def _scale(self, order: Scale, _: str) -> None:
        names = self._means.replicas.names
        await self._someone_stays(names[: order.replicas])
        await self._bring_up(self._free_names()[: max(0, order.replicas - len(names))])
        await together(*(self._retire(name) for name in names[order.replicas :]))
        if not order.why:
            self._means.book.note_wanted(order.replicas)
        self._tell(f"{len(self._means.replicas.names)} replicas", of=str(order))

    @_do.register
    async def _reload(self, order: Reload, _: str) -> None:
        served = await self._means.rotation.serving()
        await self._means.reload()
        await self._all_up([name for name in self._means.replicas.names if name in served])
        self._tell("a new worker serves", of=str(order))

    @_do.register
    async def _rotate_keys(self, _: RotateKeys, by: str) -> None:
        await self._keys(by).rotate()

    @_do.register
    async def _retire_key(self, order: RetireKey, by: str) -> None:
        await self._keys(by).retire(force=order.force)

    # -- steps ---------------------------------------------------------------------------------------------

    def _keys(self, by: str) -> Keys:
        return Keys(
            state=self._means.state,
            restart=lambda: self._do(Restart(), by),
            longest=self._means.longest_session,
            report=self._means.report,
        )

    async def _bring_up(self, names: Sequence[str]) -> None:
        """New replicas, all of them in rotation or none of them there."""
        for name in names:
            self._means.book.note_port(name, self._means.find_port(name))
        try:
            await together(*(self._means.replicas.bring_up(name) for name in names))
            await self._all_up(names)
        except FleetError:
            await together(*(self._retire(name) for name in names if name in self._means.replicas.names))
            raise

    async def _serving(self) -> AbstractSet[str]:
        """Our replicas that get requests now."""
        return await self._means.rotation.serving() & set(self._means.replicas.names)

    def _stand_in(self, order: Restart) -> Sequence[str]:
        """Who serves while nobody else does; raises `WouldBeOutage` where there is no room for one."""
        free = self._free_names()[:1]
        if not free:
            raise WouldBeOutage(
                f"{order.max_unavailable} unavailable at once would be all in rotation, and no slot is free for "
                "another replica; give a smaller --max-unavailable"
            )
        return free

    async def _someone_stays(self, names: Sequence[str]) -> None:
        """Raises `WouldBeOutage` where others serve and none of these does."""
        serving = await self._serving()
        if serving and serving.isdisjoint(names):
            raise WouldBeOutage(
                f"only {', '.join(sorted(serving, key=number_of))} would go, and nobody else is in rotation: "
                f"make {' or '.join(names)} ready first"
            )

    async def _retire(self, name: str) -> None:
        await self._means.replicas.retire(name)
        await self._means.rotation.forget(name)
        if name in self._means.book.record.drained:
            # Whoever gets the name next was never drained.
            await self._means.wishes().undrain(name, by="scale", reason="the replica is gone")
            self._means.book.note_drained(name, None)

    async def _all_up(self, names: Sequence[str]) -> None:
        await self._means.rotation.all_up(names, self._means.report, within=INTO_ROTATION)

    def _free_names(self) -> list[str]:
        taken = set(self._means.replicas.names)
        return [name for name in (f"app{number}" for number in range(1, SLOTS + 1)) if name not in taken]

    def _known(self, name: str) -> None:
        names = self._means.replicas.names
        if name not in names:
            raise NoSuchReplica(f"the fleet has no replica {name!r}; there are: {', '.join(names)}")

    def _tell(self, progress: str, *, of: str) -> None:
        self._means.book.note_progress(progress)
        self._means.report(Progress(of, progress))


def _batches(names: Sequence[str], size: int) -> Sequence[Sequence[str]]:
    return [names[start : start + size] for start in range(0, len(names), size)]
