"""The shop's ports on real stores: PostgreSQL, Redis, and the session."""
