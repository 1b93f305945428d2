"""What one replica of the shop is told."""

from __future__ import annotations

from datetime import timedelta
from ipaddress import IPv4Network
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from app.clients.mail.config import CONSOLE
from app.settings.downstream import DownstreamSettings
from app.settings.fields import (
    DatabaseUrl,
    Duration,
    Environment,
    Keys,
    MailUrl,
    Networks,
    Origin,
    RedisUrl,
    Sender,
    SessionUrl,
)
from app.settings.watched import WatchedProcess


class Settings(WatchedProcess, DownstreamSettings):
    """What one replica of the shop needs to know."""

    database_url: DatabaseUrl = Field(
        description="The shop's PostgreSQL; several hosts as `one:5432,two:5432`: the one that can be written to. "
        "`?pooler=transaction` says that a pooler of that mode is before it."
    )
    database_pool_size: int = Field(10, ge=1, le=500, description="Connections of one replica.")
    session_url: SessionUrl = Field(
        description="The one switch of the session backend. `jwt+…?key_files=new.pem,old.pub` signs with keys from files."
    )
    session_also_accept: SessionUrl | None = Field(
        None, description="A second backend whose live sessions are still served."
    )
    redis_url: RedisUrl = Field(description="Rate limits and control.")
    session_namespace: str = Field(
        "chopho:session", pattern=r"^[A-Za-z0-9:_-]{1,64}$", description="Prefix of every session key."
    )
    session_idle_timeout: Duration = Field(
        timedelta(minutes=30), gt=timedelta(0), description="A session ends this long after its last use."
    )
    session_absolute_timeout: Duration = Field(
        timedelta(hours=12), gt=timedelta(0), description="A session ends this long after it began."
    )
    session_revoke_replicas: int = Field(
        0,
        ge=0,
        le=10,
        description="Redis replicas that must have the end of a session before it is reported done.",
    )
    cookie_name: str = Field(
        "chopho_session", pattern=r"^[A-Za-z0-9_-]{1,64}$", description="Name of the session cookie."
    )
    cookie_secure: bool = Field(
        default=True, description="Secure flag and __Host- prefix; off only over plain http."
    )
    secret_keys: Keys = Field(description="At least 32 bytes each; the first signs, all verify.")
    public_url: Origin = Field(description="The origin that links, origin checks and Host checks use.")
    trusted_proxies: Networks = Field(
        (IPv4Network("127.0.0.1/32"),), description="Whose X-Forwarded-* is believed."
    )
    replica_name: str | None = Field(
        None,
        pattern=r"^[A-Za-z0-9._:-]{1,64}$",
        description="Shown in X-Served-By, logs, metrics; by default host:port.",
    )
    drain_delay: Duration = Field(
        timedelta(seconds=8), ge=timedelta(0), description="Readiness says no and requests are still served."
    )
    shutdown_grace: Duration = Field(
        timedelta(seconds=30), ge=timedelta(0), description="Requests in flight may finish."
    )
    rate_limit: bool = Field(default=True, description="Abuse limits; failed log-ins are limited always.")
    proof_lasts: Duration = Field(
        timedelta(minutes=15),
        ge=timedelta(0),
        description="How long after the password was given sensitive actions do not ask for it again.",
    )
    cart_merging: Literal["sum", "max", "guest", "keep"] = Field(
        "sum",
        description="A line that both a guest's cart and the account's have: added, the larger, the guest's, the account's.",
    )
    charges_file: Path | None = Field(
        None,
        description="A table of shipping fees and the VAT rate, in the form of app/shop/pricing/charges.toml, in its place.",
    )
    mail_url: MailUrl | None = Field(
        None,
        description="Where mail goes: `smtp://user:password@host:port`, `smtps://…`, or `console:` to show it in the log. "
        "Without it, mail waits in the outbox.",
    )
    mail_from: Sender | None = Field(
        None,
        description="Whom mail comes from, such as `Chợ Phố <shop@chopho.example>`; a mail server needs it.",
    )
    payments_url: Origin | None = Field(
        None, description="The acquirer; without it the shop takes payment on delivery alone."
    )
    payments_pool_size: int = Field(
        10, ge=1, le=500, description="Calls to the acquirer under way at once, each on a connection."
    )
    payments_timeout: Duration = Field(
        timedelta(seconds=5), gt=timedelta(0), description="How long one call to the acquirer may take."
    )
    payments_webhook_secrets: Keys = Field(
        (), description="What the acquirer signs its calls with, comma-separated; all verify."
    )
    payment_wait: Duration = Field(
        timedelta(minutes=15),
        ge=timedelta(minutes=1),
        le=timedelta(days=1),
        description="How long stock stays reserved for a shopper who is at their bank.",
    )
    checkout_lease: Duration = Field(
        timedelta(seconds=20),
        ge=timedelta(seconds=1),
        le=timedelta(minutes=10),
        description="A checkout that has not ended after this is finished or undone by any replica.",
    )
    recovery_interval: Duration = Field(
        timedelta(seconds=2),
        ge=timedelta(milliseconds=100),
        le=timedelta(minutes=10),
        description="How often a replica looks for checkouts and payments that were broken off.",
    )
    identity_key: Path | None = Field(
        None,
        description="File of the private key that signs internal tokens; needed to call any service.",
    )

    gateway_pool_size: int = Field(
        32, ge=1, le=500, description="Calls of the gateway to one service under way at once."
    )
    gateway_timeout: Duration = Field(
        timedelta(seconds=2),
        gt=timedelta(0),
        description="How long a service may take to begin its answer to the gateway.",
    )
    gateway_echo: bool = Field(
        default=False,
        description="Show through the gateway what services receive, their caller's token too; for labs.",
    )

    @field_validator("session_absolute_timeout")
    @classmethod
    def _no_shorter_than_idle(cls, given: timedelta, others: ValidationInfo) -> timedelta:
        if given < others.data.get("session_idle_timeout", given):
            raise ValueError("wants no less than CHOPHO_SESSION_IDLE_TIMEOUT")
        return given

    @model_validator(mode="after")
    def _signed_mail(self) -> Self:
        if self.mail_from is None and self.mail_url not in {None, CONSOLE}:
            raise ValueError(
                "CHOPHO_MAIL_FROM is not set; CHOPHO_MAIL_URL needs it: whom does the shop's mail come from?"
            )
        return self

    @model_validator(mode="after")
    def _identified(self) -> Self:
        for name, url in (("PAYMENTS", self.payments_url), ("REVIEWS", self.reviews_url)):
            if url is not None and self.identity_key is None:
                raise ValueError(
                    f"CHOPHO_IDENTITY_KEY is not set; CHOPHO_{name}_URL needs it: "
                    "services believe nobody without an internal token"
                )
        return self


class MigrationSettings(Environment):
    """What bringing the database up to date needs to know."""

    database_url: DatabaseUrl = Field(
        description="The shop's PostgreSQL; several hosts as `one:5432,two:5432`: the one that can be written to."
    )
    public_url: Origin | None = Field(
        None, description="The shop's origin; sample data is for a shop on this machine alone."
    )
