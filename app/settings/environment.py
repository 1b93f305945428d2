"""Reading the variables: whatever is unknown or unusable stops the start, in one line."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from typing import Final, TypeVar

from pydantic import ValidationError

from app.settings.errors import SettingsError
from app.settings.fields import PREFIX, Environment
from app.settings.fleet import FleetSettings
from app.settings.services import (
    PaymentsServiceSettings,
    RecommendationsServiceSettings,
    ReviewsServiceSettings,
)
from app.settings.shop import MigrationSettings, Settings

Model = TypeVar("Model", bound=Environment)

_MODELS: Final[tuple[type[Environment], ...]] = (
    Settings,
    MigrationSettings,
    PaymentsServiceSettings,
    ReviewsServiceSettings,
    RecommendationsServiceSettings,
    FleetSettings,
)

_SECRET: Final = frozenset(
    {
        "secret_keys",
        "webhook_secrets",
        "payments_webhook_secrets",
        "faults_token",
        "database_url",
        "redis_url",
        "cache_url",
        "session_url",
        "session_also_accept",
        "mail_url",
    }
)
"""Never repeated in a message; the URLs may carry a password."""


def read(model: type[Model], environment: Mapping[str, str] | None = None) -> Model:
    """The settings in the environment; raises `SettingsError` for the first that is unknown or unusable."""
    environment = os.environ if environment is None else environment
    _refuse_unknown(environment)
    given = {
        name.removeprefix(PREFIX).lower(): value
        for name, value in environment.items()
        if name.startswith(PREFIX) and value
    }
    try:
        return model.model_validate({name: given[name] for name in model.model_fields if name in given})
    except ValidationError as unusable:
        raise SettingsError(_one_line(unusable, given)) from None


def _known() -> set[str]:
    return {f"{PREFIX}{name}".upper() for model in _MODELS for name in model.model_fields}


def _refuse_unknown(environment: Mapping[str, str]) -> None:
    known = _known()
    for name in sorted(environment):
        if name.startswith(PREFIX) and name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]}?" if near else "; unset it"
            raise SettingsError(f"{name} is not a setting of Chợ Phố{hint}")


def _told(secret: str) -> str:
    """What of a secret may be repeated: how a URL begins."""
    scheme, is_url, _ = secret.partition("://")
    return f"{scheme}://… (the rest stays secret)" if is_url else "a value that stays secret"


def _one_line(unusable: ValidationError, given: Mapping[str, str]) -> str:
    first = unusable.errors(include_url=False)[0]
    if not first["loc"]:
        return first["msg"].removeprefix("Value error, ")
    field = str(first["loc"][0])
    name = f"{PREFIX}{field}".upper()
    known = next(model.model_fields[field] for model in _MODELS if field in model.model_fields)
    meaning = known.description or ""
    if first["type"] == "missing":
        return f"{name} is not set; it is required: {meaning}"
    got = _told(given.get(field, "")) if field in _SECRET else repr(given.get(field, ""))
    return f"{name} is {got}; {first['msg'].removeprefix('Value error, ')}. {meaning}"
