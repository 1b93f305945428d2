"""Capacity arithmetic as pure functions: what a number of places can carry, and who waits how long."""
