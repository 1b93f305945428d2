"""What can keep a fleet from standing.

FleetError
├── ProgramMissing    a server's program is neither given nor installed
├── PortInUse         somebody else listens where the shop should
├── AlreadyRunning    another supervisor holds the state directory
├── NotRunning        no fleet runs in the state directory
├── CannotStart       a process ended, or did not get ready in time; its last words are told
├── StateUnusable     the state directory cannot be read or written, or is not ours
├── BalancerSilent    HAProxy does not answer on its runtime socket, or refuses a command
├── NoSuchReplica     the fleet has no replica of that name
├── Busy              the supervisor is carrying out another operator's order
├── WouldBeOutage     nobody would be left to serve
├── SupervisorGone    nobody carries out orders in the state directory
└── BackupRefused     a backup that must not be written or restored, and why
"""

from __future__ import annotations


class FleetError(Exception):
    """The fleet cannot do this, and says why and what to do in one sentence."""


class ProgramMissing(FleetError):
    """A server's program is neither given in the settings nor installed."""


class PortInUse(FleetError):
    """Somebody else listens on the port."""


class AlreadyRunning(FleetError):
    """Another supervisor holds the state directory."""


class NotRunning(FleetError):
    """Nothing runs in the state directory."""


class CannotStart(FleetError):
    """A process did not come up; the sentence ends with its last line of log."""


class StateUnusable(FleetError):
    """The state directory cannot serve."""


class BalancerSilent(FleetError):
    """HAProxy gave no answer, or said no."""


class NoSuchReplica(FleetError):
    """The fleet has no replica of that name."""


class Busy(FleetError):
    """One order at a time: another operator's is being carried out."""


class WouldBeOutage(FleetError):
    """Nobody would be left to serve, and the operator did not say that this is meant."""


class SupervisorGone(FleetError):
    """The processes may run, but nobody is there to carry out an order."""


class BackupRefused(FleetError):
    """A backup must not be written or restored; nothing changed."""
