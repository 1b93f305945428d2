"""The business of the shop, pure: no framework, no Redis, no SQL."""
