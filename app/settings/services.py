"""What the processes of the services around the shop are told."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Final, Self
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from app.clients.webhooks import key_of
from app.services.payments.config import Consumer
from app.settings.fields import DatabaseUrl, Duration, Origin, Pairs
from app.settings.watched import WatchedProcess

_SECRET_LEAST: Final = 32


class ServiceSettings(WatchedProcess):
    """What a process of any service around the shop needs to know."""

    database_url: DatabaseUrl = Field(
        description="The PostgreSQL in which the service has a schema of its own."
    )
    database_pool_size: int = Field(10, ge=1, le=500, description="Connections of one process.")
    identity_public_key: Path = Field(description="File of the public key that verifies internal tokens.")
    faults_token: str | None = Field(
        None,
        min_length=16,
        pattern=r"^[!-~]+$",
        description="The operator's token for fault switches; without it there are none.",
    )
    drain_delay: Duration = Field(
        timedelta(0), ge=timedelta(0), description="Readiness says no and requests are still served."
    )
    shutdown_grace: Duration = Field(
        timedelta(seconds=30), ge=timedelta(0), description="Requests in flight may finish."
    )


class ReviewsServiceSettings(ServiceSettings):
    """What a process of the reviews needs to know."""

    reviews_wait: bool = Field(
        default=False,
        description="New reviews wait until the owner shows them; otherwise they are shown until the owner hides them.",
    )


class RecommendationsServiceSettings(ServiceSettings):
    """What a process of the recommendations needs to know."""

    recommendations_refresh: Duration = Field(
        timedelta(minutes=5),
        ge=timedelta(seconds=1),
        description="How often they are computed anew from the orders.",
    )


class PaymentsServiceSettings(ServiceSettings):
    """What a process of the sandbox acquirer needs to know."""

    payments_public_url: Origin | None = Field(
        None, description="Where browsers find the acquirer's pages; by default http://host:port."
    )
    payments_slow: Duration = Field(
        timedelta(seconds=8), gt=timedelta(0), description="How long tok_slow takes."
    )
    webhooks: Pairs = Field((), description="Who hears of every event: name=url, separated by commas.")
    webhook_secrets: Pairs = Field(
        (),
        description="What their calls are signed with: name=secret; a name may come twice, for a rotation.",
    )
    webhook_timeout: Duration = Field(
        timedelta(seconds=5), gt=timedelta(0), description="A consumer acknowledges within this time."
    )

    @model_validator(mode="after")
    def _signed(self) -> Self:
        for name, url in self.webhooks:
            held = [secret for known, secret in self.webhook_secrets if known == name]
            if not held or not all(_is_strong(secret) for secret in held):
                raise ValueError(
                    f"CHOPHO_WEBHOOK_SECRETS wants {name}=secret for every consumer in CHOPHO_WEBHOOKS: "
                    f"at least {_SECRET_LEAST} bytes, or whsec_ and the Base64 of as many"
                )
            if urlsplit(url).scheme not in {"http", "https"}:
                raise ValueError(f"CHOPHO_WEBHOOKS wants {name}=http://… or https://…")
        return self

    def consumers(self) -> tuple[Consumer, ...]:
        """Who hears of every event."""
        return tuple(
            Consumer(
                name=name,
                url=url,
                secrets=tuple(secret for known, secret in self.webhook_secrets if known == name),
            )
            for name, url in self.webhooks
        )


def _is_strong(secret: str) -> bool:
    try:
        return len(key_of(secret)) >= _SECRET_LEAST
    except ValueError:
        return False
