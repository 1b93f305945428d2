"""Adapters behind the shop's ports."""
