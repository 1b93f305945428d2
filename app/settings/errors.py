"""What is wrong with a setting."""

from __future__ import annotations


class SettingsError(Exception):
    """A setting cannot be used: one line naming the variable, what it got and what it wants."""
