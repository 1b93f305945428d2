"""What can keep a fleet from standing.

FleetError
└── ProgramMissing   a server's program is neither given nor installed
"""

from __future__ import annotations


class FleetError(Exception):
    """The fleet cannot do this, and says why and what to do in one sentence."""


class ProgramMissing(FleetError):
    """A server's program is neither given in the settings nor installed."""
