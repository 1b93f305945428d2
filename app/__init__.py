"""Chợ Phố, a stateless online shop."""
