"""Inventory: a read-only view of the shop's stock, with the moment it was looked at."""
