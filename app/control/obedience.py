"""What a replica does with the wishes on the board."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Final, Protocol

from app.control.board import ControlBoard
from app.control.drains import DRAINED, DrainWish
from app.control.errors import ControlUnavailable
from app.control.wishes import AUTOMATIC, Standing, Wish
from app.resilience import State
from app.resilience.held import HeldName

_log = logging.getLogger(__name__)

POLL_S: Final = 0.8
"""With the time that one question may take (1 s), a wish is obeyed within 2 s."""


class Switch(Protocol):
    """What can be held in a state: `app.resilience.Breaker`."""

    name: str

    @property
    def state(self) -> State:
        """The state now."""

    def hold(self, name: HeldName, *, for_s: float | None = None) -> None:
        """Hold it in that state for a time."""

    def release(self) -> None:
        """Let it judge for itself again."""


class Gate(Protocol):
    """What says whether balancers should send requests here: `app.lifecycle.Lifecycle`."""

    def hold_out(self) -> None:
        """No new requests, please."""

    def take_back(self) -> None:
        """Requests are welcome again."""


class Obedience:
    """Asks the board again and again, holds the breakers and keeps the gate as it says.

    A breaker holds an order by itself until its time is over, so nothing depends on the board being there:
    while Redis is away, hangs or was emptied, the last known wish stays until it expires, and no longer.
    Only a wish for AUTOMATIC withdraws one.
    """

    def __init__(self, board: ControlBoard, switches: Sequence[Switch], gate: Gate, *, replica: str) -> None:
        self._board = board
        self._gate = gate
        self._drain: DrainWish | None = None
        self._switches = tuple(switches)
        self._replica = replica
        self._obeyed: dict[str, Wish] = {}
        self.is_heard = False
        """Whether the board answered the last question."""

    async def run(self) -> None:
        """Obey until cancelled."""
        while True:
            await self.ask()
            await asyncio.sleep(POLL_S)

    async def ask(self) -> None:
        """Ask once, and obey."""
        states = {switch.name: str(switch.state) for switch in self._switches}
        try:
            standing = await self._board.exchange(self._replica, states)
        except ControlUnavailable as away:
            self._heard(away)
            return
        self._heard(None)
        if self._obey(standing):
            await self.ask()  # so that the operator sees at once that it was obeyed

    def _obey(self, standing: Standing) -> bool:
        """Whether anything changed."""
        self._keep_gate(standing.drains.get(self._replica))
        changed = [self._follow(switch, standing) for switch in self._switches]
        return any(changed)

    def _keep_gate(self, wish: DrainWish | None) -> None:
        """Absence means nothing: only a wish opens what a wish has closed."""
        if wish is None or wish == self._drain:
            return
        self._drain = wish
        if wish.state == DRAINED:
            self._gate.hold_out()
        else:
            self._gate.take_back()
        fields = {"state": wish.state, "by": wish.by, "reason": wish.reason}
        _log.warning("an operator wants this replica %s", wish.state, extra={"fields": fields})

    def _follow(self, switch: Switch, standing: Standing) -> bool:
        wish = standing.wishes.get(switch.name)
        if wish is None or wish == self._obeyed.get(switch.name):
            return False
        self._obeyed[switch.name] = wish
        if wish.state == AUTOMATIC:
            switch.release()
        else:
            switch.hold(wish.state, for_s=wish.left_s(standing.now_ms))
        fields = {"breaker": wish.breaker, "state": wish.state, "by": wish.by, "reason": wish.reason}
        _log.warning("breaker %s: an operator wants %s", wish.breaker, wish.state, extra={"fields": fields})
        return True

    def _heard(self, away: ControlUnavailable | None) -> None:
        if self.is_heard and away is not None:
            _log.warning("%s; the last known wishes stay until they expire", away)
        self.is_heard = away is None
