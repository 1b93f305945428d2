"""The session layer of the settings."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from app.sessions import SessionConfig, Sessions
from app.settings import Settings


def sessions_of(settings: Settings, *, timeout: timedelta | None = None) -> Sessions:
    """The session layer of the settings, with another patience if it is not for pages."""
    config = _session_config(settings)
    return Sessions.from_url(
        settings.session_url,
        keys=settings.secret_keys,
        config=config if timeout is None else replace(config, timeout=timeout),
        also_accept=settings.session_also_accept,
    )


def _session_config(settings: Settings) -> SessionConfig:
    return SessionConfig(
        namespace=settings.session_namespace,
        idle_timeout=settings.session_idle_timeout,
        absolute_timeout=settings.session_absolute_timeout,
        cookie_name=settings.cookie_name,
        cookie_secure=settings.cookie_secure,
        revoke_replicas=settings.session_revoke_replicas,
    )
