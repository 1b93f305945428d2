"""Constructs every part of a replica without I/O; opens them in order and closes them in reverse."""

from __future__ import annotations

from app.wiring.parts import Parts, build
from app.wiring.sessions import sessions_of

__all__ = ["Parts", "build", "sessions_of"]
