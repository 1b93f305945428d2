"""What is wrong with a shop, found before a shopper finds it: one module for each thing to look at."""

from __future__ import annotations

from app.doctor.balancer import Balancer, Unreadable
from app.doctor.examination import CHECKS, examine
from app.doctor.finding import Check, Fault, Finding, Severity
from app.doctor.subject import CannotLook, Silent, Subject

__all__ = [
    "CHECKS",
    "Balancer",
    "CannotLook",
    "Check",
    "Fault",
    "Finding",
    "Severity",
    "Silent",
    "Subject",
    "Unreadable",
    "examine",
]
